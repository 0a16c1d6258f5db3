"""Sitemaps and OPML lists, which become one link for each address that they name."""

from __future__ import annotations

import io

from lxml import etree

from crawler.pipeline.prefixes import expanded
from crawler.pipeline.terms import Term
from crawler.pipeline.transform.graph import Graph, SourceDocument, iri, literal, resolved
from crawler.reading.detect import SITEMAP
from crawler.reading.errors import ReadingError

MAX_NAMED = 20_000
_LINKS_TO, _SEE_ALSO = expanded("sioc:links_to"), expanded("rdfs:seeAlso")
_MODIFIED, _TITLE = expanded("dct:modified"), expanded("dct:title")
_TYPE, _DOCUMENT = expanded("rdf:type"), expanded("foaf:Document")


def outline_graph(document: SourceDocument, graph: Graph) -> None:
    """Add the document's links. Raises ReadingError if it breaks before the first."""
    subject = iri(graph.url)
    graph.add(subject, _TYPE, _DOCUMENT)
    events = etree.iterparse(
        io.BytesIO(document.body.lstrip()), tag=("{*}url", "{*}sitemap", "outline"), events=("start", "end"),
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
    )  # fmt: skip
    count = 0
    try:
        for event, element in events:
            if document.type == SITEMAP and event == "end":
                count += _place(element, subject, graph)
                element.clear()
            elif document.type != SITEMAP and event == "start":
                count += _outline(element, subject, graph)
            if count >= MAX_NAMED:
                graph.notes.append(f"only the first {MAX_NAMED} addresses were taken")
                return
    except etree.XMLSyntaxError as error:
        if not count:
            raise ReadingError("malformed", str(error)[:300]) from error
        graph.notes.append(f"it breaks off: {str(error)[:200]}")


def _place(element: etree._Element, subject: Term, graph: Graph) -> int:
    parts = {
        child.tag.rpartition("}")[2]: (child.text or "").strip()
        for child in element
        if isinstance(child.tag, str)
    }
    address = resolved(graph.url, parts.get("loc", "")) if parts.get("loc") else ""
    if not address:
        return 0
    graph.add(subject, _SEE_ALSO if element.tag.endswith("sitemap") else _LINKS_TO, iri(address))
    if parts.get("lastmod"):
        graph.add(iri(address), _MODIFIED, literal(parts["lastmod"][:40]))
    return 1


def _outline(element: etree._Element, subject: Term, graph: Graph) -> int:
    count = 0
    title = (element.get("title") or element.get("text") or "").strip()
    for name, predicate in (("xmlUrl", _SEE_ALSO), ("htmlUrl", _LINKS_TO)):
        address = resolved(graph.url, element.get(name) or "") if element.get(name) else ""
        if address:
            graph.add(subject, predicate, iri(address))
            if title:
                graph.add(iri(address), _TITLE, literal(title))
            count = 1
    return count
