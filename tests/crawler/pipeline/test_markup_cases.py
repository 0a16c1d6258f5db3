"""JSON-LD, RDFa and microdata held to their specifications: a case gives all its triples."""

from __future__ import annotations

import pyoxigraph
import pytest

from crawler.pipeline.transform import microdata
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import Graph, SourceDocument, Transformed, resolved
from crawler.pipeline.transform.rdfa import has_rdfa
from crawler.pipeline.transform.rdfa_child import triples
from crawler.reading import detect as types
from crawler.reading.errors import ReadingError
from crawler.reading.pages.tree import text_of, whole_tree
from tests.crawler.pipeline.markup_cases import ERROR, JSON_LD, MICRODATA, PREFIXES, RDFA, URL, Case

LEAST = 40


def _set(body: str, form: pyoxigraph.RdfFormat) -> set[pyoxigraph.Quad]:
    """Return the triples with blank nodes under names that follow from what is said of them."""
    data = pyoxigraph.Dataset(pyoxigraph.parse(body.encode(), format=form))
    data.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(data)


def _check(found: Transformed, expected: str) -> None:
    wanted = _set(PREFIXES + expected, pyoxigraph.RdfFormat.TURTLE)
    assert _set(found.triples, pyoxigraph.RdfFormat.N_TRIPLES) == wanted


def _markup(body: str) -> bytes:
    """Return a whole page."""
    if not body.startswith("<html"):
        start = '<html prefix="e: http://e.example/"><head><title>T</title></head><body>'
        body = f"{start}{body}</body></html>"
    return f"<!DOCTYPE html>\n{body}".encode()


@pytest.mark.parametrize("case", JSON_LD, ids=[case.name for case in JSON_LD])
def test_every_document_of_json_gives_its_triples(case: Case) -> None:
    document = SourceDocument(URL, types.JSON_LD, case.body.encode())
    if case.expected == ERROR:
        with pytest.raises(ReadingError):
            transform(document)
    else:
        _check(transform(document), case.expected)


@pytest.mark.parametrize("case", RDFA, ids=[case.name for case in RDFA])
def test_every_page_with_rdfa_gives_its_triples(case: Case) -> None:
    body = _markup(case.body)
    assert has_rdfa(SourceDocument(URL, types.HTML, body))
    graph = Graph(URL)
    graph.take_lines(triples(body, URL), pyoxigraph.RdfFormat.N_TRIPLES)
    _check(graph.done("rdfa"), case.expected)


@pytest.mark.parametrize("case", MICRODATA, ids=[case.name for case in MICRODATA])
def test_every_page_with_microdata_gives_its_triples(case: Case) -> None:
    graph = Graph(URL)
    root = whole_tree(text_of(_markup(case.body), "text/html; charset=utf-8"))
    assert root is not None
    microdata.add(root, graph, resolved(URL, str(root.xpath("string(//base/@href)"))))
    _check(graph.done("microdata"), case.expected)


@pytest.mark.parametrize("cases", [JSON_LD, RDFA, MICRODATA], ids=["json-ld", "rdfa", "microdata"])
def test_every_syntax_has_many_cases_under_names_of_their_own(cases: list[Case]) -> None:
    assert len({case.name for case in cases}) == len(cases) >= LEAST
