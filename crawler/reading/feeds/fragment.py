"""Fragments of HTML as trees: elements closed, lazy images shown, players replaced by links to their films,
formulas limited to known elements.

What comes out is still to be sanitised. Formulas are MathML Core's presentation elements; in those that hold
text nothing else may stand, because that is where parsers change from MathML back to HTML and disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree, html

from crawler.reading.embeds import drop, replace_embed
from crawler.reading.hidden import drop_hidden
from crawler.text.characters import storable

MATH_TEXT = {"mi", "mn", "mo", "ms", "mtext"}
MATH = MATH_TEXT | {
    "math", "mrow", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "merror", "mpadded", "mphantom", "msub",
    "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none", "mtable",
    "mtr", "mtd", "menclose", "mfenced", "semantics",
}  # fmt: skip
MATH_ATTRIBUTES = {
    "display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "separator", "form",
    "accent", "accentunder", "largeop", "movablelimits", "symmetric", "minsize", "maxsize", "lspace",
    "rspace", "width", "height", "depth", "voffset", "linethickness", "columnalign", "rowalign",
    "columnspan", "rowspan", "open", "close", "separators", "notation", "dir", "alttext",
}  # fmt: skip
_ANNOTATIONS = {"annotation", "annotation-xml"}
_LAZY = (
    "data-src", "data-lazy-src", "data-original", "data-original-src", "data-lazy", "data-actualsrc",
    "data-echo",
)  # fmt: skip
_LAZY_SETS = ("data-srcset", "data-lazy-srcset")
# FreshRSS 877: lazy loaders put a placeholder as data: into src, and readers saw nothing else.
_NO_PICTURE = ("data:", "about:", "blob:", "javascript:")
_SIZE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)[wx],?")
# Some write a srcset without a blank after the comma; a comma within an address is no separator.
_GLUED = re.compile(r"(?<=[0-9][wx]),(?=\S)")
_LONGEST = 4_000
_SOURCES = 20
_MAX_SET_CHARACTERS = 16_000


def rebuilt(fragment: str, levels: int) -> str | None:
    """Rebuild a fragment's HTML from a tree. Returns None when it is nested deeper than `levels`."""
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    data = f"<html><body>{fragment}</body></html>".encode("utf-8", "replace")
    try:
        root = html.document_fromstring(data, parser=parser)
    except (etree.XMLSyntaxError, etree.ParserError):
        return None
    # Two levels more for html and body.
    if deeper(root, levels + 2):
        return None
    drop_hidden(root)
    for frame in list(root.iter("iframe")):
        replace_embed(frame)
    _show_images(root)
    _show_players(root)
    _vet_formulas(root)
    return str(etree.tostring(root, encoding="unicode", method="html"))


def deeper(root: etree._Element, levels: int) -> bool:
    """Return True when some element has more than `levels` elements above it."""
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > levels:
            return True
    return False


def _show_players(root: html.HtmlElement) -> None:
    """Give films and sound controls, so that they are played when one wants, and nothing is loaded before.

    They were dropped without a trace (papr 45). What stands in them is for browsers without them.
    """
    for player in list(root.iter("video", "audio")):
        address = player.get("src") or player.get("data-src") or ""
        sources = [source for source in player.iter("source") if source.get("src")][:_SOURCES]
        if not address and not sources:
            drop(player)
            continue
        player[:] = sources
        for source in sources:
            # libxml2 does not know that they have no end, and puts each into the one before.
            source.text = source.tail = None
            source[:] = []
        player.text = None
        player.set("controls", "")
        player.set("preload", "none")
        if address:
            player.set("src", address)
    for source in list(root.iter("source")):
        parent = source.getparent()
        if parent is not None and parent.tag not in {"video", "audio"}:
            source.drop_tag()


def _show_images(root: html.HtmlElement) -> None:
    """Give images the addresses that scripts would set, and show those for readers without scripts."""
    for image in root.iter("img"):
        # References such as &#1; stand for characters that no tree takes back.
        if address := storable(image_address(image)):
            image.set("src", address)
    fallbacks = list(root.iter("noscript"))
    if not fallbacks:
        return
    # Readability4J 18: the picture in noscript is the same one as the lazy picture before it, shown twice.
    hidden = {image for fallback in fallbacks for image in fallback.iter("img")}
    sources = {image.get("src") for image in root.iter("img") if image not in hidden}
    for fallback in fallbacks:
        if root not in fallback.iterancestors():
            continue  # it stood in another one, of which only images are left
        images = [image for image in fallback.iter("img") if image.get("src") not in sources]
        sources.update(image.get("src") for image in images)
        for image in images:
            image.tail = None
        fallback[:] = images
        fallback.text = None
        fallback.drop_tag()


def image_address(image: html.HtmlElement) -> str:
    """Return an image's address: the one for lazy loading, else its source, else the largest offered.

    Last come those by size that a script chooses from, such as `data-src-large`.
    """
    for name in _LAZY:
        if _is_address(address := (image.get(name) or "").strip()):
            return address
    for name in _LAZY_SETS:
        if address := largest_offered(image.get(name) or ""):
            return address
    source = (image.get("src") or "").strip()
    if source and not source.lower().startswith(_NO_PICTURE):
        return source
    if address := next((largest for offered in _offered(image) if (largest := largest_offered(offered))), ""):
        return address
    values = (value for name, value in image.attrib.items() if str(name).startswith("data-src-"))
    return next((address for value in values if _is_address(address := value.strip())), "")


def _offered(image: html.HtmlElement) -> Iterator[str]:
    """Yield sets of sources: the image's, and those of the picture element around it."""
    yield image.get("srcset") or ""
    for picture in image.iterancestors("picture"):
        for source in islice(picture.iter("source"), _SOURCES):
            yield source.get("srcset") or source.get("data-srcset") or ""


def _is_address(text: str) -> bool:
    """Return whether the text may be an image's address: neither words nor inline data.

    postlight/parser 589: a loader's settings in JSON were taken for one.
    """
    return (
        0 < len(text) <= _LONGEST
        and not any(c.isspace() or c in '"<>' for c in text)
        and ("/" in text or "." in text)
        and not text.lower().startswith(_NO_PICTURE)
    )


def largest_offered(offered: str) -> str:
    """Return the address with the greatest width or density in a srcset, "" when it has none."""
    sizes: dict[str, float] = {}
    address = ""
    for token in _GLUED.sub(", ", offered[:_MAX_SET_CHARACTERS]).split():
        if size := _SIZE.fullmatch(token):
            sizes[address] = float(size[1])
        elif _is_address(token.strip(",")):
            address = token.strip(",")
            sizes.setdefault(address, 1.0)
    sizes.pop("", None)
    return max(sizes, key=lambda candidate: sizes[candidate], default="")


def _vet_formulas(root: html.HtmlElement) -> None:
    """Remove annotations from formulas, and formulas with anything but known elements and text."""
    for formula in [e for e in root.iter() if isinstance(e.tag, str) and _local(e) == "math"]:
        if root not in formula.iterancestors():
            continue  # it stood in another one that went
        for element in list(formula.iter()):
            name = _local(element)
            if name in MATH or name in _ANNOTATIONS:  # others, which may be no names at all, end the formula
                element.tag = name
            # An annotation may hold HTML, where parsers leave MathML.
            if element.tag in _ANNOTATIONS and element is not formula:
                element.drop_tree()
        if not formula.text_content().strip() or not all(_known(element) for element in formula.iter()):
            formula.drop_tree()


def _known(element: html.HtmlElement) -> bool:
    """Return whether an element of formulas may stand where it does; an inner `math` may not."""
    parent = element.getparent()
    inside = element.tag != "math" or parent is None or parent.tag not in MATH
    return inside and element.tag in MATH and not (element.tag in MATH_TEXT and len(element))


def _local(element: html.HtmlElement) -> str:
    """Return the name without the prefix that MathML often has."""
    return str(element.tag).removeprefix("mml:").removeprefix("m:").lower()
