"""A page's bytes as one bounded tree: refused types, encodings, hostile shapes.

libxml2's parser takes 200,000 nested elements in its stride; what comes after it does not, so that
depth, elements and attributes are bounded here, once.
"""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree, html

from crawler.reading.census import take_census
from crawler.reading.charset import decode
from crawler.reading.errors import ReadingError
from crawler.reading.limits import LIMITS
from crawler.reading.mime import known_binary
from crawler.text.characters import storable

UNREAD = frozenset({"script", "style", "template"})
"""Elements whose text nobody reads, wherever they stand."""
_ON_LINES = frozenset({
    "address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "td", "th",
    "time", "tr", "ul",
})  # fmt: skip
_SHORT = 2_000  # tags within an element that is read as a line

_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_VAGUE = {"", "application/octet-stream", "application/xml", "text/xml"}
_TYPES = _VAGUE | {"text/html", "application/xhtml+xml", "text/plain"}
_MARKUP = re.compile(
    rb"<(?:!doctype|html|head|body|title|div|p|article|h1|meta|script|table)\b", re.IGNORECASE
)


def media_type(body: bytes, content_type: str) -> str:
    """Return `text/html` or `text/plain`, as to read the body. Raises ReadingError(unsupported-type)."""
    declared = storable(content_type[:4096]).partition(";")[0].strip().lower()
    if declared not in _TYPES:
        raise ReadingError("unsupported-type", f"the server calls it {declared[:100]}")
    if binary := known_binary(body[:1024].lstrip()):
        raise ReadingError("unsupported-type", binary[1])
    if declared == "text/plain":
        return declared
    if declared in _VAGUE and not _MARKUP.search(body, 0, 65536):
        raise ReadingError("unsupported-type", "neither HTML nor text by its bytes or its header")
    return "text/html"


def text_of(body: bytes, content_type: str) -> str:
    """Return the text without characters that XML and databases refuse. Raises ReadingError(too-large)."""
    if len(body) > LIMITS.bytes:
        raise ReadingError("too-large", f"more than {LIMITS.bytes} bytes")
    return storable(decode(body, content_type))


def page_tree(text: str) -> html.HtmlElement | None:
    """Build the page's tree, cut if it is nested too deeply. Returns None for an empty page.

    Raises ReadingError(too-large) for elements with absurdly many attributes and too many elements.
    """
    root = whole_tree(text)
    if root is not None:
        _pruned(root)
        _clean_texts(root)
    return root


def whole_tree(text: str, max_elements: int = LIMITS.elements) -> html.HtmlElement | None:
    """Return a page's whole tree, however deep: for looking at elements one by one, without recursion.

    At most `max_elements` are allowed.
    """
    data = text.encode("utf-8", "replace")
    parser = html.HTMLParser(
        no_network=True, remove_comments=True, remove_pis=True, huge_tree=False, encoding="utf-8"
    )
    try:
        take_census(data, max_elements, LIMITS.attributes)
        root = html.document_fromstring(data, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    _open_body(root)
    return root


def _open_body(root: html.HtmlElement) -> None:
    """Move what is no part of a head out of it, into the body.

    HTML lets a page leave out the tags of both; libxml2 knows no element of HTML 5 that begins a body then.
    """
    head = root.find("head")
    if head is None:
        return
    strangers = [child for child in head if child.tag not in _OF_HEAD]
    if not strangers:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    text, body.text = body.text, None
    for place, child in enumerate(strangers):
        body.insert(place, child)
    # References such as &#0; stand for characters that no tree takes back (found by hypothesis).
    strangers[-1].tail = _REFUSED.sub("", f"{strangers[-1].tail or ''}{text or ''}")


_OF_HEAD = frozenset({"base", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"})


def read_text(element: etree._Element, *, apart: bool = False) -> str:
    """Return the readable text of a short element, without scripts and styles, which pages put anywhere.

    Only the beginning of a large element is read, so that nested ones cost no more. With `apart` there is a
    blank between what browsers show on lines of their own.
    """
    pieces = [element.text or ""]
    walk = etree.iterwalk(element, events=("start", "end"))
    next(walk)
    for event, inner in islice(walk, _SHORT):
        if apart and inner.tag in _ON_LINES:
            pieces.append(" ")
        if event == "end":
            pieces.append(inner.tail or "" if inner is not element else "")
        elif inner.tag in UNREAD:
            walk.skip_subtree()
        else:
            pieces.append(inner.text or "")
    return "".join(pieces)


def _clean_texts(root: html.HtmlElement) -> None:
    """Remove characters that XML refuses, which references such as &#1; bring: moving them would fail."""
    for element in root.iter():
        if element.text and _REFUSED.search(element.text):
            element.text = _REFUSED.sub("", element.text)
        if element.tail and _REFUSED.search(element.tail):
            element.tail = _REFUSED.sub("", element.tail)


def _pruned(root: html.HtmlElement) -> None:
    """Cut elements that are nested too deeply."""
    depth = 0
    deep: list[etree._Element] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "end":
            depth -= 1
            continue
        depth += 1
        if depth == LIMITS.depth:
            deep.append(element)
    for element in deep:
        for child in list(element):
            element.remove(child)
