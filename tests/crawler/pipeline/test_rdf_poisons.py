"""Documents of RDF and queries made to take long: each ends soon, by a name."""

from __future__ import annotations

import json
import time

import pytest

from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading import detect as types
from crawler.reading.errors import ReadingError

MANY = 1_000_000
MAX_SECONDS = 10.0
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/">'
DOCUMENTS = {
    "a million blank nodes": (types.TURTLE, "[] <p> [] .\n" * MANY),
    "a million labels": (types.N_TRIPLES, "".join(f"_:b{n} <http://p/> _:c .\n" for n in range(MANY))),
    "brackets within brackets": (types.TURTLE, "<s> <p> " + "[ <p> " * 300_000 + "1" + " ]" * 300_000 + " ."),
    "lists within lists": (types.TURTLE, "<s> <p> " + "( " * MANY + ") " * MANY + "."),
    "brackets without an end": (types.TRIG, "<g> { <s> <p> " + "(" * MANY),
    "blank nodes of JSON-LD": (types.JSON_LD, json.dumps({"@graph": [{"http://p/": {}}] * 100_000})),
    "many elements": (types.RDF_XML, RDF + "<e:T><e:p/></e:T>" * 300_000 + "</rdf:RDF>"),
    "many attributes": (
        types.RDF_XML, f"{RDF}<e:T {' '.join(f'e:a{n}=' + chr(34) * 2 for n in range(200_000))}/></rdf:RDF>",
    ),
    "a long base written out": (
        types.RDF_XML, f'{RDF}<e:T xml:base="http://a/{"a" * 50_000}/">' + '<e:p xml:base="b/"/>' * 9_000,
    ),
    "bases within bounds, often": (
        types.RDF_XML, f'{RDF}<e:T xml:base="http://a/{"a" * 4_000}/">' + '<e:p xml:base="b/"/>' * 90_000,
    ),
    "a long text in many graphs": (
        types.N_QUADS, "".join(f'<s:> <p:> "{"x" * 60_000}" <g:{n}> .\n' for n in range(900)),
    ),
    "an entity of another file": (
        types.RDF_XML, f'<!DOCTYPE r SYSTEM "x.dtd">{RDF}<e:T rdf:about="&ex;thing"/></rdf:RDF>',
    ),
    "a base that grows": (types.RDF_XML, RDF + '<e:T xml:base="b/"><e:p>' * 3_000 + "</e:p></e:T>" * 3_000),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_made_to_take_long_is_refused_soon(name: str) -> None:
    kind, text = DOCUMENTS[name]
    began = time.process_time()
    with pytest.raises(ReadingError) as refused:
        transform(SourceDocument("http://site.example/", kind, text.encode()))
    assert refused.value.kind in {"too-large", "too-deep", "malformed", "entities"}
    assert time.process_time() - began < MAX_SECONDS


def test_a_triple_in_a_million_graphs_is_read_once() -> None:
    text = "".join(f"<s:> <p:> <o:> _:g{n} .\n" for n in range(MANY))
    began = time.process_time()
    result = transform(SourceDocument("http://site.example/", types.N_QUADS, text.encode()))
    assert time.process_time() - began < MAX_SECONDS
    assert result.count == 1
    assert any("was not read" in note for note in result.notes)


def test_graphs_with_endless_names_are_read_soon() -> None:
    triples = "<s> <p> 1, 2, 3, 4, 5, 6, 7, 8, 9 ."
    text = "".join(f"<http://g/{n}/{'é' * 60_000}> {{ {triples} }}\n" for n in range(100))
    began = time.process_time()
    result = transform(SourceDocument("http://site.example/", types.TRIG, text.encode()))
    assert time.process_time() - began < MAX_SECONDS
    assert result.count == 9
    assert len(result.parts) < 20_000_000


def test_more_prefixes_than_anybody_needs_are_read() -> None:
    text = "".join(f"@prefix p{n}: <http://p.example/{n}/> .\n" for n in range(100_000)) + "p1:s p2:p p3:o ."
    assert transform(SourceDocument("http://site.example/", types.TURTLE, text.encode())).count == 1
