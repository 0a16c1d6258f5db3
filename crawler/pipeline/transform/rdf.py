"""Documents that are RDF already: parsed as they are, without entities."""

from __future__ import annotations

import pyoxigraph

from crawler.pipeline.transform.graph import ENTITY, Graph, SourceDocument
from crawler.reading.charset import from_wide
from crawler.reading.detect import N_QUADS, N_TRIPLES, RDF_XML, TRIG, TURTLE
from crawler.reading.errors import ReadingError

FORMATS = {
    RDF_XML: pyoxigraph.RdfFormat.RDF_XML,
    TURTLE: pyoxigraph.RdfFormat.TURTLE,
    TRIG: pyoxigraph.RdfFormat.TRIG,
    N_TRIPLES: pyoxigraph.RdfFormat.N_TRIPLES,
    N_QUADS: pyoxigraph.RdfFormat.N_QUADS,
}


def rdf_graph(document: SourceDocument, graph: Graph) -> None:
    """Add the document's triples; entities are refused, for what they may become. Raises ReadingError."""
    body = document.body
    wide = from_wide(body)
    body = body if wide is None else wide
    if document.type == RDF_XML and ENTITY.search(body):
        raise ReadingError("entities", "an RDF document that declares entities is refused")
    try:
        if document.type == RDF_XML:
            graph.read_xml(body, document.content_type)
        else:
            graph.read(body, FORMATS[document.type])
    except (SyntaxError, ValueError) as error:
        raise ReadingError("malformed", str(error)[:300]) from error
