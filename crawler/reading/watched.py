"""The lines of a watched document, whole or of chosen parts: HTML, XML, JSON, CSV, text, PDF, feed, sitemap.
Pure.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from lxml import etree, html

from crawler.reading.charset import decode
from crawler.reading.choosing import XmlDocument, chosen_of_page, local_name
from crawler.reading.detect import (
    ATOM,
    HTML,
    JSON,
    JSON_FEED,
    JSON_LD,
    OPML,
    RDF_XML,
    RSS_0,
    RSS_1,
    RSS_2,
    SITEMAP,
    TEXT,
    WSDL,
    XML,
    detect,
)
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.json_documents import by_jq, by_jsonpath, json_documents
from crawler.reading.json_ld import json_ld_of
from crawler.reading.limits import LIMITS
from crawler.reading.lines import (
    CONTENT,
    IGNORED,
    element_lines,
    markup_lines,
    one_line_of,
    plain_lines,
    read_lines,
)
from crawler.reading.pages.tree import media_type, text_of, whole_tree
from crawler.reading.parts import (
    DATA,
    DATA_LANGUAGES,
    MARKUP,
    PAGE_LANGUAGES,
    ReadingRules,
    language_and_expression,
)
from crawler.reading.sitemap import is_sitemap, read_sitemap
from crawler.text.characters import storable

MAX_VALUES = 5_000
"""Values that the parts of one document give at most; the rest is cut."""
MAX_PDF_PAGES = 200
MAX_LISTED = 5_000
"""Addresses of a sitemap that are compared."""


def document_lines(body: bytes, content_type: str, url: str, reading: ReadingRules) -> list[str]:
    """Return the marked lines of a document by its type.

    Raises ReadingError: unsupported-type, part-missing when no part is in the document, malformed, and the
    errors of the types' readers.
    """
    kind = kind_of(body, content_type, reading)
    if kind == "page":
        root = whole_tree(text_of(body, content_type), LIMITS.link_elements)
        return [] if root is None else page_lines(root, reading)
    if kind == "JSON":
        return _json_lines(body, content_type, reading)
    if kind == "XML":
        return _xml_lines(text_of(body, content_type), reading)
    if reading.parts:
        raise ReadingError("part-missing", f"a {kind} has no parts to choose: {', '.join(reading.parts)}")
    return plain_lines(_TEXTS[kind](body, content_type, url))


def kind_of(body: bytes, content_type: str, reading: ReadingRules) -> str:
    """Return the kind of a document: PDF, sitemap, JSON, table, feed, XML, text or page."""
    declared = content_type.partition(";")[0].strip().lower()
    is_json = declared in _JSON_TYPES or declared.endswith("+json")
    is_whole = not reading.parts
    is_text = declared.startswith("text/") and declared not in {"text/html", "text/xml"}
    for kind, is_it in (
        ("PDF", body[:1024].lstrip().startswith(b"%PDF-")),
        ("sitemap", is_whole and is_sitemap(body)),
        ("JSON", is_json or _has_json_parts(reading)),
        ("table", declared in _TABLES),
        ("feed", is_whole and _is_feed(body, declared)),
        ("XML", not (is_whole and is_text) and detect(body, content_type).type in _XML_TYPES),
        ("text", is_text),
    ):
        if is_it:
            return kind
    return _kind_by_bytes(body, content_type)


def _kind_by_bytes(body: bytes, content_type: str) -> str:
    """Return the kind of a document whose type says little: YAML, a script, CSV sent as any bytes."""
    try:
        media_type(body, content_type)
    except ReadingError:
        kind = detect(body, content_type).type
        if kind == HTML and "xml" in content_type.lower():
            return "XML"  # its elements are called like those of HTML
        if kind not in _TEXT_TYPES:
            raise
        return "text" if kind == TEXT else "JSON"
    return "page"


def _sitemap_text(body: bytes, content_type: str, url: str) -> str:
    listed, _, _ = read_sitemap(body, url, MAX_LISTED)
    return "\n".join(f"{page.url} {page.stamp}" for page in listed)


def _feed_text(body: bytes, content_type: str, url: str) -> str:
    feed = parse_feed(body, url=url, content_type=content_type)
    return "\n".join(f"{entry.title} {entry.url}" for entry in feed.entries)


def page_lines(root: html.HtmlElement, reading: ReadingRules) -> list[str]:
    """Return the marked lines of an HTML page, or of its chosen parts. Raises ReadingError(part-missing)."""
    if reading.compared == DATA:
        return list(_cut(_value_lines(json_ld_of(root))))
    if not reading.parts:
        return markup_lines([root]) if reading.compared == MARKUP else read_lines(root, reading.ignored)
    chosen = chosen_values(root, reading)
    if not chosen:
        raise _missing(reading)
    elements = [value for value in chosen[:MAX_VALUES] if isinstance(value, html.HtmlElement)]
    words = [str(value) for value in chosen[:MAX_VALUES] if not isinstance(value, etree._Element)]
    if reading.compared == MARKUP:
        return markup_lines(elements) + plain_lines("\n".join(words))
    return element_lines(root, elements, reading.ignored) + plain_lines("\n".join(words))


def chosen_values(root: html.HtmlElement, reading: ReadingRules) -> list[Any]:
    """Return the elements and values of a page's chosen parts. Raises ReadingError(malformed)."""
    chosen: list[Any] = []
    for part in reading.parts:
        language, expression = language_and_expression(part)
        if language not in PAGE_LANGUAGES:
            continue
        chosen += chosen_of_page(root, part, language, expression)
    return chosen


def _json_lines(body: bytes, content_type: str, reading: ReadingRules) -> list[str]:
    """Return a line for each value of a JSON document, with its path: `items[].price: 12`."""
    if len(body) > LIMITS.bytes:
        raise ReadingError("too-large", f"more than {LIMITS.bytes} bytes")
    text = storable(decode(body, content_type))
    try:
        documents = json_documents(text)
    except ValueError as error:
        if not reading.parts and text.strip():
            return plain_lines(text)  # a program's own format under the name of JSON
        raise ReadingError("malformed", f"this is no JSON: {error}") from error
    values = documents if not reading.parts else list(_chosen_values(documents, reading))
    if not values:
        raise _missing(reading)
    return list(_cut(line for value in values[:MAX_VALUES] for line in _value_lines(value)))


def _chosen_values(documents: Sequence[Any], reading: ReadingRules) -> Iterator[Any]:
    for part in reading.parts:
        language, expression = language_and_expression(part)
        if language not in DATA_LANGUAGES:
            continue
        try:
            yield from _FINDERS[language](expression, documents)
        except Exception as error:  # an expression that fails on this document
            raise ReadingError("malformed", f"{part}: {str(error)[:200]}") from error


_FINDERS = {"jsonpath": by_jsonpath, "jq": by_jq}


def _xml_lines(text: str, reading: ReadingRules) -> list[str]:
    """Return the lines of an XML document or of its chosen parts; all of it as text if it is damaged."""
    document = XmlDocument(text)
    if document.root is None:
        return plain_lines(text)
    ignored = {match for rule in reading.ignored for match in document.chosen(rule, "css", rule)}
    if not reading.parts:
        is_markup = reading.compared == MARKUP
        return markup_lines([document.root]) if is_markup else list(_cut(_nested(document.root, ignored)))
    chosen: list[Any] = []
    for part in reading.parts:
        language, expression = language_and_expression(part)
        if language in PAGE_LANGUAGES:
            chosen += document.chosen(part, language, expression)
    if not chosen:
        raise _missing(reading)
    elements = [value for value in chosen[:MAX_VALUES] if isinstance(value, etree._Element)]
    words = [str(value) for value in chosen[:MAX_VALUES] if not isinstance(value, etree._Element)]
    if reading.compared == MARKUP:
        return markup_lines(elements) + plain_lines("\n".join(words))
    lines = (line for element in elements for line in _chosen_lines(element, ignored))
    return list(_cut(lines)) + plain_lines("\n".join(words))


def _chosen_lines(element: etree._Element, ignored: Collection[Any]) -> Iterator[str]:
    """Yield the lines of a chosen element: its text alone if it holds nothing else."""
    text = one_line_of(element.text or "")
    if len(element) or not text:
        yield from _nested(element, ignored)
    else:
        yield (IGNORED if element in ignored else CONTENT) + text


def _nested(top: etree._Element, ignored: Collection[Any]) -> Iterator[str]:
    """Yield a line for each element of XML that is no mere frame: `rate currency="USD": 1.08`."""
    for element in top.iter(etree.Element):
        above = (element, *element.iterancestors()) if ignored else ()
        mark = IGNORED if any(node in ignored for node in above) else CONTENT
        attributes = sorted((local_name(name), value) for name, value in element.items())
        words = " ".join([local_name(element.tag), *(f'{name}="{value!s}"' for name, value in attributes)])
        text = one_line_of(element.text or "")
        if text or attributes or not len(element):
            yield mark + one_line_of(f"{words}: {text}" if text else words)
        tail = one_line_of(element.tail or "") if element is not top else ""
        if tail:
            yield mark + tail


def _value_lines(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """Yield a line for each scalar of a JSON value. Keys are sorted, so that their order does not count."""
    if depth > LIMITS.depth:
        return
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _value_lines(value[key], f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _value_lines(item, f"{path}[]", depth + 1)
    else:
        words = value if isinstance(value, str) else json.dumps(value)
        line = one_line_of(storable(f"{path}: {words}" if path else words, LIMITS.text))
        if line:
            yield CONTENT + line


def _cut(lines: Iterable[str]) -> Iterator[str]:
    size = 0
    for line in lines:
        size += len(line)
        if size > LIMITS.text:
            return
        yield line


def pdf_text(body: bytes, content_type: str = "", url: str = "") -> str:
    """Return the text of the first MAX_PDF_PAGES pages of a PDF. Raises ReadingError."""
    import pypdf  # noqa: PLC0415 - loaded with the first document that needs it

    try:
        pages = pypdf.PdfReader(io.BytesIO(body)).pages
        texts = [pages[number].extract_text() for number in range(min(len(pages), MAX_PDF_PAGES))]
    except MemoryError:
        raise
    except Exception as error:  # pypdf's own errors, and whatever damaged files provoke in it
        raise ReadingError("malformed", f"the PDF cannot be read: {error}") from error
    return storable("\n".join(texts), LIMITS.text)


def _table_text(body: bytes, content_type: str, url: str) -> str:
    """Return a table with a line for each row and bars between its cells."""
    text = text_of(body, content_type)[: LIMITS.text]
    head = text[:2000]
    is_tabbed = content_type.lower().startswith("text/tab")
    separator = "\t" if is_tabbed else ";" if head.count(";") > head.count(",") else ","
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    except csv.Error:
        return text
    return "\n".join(" | ".join(" ".join(cell.split()) for cell in row) for row in rows)


def _plain_text(body: bytes, content_type: str, url: str) -> str:
    return text_of(body, content_type)


_JSON_TYPES = {
    "application/json", "text/json", "application/x-ndjson", "application/ndjson", "application/jsonl",
    "application/x-jsonlines", "application/jsonlines",
}  # fmt: skip
_XML_TYPES = {XML, RSS_0, RSS_1, RSS_2, ATOM, RDF_XML, OPML, SITEMAP, WSDL}
_TEXT_TYPES = {TEXT, JSON, JSON_LD, JSON_FEED}
_TABLES = {"text/csv", "text/tab-separated-values", "application/csv"}
_TEXTS: dict[str, Callable[[bytes, str, str], str]] = {
    "PDF": pdf_text,
    "sitemap": _sitemap_text,
    "table": _table_text,
    "feed": _feed_text,
    "text": _plain_text,
}


def _is_feed(body: bytes, declared: str) -> bool:
    if declared in {"application/rss+xml", "application/atom+xml"}:
        return True
    head = body[:2000].lstrip().lower()
    is_xml = head.startswith(b"<?xml") or "xml" in declared
    return is_xml and any(mark in head for mark in (b"<rss", b"<feed", b"<rdf:rdf")) and b"<html" not in head


def _has_json_parts(reading: ReadingRules) -> bool:
    return any(language_and_expression(part)[0] in DATA_LANGUAGES for part in reading.parts)


def _missing(reading: ReadingRules) -> ReadingError:
    return ReadingError("part-missing", f"not on the page: {', '.join(reading.parts)}")
