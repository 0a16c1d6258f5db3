"""Five syntaxes of RDF, held to their specifications by cases of our own."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pyoxigraph
import pytest

from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument, Transformed, part_prefix
from crawler.reading import detect as types
from crawler.reading.detect import detect
from crawler.reading.errors import ReadingError
from tests.crawler.pipeline import rdf_cases as cases

RIGHT = {
    types.TURTLE: cases.TURTLE,
    types.TRIG: cases.TRIG,
    types.N_TRIPLES: cases.N_TRIPLES,
    types.N_QUADS: cases.N_QUADS,
    types.RDF_XML: cases.RDF_XML,
}
WRONG = {
    types.TURTLE: cases.TURTLE_WRONG,
    types.TRIG: cases.TRIG_WRONG,
    types.N_TRIPLES: cases.N_TRIPLES_WRONG,
    types.N_QUADS: cases.N_QUADS_WRONG,
    types.RDF_XML: cases.RDF_XML_WRONG,
}
MEDIA = {
    types.TURTLE: "text/turtle",
    types.TRIG: "application/trig",
    types.N_TRIPLES: "application/n-triples",
    types.N_QUADS: "application/n-quads",
    types.RDF_XML: "application/rdf+xml",
}
NAMESPACES = {"xsd": "http://www.w3.org/2001/XMLSchema#", "rdf": cases.RDF_NAMESPACE}
SHORT = re.compile(r'"(?:[^"\\]|\\.)*"|<(?P<below>[^:>]*)>|\b(?P<prefix>xsd|rdf):(?P<name>\w+)')

right = pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        pytest.param(kind, body, expected, id=f"{kind}: {name}")
        for kind, rows in RIGHT.items()
        for name, (body, expected) in rows.items()
    ],
)
wrong = pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param(kind, body, id=f"{kind}: {name}")
        for kind, rows in WRONG.items()
        for name, body in rows.items()
    ],
)


def encoded(body: str | bytes) -> bytes:
    return body if isinstance(body, bytes) else body.encode()


def read(kind: str, body: str | bytes) -> Transformed:
    return transform(SourceDocument(cases.DOCUMENT, kind, encoded(body)))


def spelled_out(match: re.Match[str]) -> str:
    if match["prefix"]:
        return f"<{NAMESPACES[match['prefix']]}{match['name']}>"
    return match[0] if match["below"] is None else f"<http://a.example/{match['below']}>"


def canonical(quads: list[pyoxigraph.Quad]) -> set[pyoxigraph.Quad]:
    """The statements, each also without its graph, and blank nodes under names that follow from them."""
    merged = [pyoxigraph.Quad(quad.subject, quad.predicate, quad.object) for quad in quads]
    data = pyoxigraph.Dataset(quads + merged)
    data.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(data)


def parsed(text: str) -> list[pyoxigraph.Quad]:
    return list(pyoxigraph.parse(text.encode(), format=pyoxigraph.RdfFormat.N_QUADS))


def wanted(expected: str) -> set[pyoxigraph.Quad]:
    lines = [SHORT.sub(spelled_out, line) + " ." for line in expected.split("\n") if line.strip()]
    return canonical(parsed("\n".join(lines)))


def found(result: Transformed) -> set[pyoxigraph.Quad]:
    """The statements under the graphs' names that the document itself gave them."""
    quads = parsed(result.triples)
    for quad in parsed(result.parts):
        name = unquote(quad.graph_name.value.removeprefix(part_prefix(cases.DOCUMENT)))
        blank = name.startswith("_:")
        graph = pyoxigraph.BlankNode(name[2:]) if blank else pyoxigraph.NamedNode(name)
        quads.append(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object, graph))
    return canonical(quads)


@right
def test_every_document_gives_its_statements(kind: str, body: str | bytes, expected: str) -> None:
    result = read(kind, body)
    assert found(result) == wanted(expected)
    assert not result.notes


@right
def test_every_document_is_known_by_its_media_type(kind: str, body: str | bytes, expected: str) -> None:
    del expected
    assert detect(encoded(body), MEDIA[kind], cases.DOCUMENT).type == kind


@wrong
def test_every_mistake_is_refused(kind: str, body: str | bytes) -> None:
    with pytest.raises(ReadingError):
        read(kind, body)


@pytest.mark.parametrize("kind", RIGHT)
def test_every_syntax_has_many_cases(kind: str) -> None:
    assert len(RIGHT[kind]) >= 28
    assert len(WRONG[kind]) >= 12
    assert len(RIGHT[kind]) + len(WRONG[kind]) >= 40
