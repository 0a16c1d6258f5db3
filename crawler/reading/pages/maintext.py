"""The main text of a page: trafilatura without its slow fallbacks, and fallbacks of our own.

Where little is left of a page, trafilatura falls back on whole elements and takes with them what stands
around the text: offers to subscribe, related articles. So it reads the page without these first.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from typing import cast

import trafilatura
from lxml import etree, html
from trafilatura.xpaths import BODY_XPATH, OVERALL_DISCARD_XPATH

from crawler.reading.limits import LIMITS
from crawler.reading.pages.tree import UNREAD
from crawler.text.characters import storable

# 200 divs around 50,000 paragraphs are a row of the table of poisons.
_LARGE = 60_000  # elements and attributes: for more, trafilatura takes seconds
_SHORT = 80  # characters: below this, the next way is tried too
_MAX_BLOCKS = 40
_MUCH = 500  # characters outside of links: no furniture holds so many, whatever it is called
_NOT_CONTENT = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "button", "select",
    "svg", "iframe", "object",
)  # fmt: skip
# Links are what furniture consists of, so that words in them do not count.
_NO_WORDS = UNREAD | {"a", "noscript"}
_BLOCKS = ("article", "main", "section", "div", "td")
_LINES = {
    "p", "div", "li", "br", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "pre", "blockquote", "section",
    "article", "dt", "dd", "table", "ul", "ol", "figcaption",
}  # fmt: skip

_FURNITURE = (
    *OVERALL_DISCARD_XPATH,
    etree.XPath(
        r"""
        .//*[self::div or self::section or self::aside or self::ul or self::p][not(.//h1)][
        re:test(concat(@class, ' ', @id),
            '(^|[\s_-])(subscribe|sign-?up|recommended|recommendations?|similar|follow-us)([\s_-]|$)', 'i')]
        """,
        namespaces={"re": "http://exslt.org/regular-expressions"},
    ),
)

# It warns of every page that it finds too short; the caller knows that from the empty answer.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def main_text(root: html.HtmlElement, description: str = "") -> str:
    """Return plain text, a line per paragraph: trafilatura's, the largest block's, or the description."""
    text = ""
    for way in _ways(root):
        text = way.strip() or text
        if len(text) >= _SHORT:
            break
    return storable(text or description)[: LIMITS.text]


def _joined(root: html.HtmlElement) -> html.HtmlElement:
    """Return the tree with the blocks of an article's body in one, where a page has it in several.

    Trafilatura reads the first element that is named as a body, and no more: of an article whose paragraphs
    stand in three `div.entry-content` with adverts between it gave the first two (issue 57). Blocks belong
    together that have the same name and class within one `article`, all with words outside of links, and no
    headings that lead elsewhere, as teasers have.
    """
    for expression in BODY_XPATH:
        first = next(iter(cast("list[html.HtmlElement]", expression(root))), None)
        if first is None:
            continue
        blocks = _blocks_like(root, first)
        if len(blocks) < 2:
            return root
        place = root.getroottree()
        paths = [place.getpath(block) for block in blocks]
        joined = copy.deepcopy(root)
        first_block, *others = (cast("list[html.HtmlElement]", joined.xpath(path))[0] for path in paths)
        for block in others:
            first_block.extend(list(block))
        return joined
    return root


def _blocks_like(root: html.HtmlElement, first: html.HtmlElement) -> list[html.HtmlElement]:
    """Return the element and the later ones that go on with its text."""
    name = first.get("class")
    if not name or first.tag in {"article", "main", "body"}:
        return [first]
    around = next(first.iterancestors("article"), None)
    blocks = [first]
    for element in root.iter(first.tag):
        if (
            element is not first
            and element.get("class") == name
            and next(element.iterancestors("article"), None) is around
            and not any(ancestor in blocks for ancestor in element.iterancestors())
            and _goes_on(element)
        ):
            blocks.append(element)
        if len(blocks) >= _MAX_BLOCKS:
            break
    return blocks


def _goes_on(block: html.HtmlElement) -> bool:
    """Return whether a block has words outside of links, and neither a title nor headings of other pages."""
    if next(block.iter("h1", "form", "article"), None) is not None:
        return False
    if any(next(heading.iter("a"), None) is not None for heading in block.iter("h2", "h3", "h4")):
        return False
    return _outside_links(block).get(block, 0) >= _SHORT


def _ways(root: html.HtmlElement) -> Iterator[str]:
    """Yield candidates of the main text, the likeliest first."""
    if sum(1 + len(e.attrib) for e in root.iter()) <= _LARGE:
        bare = _joined(_without_furniture(root))
        yield _extracted(bare)
        if bare is not root:
            yield _largest_block(bare)
            yield _extracted(root)
    yield _largest_block(root)


def _without_furniture(root: html.HtmlElement) -> html.HtmlElement:
    """Return a copy without link-heavy elements named as furniture, the tree itself without any."""
    # A page without attributes names nothing; a copy of ten megabytes of text would be for nothing.
    if not any(element.attrib for element in root.iter()):  # names are values of attributes
        return root
    bare, has_furniture = copy.deepcopy(root), False
    for expression in _FURNITURE:
        furniture = cast("list[html.HtmlElement]", expression(bare))
        counts = _outside_links(bare) if furniture else {}
        for element in furniture:
            # Its parent went already, or it holds more than any furniture does: a story whose box is named
            # "related".
            if element.getroottree().getroot() is not bare or counts.get(element, 0) >= _MUCH:
                continue
            has_furniture = True
            if element.find(".//pre") is None:
                element.drop_tree()
            else:  # code in a div.code-toolbar, which trafilatura would leave out by its name
                element.attrib.clear()
    return bare if has_furniture else root


def _outside_links(root: html.HtmlElement) -> dict[etree._Element, int]:
    """Count the readable characters outside links of each element that may have any."""
    counts: dict[etree._Element, int] = {}
    sums = [0]
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            counts[element] = sums.pop()
            sums[-1] += counts[element] + _characters(element.tail)
        elif element.tag in _NO_WORDS:
            sums.append(0)
            walk.skip_subtree()
        else:
            sums.append(_characters(element.text))
    return counts


def _characters(text: str | None) -> int:
    return len(text) - sum(text.count(space) for space in " \t\r\n") if text else 0


def _extracted(root: html.HtmlElement) -> str:
    """Return trafilatura's text, "" when it finds none."""
    try:
        # fast: its own fallbacks take several times as long, and ours follow.
        return trafilatura.extract(root, fast=True, include_comments=False, include_tables=True) or ""
    except Exception:  # nothing says what it raises on pages that were made to break it
        return ""


def _largest_block(root: html.HtmlElement) -> str:
    """Return the text, without navigation, of the innermost container with most of the page's text."""
    body = root.find("body")
    if body is None:
        return ""
    body = copy.deepcopy(body)
    for element in list(body.iter(*_NOT_CONTENT)):
        element.drop_tree()
    best, whole = body, len(body.text_content())
    while True:
        inner = next(
            (e for e in best if e.tag in _BLOCKS and 2 * len(e.text_content()) > whole),
            None,
        )
        if inner is None:
            return _lines(best)
        best = inner


def _lines(element: html.HtmlElement) -> str:
    """Return the text with a line for each block."""
    pieces: list[str] = []
    for event, e in etree.iterwalk(element, events=("start", "end")):
        if e.tag in _LINES:
            pieces.append("\n")
        pieces.append((e.text if event == "start" else e.tail if e is not element else "") or "")
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)
