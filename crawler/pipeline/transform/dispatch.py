"""Choice of the transformer for a document by its type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from crawler.pipeline.messages import Sheet
from crawler.pipeline.prefixes import expanded
from crawler.pipeline.terms import safe
from crawler.pipeline.transform import jsonld
from crawler.pipeline.transform.feed import parsed_feed, xml_feed
from crawler.pipeline.transform.files import file_graph
from crawler.pipeline.transform.foreign import add_foreign
from crawler.pipeline.transform.graph import Graph, SourceDocument, Transformed, iri, literal
from crawler.pipeline.transform.outline import outline_graph
from crawler.pipeline.transform.page import page_graph
from crawler.pipeline.transform.plugins import Plugins
from crawler.pipeline.transform.rdf import FORMATS, rdf_graph
from crawler.pipeline.transform.rdfa import add_rdfa
from crawler.reading import detect
from crawler.reading.charset import decode, from_wide
from crawler.reading.errors import ReadingError
from crawler.reading.inflate import without_gzip
from crawler.reading.limits import LIMITS
from crawler.reading.mime import STRAY

VERSION = "4"
"""Raised when the graphs that documents give change, so that they are made anew."""

OTHERS = "others"
"""The way of documents of which only other people's transformers make a graph."""

_FEEDS = {detect.RSS_0, detect.RSS_1, detect.RSS_2, detect.ATOM}
_PAGES = {detect.HTML, detect.XHTML}
_MARKUP = _FEEDS | _PAGES | {detect.XML, detect.RDF_XML, detect.SITEMAP, detect.OPML, detect.WSDL}


def transform(
    document: SourceDocument,
    *,
    hash_mail: bool = False,
    rdfa: bool = False,
    sheets: Sequence[Sheet] = (),
    plugins: Plugins | None = None,
) -> Transformed:
    """Return a document's graph, with RDFa on request, and the additions of users' transformers.

    Raises ReadingError for those that have none.
    """
    if document.type != detect.BINARY:  # a packed file may be what a transformer wants
        document = replace(document, body=without_gzip(document.body, LIMITS.sitemap_bytes))
    plain = _without_stray_signs(document)
    graph = Graph(safe(document.url))
    way = _way(plain, graph, hash_mail)
    if rdfa:
        add_rdfa(plain, graph)
    transformers = add_foreign(sheets, plain, graph)
    if plugins is not None:
        transformers += plugins.add(document, graph)
    if not way and (not transformers or (graph.notes and not len(graph))):
        reason = "; ".join([f"nothing makes a graph of {document.type}", *graph.notes])
        raise ReadingError("unsupported-type", reason)
    return graph.done(f"{way or OTHERS}@{VERSION}")


def _way(document: SourceDocument, graph: Graph, hash_mail: bool) -> str:
    """Apply our transformer for the document's type. Returns its name, empty if there is none."""
    kind = document.type
    if kind in _PAGES:
        page_graph(document, graph, hash_mail=hash_mail)
        return "page.xsl"
    if kind in _FEEDS:
        return xml_feed(document, graph)
    if kind == detect.BINARY:
        return file_graph(document, graph)
    way = _WAYS.get(kind)
    if way is None:
        return ""
    way(document, graph)
    return kind


def _without_stray_signs(document: SourceDocument) -> SourceDocument:
    """Remove control characters that XML forbids from markup."""
    if document.type not in _MARKUP or from_wide(document.body) is not None:
        return document
    return replace(document, body=document.body.translate(None, STRAY))


def _jsonld_graph(document: SourceDocument, graph: Graph) -> None:
    jsonld.document(decode(document.body, document.content_type), graph)


def _text_graph(_: SourceDocument, graph: Graph) -> None:
    """Add the type and the format, the only statements about a plain text."""
    graph.add(iri(graph.url), expanded("rdf:type"), expanded("foaf:Document"))
    graph.add(iri(graph.url), expanded("dct:format"), literal("text/plain"))


_WAYS: dict[str, Callable[[SourceDocument, Graph], None]] = {
    detect.JSON_FEED: parsed_feed,
    detect.JSON_LD: _jsonld_graph,
    detect.SITEMAP: outline_graph,
    detect.OPML: outline_graph,
    detect.TEXT: _text_graph,
    **dict.fromkeys(FORMATS, rdf_graph),
}
