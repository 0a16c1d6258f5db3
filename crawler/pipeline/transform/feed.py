"""Feeds: well-formed RSS and Atom by feed.xsl, the rest (JSON Feed, broken XML) by way of the feed parser."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from lxml import etree

from crawler.failures import Failure
from crawler.pipeline.prefixes import PREFIXES
from crawler.pipeline.terms import Term
from crawler.pipeline.transform import sheets
from crawler.pipeline.transform.graph import (
    ENTITY,
    Graph,
    SourceDocument,
    iri,
    literal,
    resolved,
)
from crawler.reading.charset import to_utf8
from crawler.reading.dates import Dates
from crawler.reading.documents import Enclosure, Entry
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.bases import Bases
from crawler.reading.feeds.parse import parse_feed
from crawler.reading.feeds.xmlfeed import parse_xml
from crawler.reading.language_tags import language_tag
from crawler.reading.limits import LIMITS

MAX_ITEMS = 2_000
_F = "{urn:freshet:prepared}"
_ITEMS = {"item", "entry"}
_LINKS = {"link", "comments", "commentRss", "url", "uri"}
_DATES = {"pubDate", "published", "issued", "created", "updated", "modified", "lastBuildDate", "date"}
_ATTRIBUTES = {"enclosure": "url", "transcript": "url", "chapters": "url", "in-reply-to": "href"}

_SIOC, _DCT, _SCHEMA, _FOAF = (PREFIXES[name] for name in ("sioc", "dct", "schema", "foaf"))
_RSS, _CONTENT, _XSD = (PREFIXES[name] for name in ("rss", "content", "xsd"))
_TYPE = PREFIXES["rdf"] + "type"
_LANGUAGES = etree.XPath("/*/@xml:lang | /*/*[local-name() = 'channel']/*[local-name() = 'language']/text()")
_TEXTS = {
    _DCT + "title",
    _DCT + "description",
    _SCHEMA + "abstract",
    _SCHEMA + "keywords",
    _CONTENT + "encoded",
}
"""Properties of feeds and items whose values are in the feed's language."""


def xml_feed(document: SourceDocument, graph: Graph) -> str:
    """Add the statements of an XML feed. Returns the transformer's name. Raises ReadingError."""
    data, _ = to_utf8(document.body, document.content_type)
    try:
        root = None if ENTITY.search(data, 0, 65_536) else parse_xml(data.lstrip(), graph.url, LIMITS)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        parsed_feed(document, graph)
        return "feed-parser"
    _prepare(root, graph.url)
    sheets.apply("feed", root, graph, _language(root))
    return "feed.xsl"


def _language(root: etree._Element) -> str:
    """Return the language tag of a feed's texts, empty for none."""
    declared = (str(text) for text in _LANGUAGES(root))  # type: ignore[union-attr]
    return next((tag for tag in map(language_tag, declared) if tag), "")


def parsed_feed(document: SourceDocument, graph: Graph) -> None:
    """Add the result of our feed parser: JSON Feed, and ill-formed XML. Raises ReadingError."""
    try:
        feed = parse_feed(document.body, url=graph.url, content_type=document.content_type)
    except ReadingError as error:
        if error.kind == Failure.NOT_A_FEED:  # which its first tag says it is
            raise ReadingError("malformed", error.detail) from error
        raise
    subject = iri(graph.url)
    graph.add(subject, iri(_TYPE), iri(_SIOC + "Forum"))
    graph.add(subject, iri(_TYPE), iri(_SCHEMA + "DataFeed"))
    for name, text in (("title", feed.title), ("description", feed.description), ("language", feed.language)):
        if text:
            graph.add(subject, iri(_DCT + name), _literal(_DCT + name, text, feed.language))
    home = resolved(graph.url, feed.site_url) if feed.site_url else ""
    if home:
        graph.add(subject, iri(_FOAF + "homepage"), iri(home))
    for entry in feed.entries[:MAX_ITEMS]:
        _entry(entry, subject, graph, feed.language)


def _literal(name: str, text: str, language: str) -> Term:
    return literal(text, language=language_tag(language) if name in _TEXTS else "")


def _entry(entry: Entry, feed: Term, graph: Graph, language: str) -> None:
    address = resolved(graph.url, entry.url) if entry.url else ""
    item = iri(address or _about(graph.url, entry.identity))
    media = any(enclosure.type.startswith(("audio/", "video/")) for enclosure in entry.enclosures)
    graph.add(feed, iri(_SIOC + "container_of"), item)
    graph.add(item, iri(_TYPE), iri(_SIOC + "Post"))
    graph.add(item, iri(_TYPE), iri(_SCHEMA + ("PodcastEpisode" if media else "Article")))
    if address:
        graph.add(item, iri(_RSS + "link"), iri(address))
    statements = [
        (_DCT + "title", entry.title),
        (_DCT + "identifier", entry.identity),
        (_SCHEMA + "abstract", entry.summary),
        (_CONTENT + "encoded", entry.content),
        *((_SCHEMA + "keywords", word) for word in entry.categories),
    ]
    for name, text in statements:
        if text:
            graph.add(item, iri(name), _literal(name, text, language))
    for name, when in (("created", entry.published), ("modified", entry.updated)):
        if when is not None:
            graph.add(item, iri(_DCT + name), literal(_stamp(when), _XSD + "dateTime"))
    if entry.author:
        person = graph.blank()
        graph.add(item, iri(_DCT + "creator"), person)
        graph.add(person, iri(_TYPE), iri(_FOAF + "Agent"))
        graph.add(person, iri(_FOAF + "name"), literal(entry.author))
    for enclosure in entry.enclosures:
        _attach(enclosure, item, graph)


def _attach(enclosure: Enclosure, item: Term, graph: Graph) -> None:
    file = resolved(graph.url, enclosure.url)
    if not file:
        return
    graph.add(item, iri(_SIOC + "attachment"), iri(file))
    if enclosure.type:
        graph.add(iri(file), iri(_SCHEMA + "encodingFormat"), literal(enclosure.type))
    if enclosure.length:
        graph.add(iri(file), iri(_SCHEMA + "contentSize"), literal(str(enclosure.length)))


def _prepare(root: etree._Element, url: str) -> None:
    """Write absolute addresses, readable dates and the items' IRIs into the feed's tree."""
    items, dates = 0, Dates()
    bases = Bases(url)
    for element in root.iter(etree.Element):
        name = element.tag.rpartition("}")[2]
        if name in _ITEMS:
            items += 1
            if items <= MAX_ITEMS:
                _prepare_item(element, url, bases, dates)
        elif element.getparent() is not None and not element.get(f"{_F}iri"):
            _prepare_value(element, name, bases, dates)


def _prepare_item(item: etree._Element, url: str, bases: Bases, dates: Dates) -> None:
    address = identity = ""
    for element in item:
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2]
        _prepare_value(element, name, bases, dates)
        text = (element.text or "").strip()
        subject = element.get(f"{_F}iri") or ""
        if name == "link" and not address and element.get("rel", "alternate") == "alternate":
            address = subject
        elif name in {"guid", "id"} and text:
            identity = text
            if not address and name == "guid" and element.get("isPermaLink", "true").lower() == "true":
                address = resolved(bases.of(element), text) if text.startswith("http") else ""
    identity = identity or "".join(map(str, item.itertext()))[:1000]
    item.set(f"{_F}about", address or _about(url, identity))


def _prepare_value(element: etree._Element, name: str, bases: Bases, dates: Dates) -> None:
    text = (element.text or "").strip()
    reference = ""
    if name in _ATTRIBUTES:
        reference = element.get(_ATTRIBUTES[name]) or ""
    elif name in _LINKS:
        reference = element.get("href") or text
    elif name in _DATES and text:
        when = dates.epoch(text)
        if when is not None:
            element.set(f"{_F}when", _stamp(when))
    if reference:
        address = resolved(bases.of(element), reference.strip())
        if address:
            element.set(f"{_F}iri", address)
            if name == "enclosure" or (name == "link" and element.get("rel") == "enclosure"):
                element.set(f"{_F}enclosure", "1")


def _about(url: str, identity: str) -> str:
    """Return an IRI for an item that has no address: a fragment of the feed's."""
    digest = hashlib.blake2b(identity.encode("utf-8", "replace"), digest_size=12).hexdigest()
    return f"{url.partition('#')[0]}#{digest}"


def _stamp(when: float) -> str:
    try:
        return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00Z"
