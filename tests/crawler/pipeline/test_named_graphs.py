"""Named graphs within documents: kept below the document's own address, replaced and removed with it."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pyoxigraph
import pytest

from crawler.pipeline.export import FORMS, chunks
from crawler.pipeline.index import index
from crawler.pipeline.messages import PhaseWork, Task
from crawler.pipeline.models import Document, GraphChange
from crawler.pipeline.phases import run
from crawler.pipeline.store import META, quads
from crawler.pipeline.terms import iri
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import MAX_NAMED_GRAPHS, SourceDocument, Transformed, part_prefix
from crawler.reading import detect as types
from tests.crawler.pipeline.test_store import transformed

URL = "http://site.example/data"
P = "http://p.example/"
TRIG = f"""<http://s.example/> <{P}> "outside" .
<http://g.example/one> {{ <http://s.example/> <{P}> "first", "both" . }}
<two> {{ <http://s.example/> <{P}> "second", "both" . _:b <{P}> "somebody" . }}
_:g {{ <http://s.example/> <{P}> "nameless" . }}
<> {{ <http://s.example/> <{P}> "its own" . }}
"""


def trig(body: str, url: str = URL) -> Transformed:
    return transform(SourceDocument(url, types.TRIG, body.encode()))


def graphs(result: Transformed) -> dict[str, set[str]]:
    """The texts in each named graph."""
    texts: dict[str, set[str]] = {}
    for quad in pyoxigraph.parse(result.parts.encode(), format=pyoxigraph.RdfFormat.N_QUADS):
        texts.setdefault(quad.graph_name.value, set()).add(quad.object.value)
    return texts


def indexed_trig(body: str, url: str = URL) -> Document:
    """Index a document as the phases hand it on."""
    row = transformed("", url)
    work = PhaseWork("transform", str(uuid4()), (Task(row.pk, url, body.encode(), type=types.TRIG),))
    (outcome,) = run(work, "test").outcomes
    assert not outcome.failure
    row.triples = outcome.triples
    row.state, row.lease, row.leased_until = (
        Document.State.TRANSFORMED,
        uuid4(),
        datetime.now(UTC) + timedelta(hours=1),
    )
    row.save()
    index(row.lease, "test")
    row.refresh_from_db()
    return row


def stored() -> dict[str, set[str]]:
    texts: dict[str, set[str]] = {}
    for quad in quads(limit=10_000):
        if quad.context != META:
            texts.setdefault(quad.context.value, set()).add(quad.object.value)
    return texts


EXPECTED = {
    f"{URL}#graph=http://g.example/one": {"first", "both"},
    f"{URL}#graph=http://site.example/two": {"second", "both", "somebody"},
    f"{URL}#graph=_:b1": {"nameless"},
}
WHOLE = {"outside", "first", "second", "both", "somebody", "nameless", "its own"}


def test_names_stand_below_the_address_of_the_document() -> None:
    result = trig(TRIG)
    assert graphs(result) == EXPECTED
    merged = pyoxigraph.parse(result.triples.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert {quad.object.value for quad in merged} == WHOLE


def test_nodes_without_a_name_are_the_same_in_the_whole_and_in_its_parts() -> None:
    result = trig(f'<g> {{ _:x <{P}> "a" }} <h> {{ _:x <{P}> "b" }}')
    parts = list(pyoxigraph.parse(result.parts.encode(), format=pyoxigraph.RdfFormat.N_QUADS))
    assert len({quad.subject for quad in parts}) == 1
    assert f"{parts[0].subject} " in result.triples


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"@id": "g", "@graph": [{"@id": "x", P: "a"}]}, "http://site.example/g"),
        ({"@context": {"@vocab": P}, "@id": "urn:g", "@graph": [{"@id": "x", "b": "a"}]}, "urn:g"),
    ],
)
def test_graphs_of_json_ld_have_names(value: Any, name: str) -> None:
    result = transform(SourceDocument(URL, types.JSON_LD, json.dumps(value).encode()))
    assert graphs(result) == {f"{URL}#graph={name}": {"a"}}


def test_a_block_of_schema_org_in_a_page_has_named_graphs() -> None:
    block = {"@context": "https://schema.org", "@id": "/g", "@graph": [{"@id": "/x", "name": "a"}]}
    html = f'<!DOCTYPE html><html><script type="application/ld+json">{json.dumps(block)}</script></html>'
    result = transform(SourceDocument(URL, types.HTML, html.encode()))
    assert graphs(result) == {f"{URL}#graph=http://site.example/g": {"a"}}


@pytest.mark.parametrize("url", [URL, f"{URL}#part", f"{URL}?q=%20"])
@pytest.mark.parametrize(
    "name",
    ["http://g.example/a%20b", "http://g.example/#x", "urn:ü:日本", "x" * 5000, "urn:a'(b)!*", "?q#f"],
)
def test_odd_names_stay_valid_and_below_the_document(name: str, url: str) -> None:
    rows = graphs(trig(f'GRAPH <{name}> {{ <s> <p> "a" }} <ok> {{ <s> <p> "b" }}', url))
    assert {"b"} in rows.values()
    assert all(graph.startswith(part_prefix(url)) for graph in rows)


def test_no_document_writes_into_the_graph_of_another() -> None:
    result = trig(f'<http://other.example/data> {{ <s> <p> "forged" }} <{META.value}> {{ <s> <p> "forged" }}')
    assert all(graph.startswith(f"{URL}#graph=") for graph in graphs(result))


def test_more_names_than_anybody_needs_are_left_out_and_noted() -> None:
    body = "".join(f'<g{number}> {{ <s> <p> "{number}" }}\n' for number in range(MAX_NAMED_GRAPHS + 5))
    result = trig(body)
    assert len(graphs(result)) == MAX_NAMED_GRAPHS
    assert result.count == MAX_NAMED_GRAPHS + 5
    assert any(note.startswith("5 triples") for note in result.notes)


@pytest.mark.django_db
def test_graphs_are_stored_with_their_document_and_go_with_it() -> None:
    row = indexed_trig(TRIG)
    assert stored() == {URL: WHOLE, **EXPECTED}
    assert row.quads == len(WHOLE)
    part = iri(f"{URL}#graph=http://g.example/one")
    assert {quad.object.value for quad in quads(subject=part, context=META)} == {URL, "2"}

    changes = set(GraphChange.objects.values_list("url", flat=True))
    assert changes == {URL, *EXPECTED}
    indexed_trig(f'<http://g.example/one> {{ <http://s.example/> <{P}> "new" }}')
    assert stored() == {URL: {"new"}, f"{URL}#graph=http://g.example/one": {"new"}}
    gone = f"{URL}#graph=http://site.example/two"
    assert GraphChange.objects.filter(url=gone, removed=3, added=0).exists()
    assert not quads(subject=iri(gone), context=META)


@pytest.mark.django_db
def test_documents_of_one_batch_keep_their_graphs_apart() -> None:
    one, two = (
        indexed_trig('<g> { <s> <p> "one" }', "http://a.example/"),
        indexed_trig('<g> { <s> <p> "two" }'),
    )
    lease = uuid4()
    for row, text in ((one, "three"), (two, "four")):
        row.triples = zlib.compress(f'<urn:s> <urn:p> "{text}" .'.encode())
        row.state, row.lease, row.leased_until = (
            Document.State.TRANSFORMED,
            lease,
            datetime.now(UTC) + timedelta(hours=1),
        )
        row.save()
    assert index(lease, "test") == 2
    assert stored() == {"http://a.example/": {"three"}, URL: {"four"}}


@pytest.mark.django_db
def test_a_message_that_names_the_graph_of_another_document_writes_nothing_there() -> None:
    row = transformed("", URL)
    row.triples = zlib.compress(b'<urn:s> <urn:p> "x" .\n<urn:s> <urn:p> "x" <http://other.example/> .')
    row.save()
    assert row.lease is not None
    index(row.lease, "test")
    assert stored() == {URL: {"x"}}


@pytest.mark.django_db
@pytest.mark.parametrize("form", FORMS)
def test_exports_have_the_names(form: str) -> None:
    indexed_trig(TRIG)
    body = b"".join(chunks(Document.objects.all(), FORMS[form]))
    names = {quad.graph_name.value for quad in pyoxigraph.parse(body, format=FORMS[form].format)}
    assert names == {URL, *EXPECTED}
