"""Documents that are RDF already: parsed as they are, without entities."""

from __future__ import annotations

import re

import pyoxigraph

from crawler.pipeline.detect import N_QUADS, N_TRIPLES, RDF_XML, TURTLE
from crawler.pipeline.transform.graph import Document, Graph, TransformError

FORMATS = {
    RDF_XML: pyoxigraph.RdfFormat.RDF_XML,
    TURTLE: pyoxigraph.RdfFormat.TURTLE,
    N_TRIPLES: pyoxigraph.RdfFormat.N_TRIPLES,
    N_QUADS: pyoxigraph.RdfFormat.N_QUADS,
}
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_WIDE = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
}


def rdf_graph(document: Document, graph: Graph) -> None:
    """Add the document's triples; entities are refused, for what they may become. Raises TransformError."""
    body = document.body
    if body[:2] in _WIDE:
        body = body.decode(_WIDE[body[:2]], "replace").encode()
        body = re.sub(rb"^(\xef\xbb\xbf)?<\?xml[^>]*\?>", b"", body)
    if document.type == RDF_XML and _ENTITY.search(body):
        raise TransformError("entities", "an RDF document that declares entities is refused")
    try:
        graph.take(pyoxigraph.parse(body, format=FORMATS[document.type], base_iri=graph.url), named=True)
    except (SyntaxError, ValueError) as error:
        raise TransformError("malformed", str(error)[:300]) from error
