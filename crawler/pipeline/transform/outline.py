"""Sitemaps and OPML lists: what they name, one link each."""

from __future__ import annotations

import io

from lxml import etree

from crawler.pipeline.prefixes import expanded
from crawler.pipeline.terms import Term
from crawler.pipeline.transform.graph import Graph, SourceDocument, iri, literal, resolved
from crawler.reading.detect import SITEMAP
from crawler.reading.errors import ReadingError

MOST_NAMED = 20_000
_LINKS_TO, _SEE_ALSO = expanded("sioc:links_to"), expanded("rdfs:seeAlso")
_MODIFIED, _TITLE = expanded("dct:modified"), expanded("dct:title")
_TYPE, _DOCUMENT = expanded("rdf:type"), expanded("foaf:Document")


def outline_graph(document: SourceDocument, graph: Graph) -> None:
    """Add what the document names. Raises ReadingError where it names nothing before it breaks."""
    own = iri(graph.url)
    graph.add(own, _TYPE, _DOCUMENT)
    events = etree.iterparse(
        io.BytesIO(document.body.lstrip()), tag=("{*}url", "{*}sitemap", "outline"), events=("start", "end"),
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
    )  # fmt: skip
    count = 0
    try:
        for event, element in events:
            if document.type == SITEMAP and event == "end":
                count += _place(element, own, graph)
                element.clear()
            elif document.type != SITEMAP and event == "start":
                count += _outline(element, own, graph)
            if count >= MOST_NAMED:
                graph.notes.append(f"only the first {MOST_NAMED} addresses were taken")
                return
    except etree.XMLSyntaxError as error:
        if not count:
            raise ReadingError("malformed", str(error)[:300]) from error
        graph.notes.append(f"it breaks off: {str(error)[:200]}")


def _place(element: etree._Element, own: Term, graph: Graph) -> int:
    parts = {
        child.tag.rpartition("}")[2]: (child.text or "").strip()
        for child in element
        if isinstance(child.tag, str)
    }
    address = resolved(graph.url, parts.get("loc", "")) if parts.get("loc") else ""
    if not address:
        return 0
    graph.add(own, _SEE_ALSO if element.tag.endswith("sitemap") else _LINKS_TO, iri(address))
    if parts.get("lastmod"):
        graph.add(iri(address), _MODIFIED, literal(parts["lastmod"][:40]))
    return 1


def _outline(element: etree._Element, own: Term, graph: Graph) -> int:
    found = 0
    title = (element.get("title") or element.get("text") or "").strip()
    for name, predicate in (("xmlUrl", _SEE_ALSO), ("htmlUrl", _LINKS_TO)):
        address = resolved(graph.url, element.get(name) or "") if element.get(name) else ""
        if address:
            graph.add(own, predicate, iri(address))
            if title:
                graph.add(iri(address), _TITLE, literal(title))
            found = 1
    return found
