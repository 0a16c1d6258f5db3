"""A page's bytes as one bounded tree: refused types, encodings, hostile shapes.

libxml2's parser takes 200,000 nested elements in its stride; what comes after it does not, so that
depth, elements and attributes are bounded here, once.
"""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree, html

from crawler.reading.census import CrowdedError, take_census
from crawler.reading.charset import decode
from crawler.reading.pages.errors import ExtractionError
from crawler.text.characters import storable

MAX_BYTES = 10_000_000
MAX_DEPTH = 200
MAX_ELEMENTS = 250_000
MAX_ATTRIBUTES = 200
"""Attributes of one element: libxml2 compares each with all before it."""
UNREAD = frozenset({"script", "style", "template"})
"""Elements whose text nobody reads, wherever they stand."""
_SHORT = 2_000  # tags within an element that is read as a line

_VAGUE = {"", "application/octet-stream", "application/xml", "text/xml"}
_TYPES = _VAGUE | {"text/html", "application/xhtml+xml", "text/plain"}
_MAGIC = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF recording or image"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzipped data"),
    (b"\x1a\x45\xdf\xa3", "a video"),
    (b"ID3", "an MP3 recording"),
    (b"OggS", "an Ogg recording"),
)
_MARKUP = re.compile(
    rb"<(?:!doctype|html|head|body|title|div|p|article|h1|meta|script|table)\b", re.IGNORECASE
)


def media_type(body: bytes, content_type: str) -> str:
    """`text/html` or `text/plain`, as the body is to be read. Raises ExtractionError(unsupported-type)."""
    declared = storable(content_type[:4096]).partition(";")[0].strip().lower()
    if declared not in _TYPES:
        raise ExtractionError("unsupported-type", f"the server calls it {declared[:100]}")
    head = body[:1024].lstrip()
    found = next((name for mark, name in _MAGIC if head.startswith(mark)), "")
    if found:
        raise ExtractionError("unsupported-type", found)
    if declared == "text/plain":
        return declared
    if declared in _VAGUE and not _MARKUP.search(body, 0, 65536):
        raise ExtractionError("unsupported-type", "neither HTML nor text by its bytes or its header")
    return "text/html"


def text_of(body: bytes, content_type: str) -> str:
    """The document without characters that XML and databases refuse. Raises ExtractionError(too-large)."""
    if len(body) > MAX_BYTES:
        raise ExtractionError("too-large", f"more than {MAX_BYTES} bytes")
    return storable(decode(body, content_type))


def page_tree(text: str) -> html.HtmlElement | None:
    """The page's tree, cut where it is nested too deeply; None when there is nothing in it.

    Raises ExtractionError(too-large) for elements with absurdly many attributes and too many elements.
    """
    root = whole_tree(text)
    if root is not None:
        _pruned(root)
    return root


def whole_tree(text: str, most: int = MAX_ELEMENTS) -> html.HtmlElement | None:
    """The same, however deep: for looking at elements one by one and never from within each other.

    `most` elements are allowed.
    """
    data = text.encode("utf-8", "replace")
    parser = html.HTMLParser(
        no_network=True, remove_comments=True, remove_pis=True, huge_tree=False, encoding="utf-8"
    )
    try:
        take_census(data, most, MAX_ATTRIBUTES)
        root = html.document_fromstring(data, parser=parser)
    except CrowdedError as error:
        raise ExtractionError("too-large", str(error)) from error
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    return root


def read_text(element: etree._Element) -> str:
    """The text that people read in a short element: without scripts and styles, which pages put anywhere.

    Of a large one the beginning, so that nobody gains by nesting them.
    """
    pieces = [element.text or ""]
    walk = etree.iterwalk(element, events=("start", "end"))
    next(walk)
    for event, inner in islice(walk, _SHORT):
        if event == "end":
            pieces.append(inner.tail or "" if inner is not element else "")
        elif inner.tag in UNREAD:
            walk.skip_subtree()
        else:
            pieces.append(inner.text or "")
    return "".join(pieces)


def _pruned(root: html.HtmlElement) -> None:
    """Cut what is nested too deeply."""
    depth = 0
    deep: list[etree._Element] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "end":
            depth -= 1
            continue
        depth += 1
        if depth == MAX_DEPTH:
            deep.append(element)
    for element in deep:
        for child in list(element):
            element.remove(child)
