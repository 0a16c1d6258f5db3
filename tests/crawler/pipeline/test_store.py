"""The graph in PostgreSQL: keys, replacement as a whole, the sixteen patterns, what readers see."""

from __future__ import annotations

import threading
import uuid
import zlib
from datetime import UTC, datetime
from itertools import combinations, product
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from crawler.engine.models import Host
from crawler.pipeline import graph_search as asking
from crawler.pipeline import store
from crawler.pipeline.export import FORMS, chunks
from crawler.pipeline.index import index
from crawler.pipeline.models import Document, GraphChange
from crawler.pipeline.store import META, Keys, find_key, pattern_sql, quads
from crawler.pipeline.terms import Kind, Term, iri, parse_term
from crawler.text.keys import digest

URL = "http://site.example/page"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def transformed(triples: str, url: str = URL) -> Document:
    """A document that waits for index, under a lease."""
    host = Host.objects.get_or_create(name="site.example")[0]
    values = {
        "host": host, "url": url, "source": "address", "fetched": NOW, "state": "transformed", "type": "html",
        "triples": zlib.compress(triples.encode()), "lease": uuid.uuid4(), "sha256": "0" * 64,
    }  # fmt: skip
    return Document.objects.update_or_create(key=digest(url), defaults=values)[0]


def indexed(triples: str, url: str = URL) -> Document:
    row = transformed(triples, url)
    assert row.lease is not None
    assert index(row.lease, "test") == 1
    row.refresh_from_db()
    return row


def lines(url: str = URL) -> set[str]:
    documents = Document.objects.filter(url=url)
    return set(b"".join(chunks(documents, FORMS["nq"])).decode().splitlines(keepends=True))


def triple(value: object, subject: str = "http://s.example/") -> str:
    return f'<{subject}> <http://p.example/> "{value}" .'


@given(st.text(), st.sampled_from(["", "en", "de-CH"]))
def test_terms_read_back_as_they_were_written(value: str, lang: str) -> None:
    term = Term(Kind.LITERAL, value.encode("utf-8", "replace").decode(), lang)
    assert parse_term(term.n3()) == term
    assert term.key() == parse_term(term.n3()).key()


@pytest.mark.parametrize("text", ["", "x", "<a", '"a', "_:", '"a"^^b', '"a"x'])
def test_what_is_no_term_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no term"):
        parse_term(text)


@pytest.mark.django_db
def test_a_graph_is_replaced_as_a_whole_and_every_change_is_logged() -> None:
    first = indexed("\n".join([triple(1), triple(2)]))
    assert (first.state, first.quads, first.version, bytes(first.triples)) == ("indexed", 2, 1, b"")
    second = indexed("\n".join([triple(2), triple(3)]))
    assert (second.quads, second.version) == (2, 2)
    assert {line.split('"')[1] for line in lines()} == {"2", "3"}
    changes = GraphChange.objects.order_by("id").values_list("version", "added", "removed")
    assert list(changes) == [(1, 2, 0), (2, 1, 1)]


@pytest.mark.django_db
def test_the_same_graph_again_changes_nothing() -> None:
    indexed(triple(1))
    before = lines()
    again = indexed(triple(1))
    assert again.version == 1
    assert lines() == before
    assert GraphChange.objects.count() == 1


@pytest.mark.django_db
def test_a_batch_whose_lease_is_over_changes_nothing() -> None:
    row = transformed(triple(1))
    assert index(uuid.uuid4(), "late") == 0
    assert not lines()
    row.refresh_from_db()
    assert row.state == "transformed"


@pytest.mark.django_db
def test_where_a_graph_came_from_is_told_in_one_graph_of_its_own() -> None:
    indexed(triple(1))
    told = {quad.predicate.value: quad.object for quad in quads(iri(URL), context=META)}
    assert told["http://www.w3.org/ns/prov#generatedAtTime"].value == "2026-11-01T00:00:00Z"
    assert told["urn:freshet:quads"].value == "1"
    assert told["urn:freshet:sha256"].value == "0" * 64
    indexed("\n".join([triple(1), triple(2)]))
    (count,) = quads(iri(URL), iri("urn:freshet:quads"), context=META)
    assert count.object.value == "2"


@pytest.mark.django_db
def test_blank_nodes_of_two_documents_are_never_the_same() -> None:
    indexed('_:b0 <http://p.example/> "x" .')
    indexed('_:b0 <http://p.example/> "x" .', "http://site.example/other")
    found = quads(predicate=iri("http://p.example/"))
    assert len({quad.subject for quad in found}) == 2
    assert all(quad.subject.kind == Kind.BLANK for quad in found)


@pytest.mark.django_db
def test_terms_with_one_key_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Term.keys
    monkeypatch.setattr(
        Term, "keys", lambda term, salt=0: (7, whole(term)[1]) if salt == 0 else whole(term, salt)
    )
    one, other, third = (iri(f"http://{name}.example/") for name in ("a", "b", "c"))
    for terms in ([one, other], [third, one]):
        keys = Keys()
        keys.add(terms)
        keys.save()
    found = [find_key(term) for term in (one, other, third)]
    assert found[0] == 7
    assert len(set(found)) == 3
    assert store.read_terms({key for key in found if key is not None}).keys() == set(found)


@pytest.mark.django_db
def test_all_sixteen_patterns_find_what_a_look_at_every_quad_finds() -> None:
    texts = [
        f"<http://s{s}.example/> <http://p.example/{p}> <http://o.example/{s * p}> ."
        for s in range(3)
        for p in range(3)
    ]
    for number in range(2):
        indexed("\n".join(texts[number:]), f"http://site.example/{number}")
    every = quads(limit=10_000)
    sample = next(
        quad for quad in every if quad.subject.value == "http://s1.example/" and "site" in quad.context.value
    )
    terms = (sample.subject, sample.predicate, sample.object, sample.context)
    for mask in product([False, True], repeat=4):
        asked = [term if wanted else None for term, wanted in zip(terms, mask, strict=True)]
        found = quads(*asked, limit=10_000)
        expected = [
            quad
            for quad in every
            if all(
                want is None or want == got
                for want, got in zip(
                    asked, (quad.subject, quad.predicate, quad.object, quad.context), strict=True
                )
            )
        ]
        assert sorted(map(str, found)) == sorted(map(str, expected)), mask


PATTERNS = ["".join(names) for size in range(1, 5) for names in combinations("spoc", size)]


@pytest.mark.django_db
@pytest.mark.parametrize("bound", PATTERNS)
def test_every_pattern_is_answered_by_one_index_alone(bound: str) -> None:
    statement, parameters = pattern_sql(*(5 if name in bound else None for name in "spoc"))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pipeline_quad SELECT n % 997, n % 23, n % 1009, n % 101"
            " FROM generate_series(1, 20000) AS n"
        )
        cursor.execute("ANALYZE pipeline_quad")
        # A small table fits in a few pages, so that reading all of it could be cheapest here.
        cursor.execute("SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
        (plan,) = cursor.fetchone()[0]
    scans = leaves(plan["Plan"])
    assert len({scan["Index Name"].rstrip("0123456789") for scan in scans}) <= store_parts(bound), plan
    for scan in scans:
        assert scan["Node Type"] in {"Index Only Scan", "Index Scan"}
        assert "Filter" not in scan
        assert all(f"({name} = " in scan["Index Cond"] for name in bound)


def leaves(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The scans at the bottom of a plan, one of each part of the table that it looks at."""
    return [leaf for one in plan["Plans"] for leaf in leaves(one)] if "Plans" in plan else [plan]


def store_parts(bound: str) -> int:
    """How many parts of the table a pattern may look at: a context lies in one."""
    return 1 if "c" in bound else 4


@pytest.mark.django_db(transaction=True)
def test_readers_see_the_old_graph_or_the_new_one_never_a_mix() -> None:
    sizes = {f"g{n}": "\n".join(triple(f"{n}-{i}") for i in range(200)) for n in range(2)}
    indexed(sizes["g0"])
    mixes: list[set[str]] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT split_part(value, '-', 1), count(*) FROM pipeline_quad"
                    " JOIN pipeline_term ON id = o WHERE c = %s GROUP BY 1",
                    [iri(URL).key()],
                )
                seen = dict(cursor.fetchall())
            if seen not in ({"0": 200}, {"1": 200}):
                mixes.append(set(seen.items()))
        connection.close()

    def write(graph: str) -> None:
        for _ in range(8):
            with transaction.atomic():
                host = Host.objects.get_or_create(name="site.example")[0]
                row = Document.objects.select_for_update().get(key=digest(URL))
                lease = uuid.uuid4()
                Document.objects.filter(pk=row.pk).update(
                    host=host, state="transformed", lease=lease, triples=zlib.compress(sizes[graph].encode())
                )
                index(lease, graph)
        connection.close()

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(name,)) for name in sizes]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    reader.join()
    assert mixes == []
    assert len(lines()) == 200


@pytest.mark.django_db
def test_literals_are_found_in_other_forms_and_without_accents() -> None:
    said = "<http://s.example/> <http://p.example/>"
    literals = ['"El geógrafo de España"@es', '"The geographer"', '"Zwölf Häuser"@de', '"機械学習"@ja']
    indexed("\n".join(f"{said} {literal} ." for literal in literals))
    expected = {
        "geografo": 0, "geógrafos": 0, "espana": 0, "geographers": 1, "zwolf": 2, "Haus": 2, "学習": 3,
    }  # fmt: skip
    for words, place in expected.items():
        values = [hit.quad.object.value for hit in asking.search(words)]
        assert values == [literals[place].split('"')[1]], words
    assert [hit.quad.object.lang for hit in asking.search("-geographer haus")] == ["de"]
