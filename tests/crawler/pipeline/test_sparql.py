"""SPARQL: the replica follows the graph, snapshots answer, queries are bounded and only read."""

from __future__ import annotations

import gc
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from crawler.pipeline.models import GraphChange, SavedQuery
from crawler.pipeline.prefixes import PREFIXES, with_prefixes
from crawler.pipeline.sparql.endpoint import wanted
from crawler.pipeline.sparql.n3ql import N3qlError, as_sparql
from crawler.pipeline.sparql.questions import QUESTIONS
from crawler.pipeline.sparql.replica import Replica, lag, set_aside, snapshot, trouble
from crawler.pipeline.sparql.run import QueryAnswer, QueryError, QueryTooLong, ask
from crawler.pipeline.terms import iri
from tests.crawler.pipeline.test_store import URL, indexed, triple
from tests.factories import make_token, make_user

pytestmark = pytest.mark.django_db

JSON = "application/sparql-results+json"
VALUES = "SELECT ?o WHERE { <http://s.example/> <http://p.example/> ?o } ORDER BY ?o"
EVERYTHING = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?p ?o"


@pytest.fixture(autouse=True)
def own_directory(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def replica() -> Replica:
    return Replica()


def answer(query: str, form: str = JSON, **options: Any) -> QueryAnswer:
    newest = snapshot()
    assert newest is not None
    return ask(newest[0], query, [form], **options)


def values(query: str = VALUES) -> list[str]:
    told = json.loads(answer(query).body)
    return [row["o"]["value"] for row in told["results"]["bindings"]]


def test_the_replica_follows_every_change(replica: Replica) -> None:
    assert snapshot() is None
    replica.follow()
    assert values() == []
    indexed("\n".join([triple(1), triple(2)]))
    newest = snapshot()
    assert newest is not None
    assert lag(newest[1]) == 1
    assert values() == [], "the snapshot never changes"
    assert replica.follow() == 1
    assert values() == ["1", "2"]
    indexed("\n".join([triple(2), triple(3)]))
    indexed(triple(9), "http://site.example/other")
    assert replica.follow() == 2
    assert values() == ["2", "3", "9"]
    assert replica.follow() == 0
    newest = snapshot()
    assert newest is not None
    assert lag(newest[1]) == 0


def test_where_graphs_came_from_follows_too(replica: Replica) -> None:
    question = f"SELECT ?o WHERE {{ GRAPH <urn:crawl:meta> {{ <{URL}> <urn:freshet:quads> ?o }} }}"
    indexed(triple(1))
    replica.follow()
    assert values(question) == ["1"]
    indexed("\n".join([triple(1), triple(2)]))
    replica.follow()
    assert values(question) == ["2"]


def test_a_new_process_takes_nothing_over_again() -> None:
    replica = Replica()
    indexed(triple(1))
    indexed(triple(2), "http://site.example/other")
    assert replica.follow() == 2
    del replica
    gc.collect()
    again = Replica()
    assert again.follow() == 0
    indexed(triple(3))
    assert again.follow() == 1
    assert values() == ["2", "3"]


def test_a_process_that_is_killed_goes_on_from_its_last_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    replica = Replica()
    monkeypatch.setattr("crawler.pipeline.sparql.replica.AT_ONCE", 1)
    monkeypatch.setattr("crawler.pipeline.sparql.replica.FLUSH_QUADS", 2)
    for number in range(5):
        indexed(triple(number), f"http://site.example/{number}")
    indexed(triple(9), "http://site.example/0")
    take, taken = Replica._take, []

    def take_three(self: Replica, contexts: list[int]) -> None:
        if len(taken) == 3:
            raise KeyboardInterrupt
        taken.extend(contexts)
        take(self, contexts)

    monkeypatch.setattr(Replica, "_take", take_three)
    with pytest.raises(KeyboardInterrupt):
        replica.follow()
    assert snapshot() is None, "nothing is published before it is whole"
    monkeypatch.setattr(Replica, "_take", take)
    del replica
    gc.collect()
    assert Replica().follow() == 3, "two were on disk"
    assert values() == ["1", "2", "3", "4", "9"]


def test_a_change_that_commits_while_a_long_copy_goes_on_is_taken(replica: Replica) -> None:
    indexed(triple(1))
    indexed(triple(2), "http://site.example/other")
    first, _ = GraphChange.objects.order_by("id")
    GraphChange.objects.filter(pk=first.pk).delete()
    replica.follow()
    assert values() == ["2"]
    now = datetime.now(UTC)
    replica._looked = now - timedelta(hours=1)
    GraphChange.objects.bulk_create([first])
    GraphChange.objects.filter(pk=first.pk).update(at=now - timedelta(minutes=65))
    assert replica.follow() == 1
    assert values() == ["1", "2"]


def test_the_store_is_opened_anew_when_its_process_has_grown(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store, openings = Replica._open, 0

    def counted(replica: Replica) -> None:
        nonlocal openings
        openings += 1
        open_store(replica)

    monkeypatch.setattr(Replica, "_open", counted)
    indexed(triple(1))
    replica.follow()
    indexed(triple(2), "http://site.example/other")
    replica.follow()
    assert not openings
    monkeypatch.setattr("crawler.pipeline.sparql.replica.REOPEN_BYTES", -(2**40))
    indexed(triple(3), "http://site.example/third")
    replica.follow()
    assert openings == 1
    assert values() == ["1", "2", "3"]
    indexed(triple(4))
    replica.follow()
    assert values() == ["2", "3", "4"]


def test_a_store_that_cannot_be_opened_anew_is_opened_later(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(triple(1))
    opened = Replica._open

    def full(replica: Replica) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("crawler.pipeline.sparql.replica.REOPEN_BYTES", -(2**40))
    monkeypatch.setattr(Replica, "_open", full)
    for _ in range(2):
        with pytest.raises(OSError, match="no space"):
            replica.follow()
    monkeypatch.setattr(Replica, "_open", opened)
    replica.follow()
    assert values() == ["1"]


def test_a_replica_that_was_lost_is_built_again(replica: Replica, tmp_path: Path) -> None:
    indexed(triple(1))
    replica.follow()
    fresh = Replica(tmp_path / "another")
    assert fresh.follow() == 1


def spoil(where: str, **values: str) -> None:
    """Change stored terms to what earlier versions let in."""
    settings = ", ".join(f"{name} = %s" for name in values)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE pipeline_term SET {settings} WHERE value = %s", [*values.values(), where])
        assert cursor.rowcount == 1


@pytest.mark.parametrize(
    ("where", "values"),
    [
        ("spoilt", {"lang": "en _:y"}),
        ("spoilt", {"datatype": "no iri"}),
        ("http://spoilt.example/", {"value": "http://[::1"}),
        ("http://spoilt.example/", {"kind": "2"}),
    ],
)
def test_what_was_stored_badly_costs_its_triple_and_is_named(
    replica: Replica, client: Client, where: str, values: dict[str, str]
) -> None:
    indexed("\n".join([triple("good"), triple("spoilt", "http://spoilt.example/")]))
    indexed(triple("neighbour"), "http://site.example/other")
    spoil(where, **values)
    assert replica.follow() == 2
    assert told_by() == ["good", "neighbour"]
    newest = snapshot()
    assert newest is not None
    assert lag(newest[1]) == 0, "it went past the bad one"
    assert set_aside() == [(URL, "1 of its quads were left out: no RDF can hold them")]
    client.force_login(make_user())
    page = client.get("/graph/query/").content.decode()
    assert "1 graph set aside" in page
    assert URL in page
    indexed(triple("new"))
    assert replica.follow() == 1
    assert set_aside() == []
    assert told_by() == ["neighbour", "new"]


def told_by() -> list[str]:
    return values("SELECT ?o WHERE { ?s <http://p.example/> ?o } ORDER BY ?o")


def test_a_graph_without_a_name_is_set_aside(replica: Replica) -> None:
    indexed(triple("good"))
    indexed(triple("neighbour"), "http://site.example/other")
    spoil(URL, value="http://[::1")
    assert replica.follow() == 2
    assert told_by() == ["neighbour"]
    assert set_aside() == [(URL, "its name is no IRI")]
    assert replica.follow() == 0


def test_a_graph_that_the_store_refuses_is_set_aside(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Replica._renew

    def refuse(self: Replica, contexts: list[int]) -> dict[int, str]:
        if iri(URL).key() in contexts:
            raise ValueError("what nobody thought of")
        return whole(self, contexts)

    indexed(triple("good"))
    indexed(triple("neighbour"), "http://site.example/other")
    monkeypatch.setattr(Replica, "_renew", refuse)
    assert replica.follow() == 2
    assert told_by() == ["neighbour"]
    assert set_aside() == [(URL, "ValueError: what nobody thought of")]


def test_a_replica_that_cannot_go_on_says_so_and_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries = []

    def full(self: Replica) -> int:
        tries.append(trouble(datetime.now(UTC)))
        if len(tries) > 1:
            raise KeyboardInterrupt
        raise OSError("no space left")

    monkeypatch.setattr(Replica, "follow", full)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        call_command("sparql_replica")
    assert "no space left" in tries[1]
    monkeypatch.setattr("crawler.pipeline.sparql.replica.is_behind", lambda: True)
    assert "no sign of life" in trouble(datetime.now(UTC) + timedelta(minutes=5))


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_one_that_was_killed_before_it_published_goes_on(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(triple(1))
    monkeypatch.setattr(Replica, "_publish", killed)
    with pytest.raises(KeyboardInterrupt):
        replica.follow()
    monkeypatch.undo()
    assert replica.follow() == 1
    assert GraphChange.objects.count() == 1


def test_the_command_takes_over_once_and_says_when_another_holds_it() -> None:
    indexed(triple(1))
    call_command("sparql_replica", "--once")
    assert values() == ["1"]
    holder = Replica()
    with pytest.raises(CommandError, match="who else has it"):
        call_command("sparql_replica", "--once")
    del holder


@pytest.mark.parametrize(
    ("form", "begin"),
    [
        (JSON, b"{"),
        ("application/sparql-results+xml", b"<?xml"),
        ("text/csv", b"o\r\n1"),
        ("text/tab-separated-values", b"?o\n"),
    ],
)
def test_results_come_in_four_formats(replica: Replica, form: str, begin: bytes) -> None:
    indexed(triple(1))
    replica.follow()
    found = answer(VALUES, form)
    assert found.type == form
    assert found.body.startswith(begin)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ('"=1+1"', "'=1+1"),
        ('"+1"', "'+1"),
        ('"-5"', "'-5"),
        ('"@SUM(A1)"', "'@SUM(A1)"),
        ('" =1+1"', "' =1+1"),
        ('"\\uFF1D1+1"', "'\uff1d1+1"),
        ('"\\t=1"', '"\'\t=1"'),
        ('"\\r=1"', '"\'\r=1"'),
        ('"a;=1"', '"a;=1"'),
        ('"a \\"b\\""', '"a ""b"""'),
        ('"=x"@en', "'=x"),
        ("-5", "-5"),
        ('"=1+1"^^<http://www.w3.org/2001/XMLSchema#integer>', "'=1+1"),
        ('"-5"^^<http://x.example/number>', "'-5"),
        ("<http://x.example/=1>", "http://x.example/=1"),
        ("true", "true"),
    ],
)
def test_no_cell_of_csv_is_a_formula(replica: Replica, value: str, cell: str) -> None:
    replica.follow()
    found = answer(f"SELECT ?o ?none {{ VALUES ?o {{ {value} }} OPTIONAL {{ ?none ?p ?o }} }}", "text/csv")
    assert found.body.decode() == f"o,none\r\n{cell},\r\n"


def test_graphs_yes_and_no_and_cut_answers(replica: Replica) -> None:
    indexed("\n".join([triple(1), triple(2), triple(3)]))
    replica.follow()
    built = answer("CONSTRUCT WHERE { ?s <http://p.example/> ?o }", "text/turtle", rows=2)
    assert (built.type, built.cut, built.body.count(b'"')) == ("text/turtle", True, 4)
    assert json.loads(answer("ASK { <http://s.example/> ?p ?o }").body)["boolean"] is True
    some = answer(VALUES, rows=2)
    assert some.cut
    assert len(json.loads(some.body)["results"]["bindings"]) == 2


def test_named_graphs_are_chosen_by_the_protocol(replica: Replica) -> None:
    indexed(triple(1))
    indexed(triple(2), "http://site.example/other")
    replica.follow()
    found = json.loads(answer(VALUES, default_graphs=["http://site.example/other"]).body)
    assert [row["o"]["value"] for row in found["results"]["bindings"]] == ["2"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT nonsense", "SyntaxError"),
        ("INSERT DATA { <http://a.example/> <http://b.example/> 1 }", "SyntaxError"),
        ("SELECT * WHERE { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * WHERE { service SILENT ?x { ?s ?p ?o } }", "SERVICE"),
        ("#" + "x" * 200_000, "characters"),
    ],
)
def test_what_is_no_reading_question_is_refused(replica: Replica, query: str, words: str) -> None:
    replica.follow()
    with pytest.raises(QueryError, match=words):
        answer(query)


def test_the_word_service_may_stand_in_texts_and_names(replica: Replica) -> None:
    replica.follow()
    answer('SELECT * WHERE { ?s <http://a.example/SERVICE> "a service" } # SERVICE')


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("espana", {"España"}),
        ("ESPAÑA", {"España"}),
        ("harbour wall", {"The harbour wall"}),
        ('"wall harbour"', set()),
        ('"harbour wall"', {"The harbour wall"}),
        ("harb", set()),
        ("harb*", {"The harbour wall"}),
        ("wall or españa", {"The harbour wall", "España"}),
        ("wall -harbour", set()),
        ("港", {"横浜の港"}),
        ("横浜", {"横浜の港"}),
        ("", set()),
        ("***", set()),
        ("की", {"की"}),
        ("का", set()),
        ("x" * 1000, set()),
    ],
)
def test_full_text_within_a_query(replica: Replica, words: str, found: set[str]) -> None:
    indexed("\n".join(triple(text) for text in ("España", "The harbour wall", "横浜の港", "की", "x" * 200)))
    replica.follow()
    query = f"SELECT ?o {{ ?s ?p ?o FILTER(freshet:matches(?o, {json.dumps(words)})) }}"
    assert set(values(with_prefixes(query))) == found


@pytest.mark.parametrize("arguments", ["", "?o", "?s, 'x'", "?o, ?s", "?o, 'x', 'y'"])
def test_a_wrong_call_of_the_search_finds_nothing(replica: Replica, arguments: str) -> None:
    indexed(triple("x"))
    replica.follow()
    assert values(with_prefixes(f"SELECT ?o {{ ?s ?p ?o FILTER(freshet:matches({arguments})) }}")) == []


QL = "@prefix ql: <http://www.w3.org/2004/ql#> .\n@prefix : <http://p.example/> .\n"


def test_n3ql_selects_rows_and_builds_graphs(replica: Replica) -> None:
    indexed("\n".join([triple(1), triple("{ ) #")]))
    replica.follow()
    assert values(f"{QL}[] ql:select (?o) ; # rows\n ql:where {{ ?s <http://p.example/> ?o }} .") == [
        "1",
        "{ ) #",
    ]
    assert values(f'{QL}[] ql:where {{ ?s : "{{ ) #" ; : ?o }} ; ql:select (?o) .') == ["1", "{ ) #"]
    built = answer(f"{QL}[] ql:select {{ ?o :of ?s }} ; ql:where {{ ?s : ?o }} .", "text/turtle")
    assert built.type == "text/turtle"
    built = answer(f"{QL}[] ql:select {{ ?s :has ?o }} ; ql:where {{ ?s : ?o }} .", "application/n-triples")
    assert b"<http://p.example/has>" in built.body


def test_n3ql_is_read_however_it_is_spaced_and_with_prefixes_of_the_page(replica: Replica) -> None:
    indexed(triple(1))
    replica.follow()
    assert values(f"{QL}[] ql:select (?o);ql:where {{?s : ?o}}.") == ["1"]
    pattern = "?s : ?o . FILTER(!BOUND(?x)) OPTIONAL { ?s foaf:name ?x }"
    page = with_prefixes(f"{QL}[] ql:select (?o) ; ql:where {{ {pattern} }} .")
    assert page.startswith("PREFIX foaf:")
    assert values(page) == ["1"]


def test_n3ql_of_quotes_without_end_is_refused_at_once() -> None:
    began = time.process_time()
    with pytest.raises(N3qlError, match="never ends"):
        as_sparql(QL + '"' + r"\"" * 49_000)
    with pytest.raises(N3qlError, match="never ends"):
        as_sparql(QL + '"\n' * 30_000)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("[] ql:select (?o) .", "no ql:where"),
        ("[] ql:where { ?s ?p ?o } .", "no ql:select"),
        ("[] ql:select ?o ; ql:where { ?s ?p ?o } .", "takes a list or a formula"),
        ("[] ql:select (<x>) ; ql:where { ?s ?p ?o } .", "takes variables"),
        ("[] ql:select () ; ql:where { ?s ?p ?o } .", "takes variables"),
        ("[] ql:select (?o) ; ql:where ( ?s ?p ?o ) .", "in braces"),
        ("[] ql:select (?o) ; ql:where { ?s ?p ?o", "never closed"),
        ("[] ql:select (?o) ; ql:where", "takes a list or a formula"),
        ("[] ql:select (?o) ; ql:where { ?s ?p } .", "SyntaxError"),
        ("[] ql:select (?o) ; ql:where { SERVICE <http://127.0.0.1/> { ?s ?p ?o } } .", "SERVICE"),
    ],
)
def test_what_is_no_n3ql_says_why(replica: Replica, query: str, words: str) -> None:
    replica.follow()
    with pytest.raises(QueryError, match=words):
        answer(QL + query)


def test_a_query_without_end_is_ended(replica: Replica) -> None:
    indexed("\n".join(triple(number) for number in range(60)))
    replica.follow()
    with pytest.raises(QueryTooLong):
        answer(
            "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }",
            seconds=1,
        )


def test_the_protocol(replica: Replica, client: Client) -> None:
    assert client.get("/graph/sparql", {"query": VALUES}).status_code == 401
    token = {"Authorization": make_token(make_user())}
    assert client.get("/graph/sparql", {"query": VALUES}, headers=token).status_code == 503
    indexed(triple(1))
    replica.follow()
    found = client.get("/graph/sparql", {"query": VALUES}, headers=token)
    assert (found.status_code, found["Content-Type"]) == (200, f"{JSON}; charset=utf-8")
    assert found["Freshet-Changes-Behind"] == "0"
    csv = client.get("/graph/sparql", {"query": VALUES}, headers=token | {"Accept": "text/csv, */*;q=0.1"})
    assert csv.content == b"o\r\n1\r\n"
    form = client.post("/graph/sparql", {"query": VALUES}, headers=token)
    assert form.status_code == 415, "multipart is not in the protocol"
    body = f"query={VALUES}"
    form = client.post("/graph/sparql", body, content_type="application/x-www-form-urlencoded", headers=token)
    direct = client.post("/graph/sparql", VALUES, content_type="application/sparql-query", headers=token)
    assert form.content == direct.content == found.content
    for query, status in (("", 400), ("SELECT nonsense", 400)):
        assert client.get("/graph/sparql", {"query": query}, headers=token).status_code == status
    other = "http://site.example/other"
    indexed(triple(2), other)
    replica.follow()
    chosen = f"{body}&default-graph-uri={other}"
    for path, content, kind in (
        ("/graph/sparql", chosen, "application/x-www-form-urlencoded"),
        (f"/graph/sparql?default-graph-uri={other}", VALUES, "application/sparql-query"),
        (f"/graph/sparql?{chosen}", "", "application/sparql-query"),
    ):
        if content:
            found = client.post(path, content, content_type=kind, headers=token)
        else:
            found = client.get(path, headers=token)
        assert [row["o"]["value"] for row in found.json()["results"]["bindings"]] == ["2"]
    named = f"query=SELECT ?o {{ GRAPH ?g {{ ?s <http://p.example/> ?o }} }}&named-graph-uri={other}"
    found = client.post(
        "/graph/sparql", named, content_type="application/x-www-form-urlencoded", headers=token
    )
    assert [row["o"]["value"] for row in found.json()["results"]["bindings"]] == ["2"]
    bad = client.post(
        "/graph/sparql",
        f"{body}&default-graph-uri=no iri",
        content_type="application/x-www-form-urlencoded",
        headers=token,
    )
    assert bad.status_code == 400
    update = client.post(
        "/graph/sparql", "update=x", content_type="application/x-www-form-urlencoded", headers=token
    )
    assert update.status_code == 403


def test_accept_headers() -> None:
    assert wanted("text/csv;q=0.5, application/sparql-results+xml") == [
        "application/sparql-results+xml",
        "text/csv",
    ]
    assert wanted("application/json, application/x-turtle") == [JSON, "text/turtle"]
    assert wanted("text/html, */*, text/csv;q=x, text/turtle;q=0") == []


def test_each_kind_of_query_is_answered_in_the_first_format_that_fits(
    replica: Replica, client: Client
) -> None:
    indexed(triple("one"))
    replica.follow()
    client.force_login(make_user())
    accept = {"accept": f"{JSON}, application/ld+json, text/turtle"}
    construct = {"query": "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?o = 'one') }"}
    answer = client.get("/graph/sparql", construct, headers=accept)
    assert answer["Content-Type"] == "application/ld+json; charset=utf-8"
    (node,) = answer.json()
    assert node["http://p.example/"] == [{"@value": "one"}]
    assert client.get("/graph/sparql", {"query": VALUES}, headers=accept)["Content-Type"].startswith(JSON)
    for media in ("text/turtle", "application/n-triples", "application/rdf+xml"):
        answer = client.get("/graph/sparql", construct, headers={"accept": media})
        assert answer["Content-Type"] == f"{media}; charset=utf-8"
        assert b"one" in answer.content
    page = client.get("/graph/query/", construct).content.decode()
    assert "http://p.example/" in page


@pytest.mark.parametrize(
    "media", ["", "text/turtle", "application/ld+json", "application/rdf+xml", "text/html"]
)
def test_the_endpoint_describes_itself(client: Client, media: str) -> None:
    client.force_login(make_user())
    answer = client.get("/graph/sparql", headers={"accept": media})
    assert answer.status_code == 200
    kind = answer["Content-Type"].partition(";")[0]
    assert kind == (media if media not in {"", "text/html"} else "text/turtle")
    triples = {
        (quad.subject.value, quad.predicate.value.rpartition("#")[2], quad.object.value)
        for quad in pyoxigraph.parse(answer.content, format=pyoxigraph.RdfFormat.from_media_type(kind))
        if isinstance(quad.object, pyoxigraph.NamedNode) and isinstance(quad.subject, pyoxigraph.NamedNode)
    }
    endpoint = "http://testserver/graph/sparql"
    assert (endpoint, "endpoint", endpoint) in triples
    assert (endpoint, "resultFormat", "http://www.w3.org/ns/formats/SPARQL_Results_JSON") in triples


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * { ?s foaf:name ?o ; a schema:Person }", ["foaf", "schema"]),
        ("PREFIX foaf: <http://other.example/> SELECT * { ?s foaf:name ?o }", []),
        ('SELECT * { ?s ?p "foaf:name" FILTER(?o = <dct:title>) }', []),
        ("SELECT * { ?foaf:name ex:unknown _:dct }", []),
        ("prefix FOAF: <http://other.example/>\nSELECT * { ?s dct:title 'owl:x' }", ["dct"]),
        ("", []),
    ],
)
def test_usual_prefixes_are_added(query: str, names: list[str]) -> None:
    added = with_prefixes(query)
    assert added.endswith(query)
    assert added.removesuffix(query) == "".join(f"PREFIX {name}: <{PREFIXES[name]}>\n" for name in names)


def test_a_query_is_saved_found_by_others_and_deleted_by_its_author(replica: Replica, client: Client) -> None:
    indexed(triple("one"))
    replica.follow()
    author, other = make_user(), make_user()
    client.force_login(author)
    shown = client.get("/graph/query/", {"query": VALUES}).content.decode()
    assert "Save this query" in shown
    saved = client.post("/graph/query/save/", {"name": "All <values>", "query": VALUES}, follow=True)
    address = SavedQuery.objects.get().get_absolute_url()
    assert saved.request["PATH_INFO"] + "?" + saved.request["QUERY_STRING"] == address
    again = client.post("/graph/query/save/", {"name": "All <values>", "query": VALUES}, follow=True)
    assert "There is a saved query with this name." in again.content.decode()
    assert client.post("/graph/query/save/", {"name": "", "query": ""}).status_code == 302
    assert SavedQuery.objects.count() == 1
    client.force_login(other)
    page = client.get(address).content.decode()
    assert "All &lt;values&gt;" in page
    assert "1 row" in page
    delete = f"/graph/query/{SavedQuery.objects.get().pk}/delete/"
    assert client.post(delete).status_code == 403
    client.force_login(author)
    client.post(delete)
    assert not SavedQuery.objects.exists()
    client.post("/undo/", {"token": client.session["undo"]["token"]})
    assert (SavedQuery.objects.get().query, SavedQuery.objects.get().author) == (VALUES, author)
    assert client.get("/graph/query/?saved=999").status_code == 404


def test_saved_queries_in_the_api(client: Client) -> None:
    author = make_user()
    client.force_login(author)
    made = client.post("/api/saved-queries/", {"name": "mine", "query": "ASK {}"}).json()
    assert (made["author"], made["query"]) == (author.username, "ASK {}")
    assert client.post("/api/saved-queries/", {"name": "mine", "query": "ASK {}"}).status_code == 400
    client.force_login(make_user())
    assert client.get("/api/saved-queries/").json()["results"] == [made]
    assert client.delete(f"/api/saved-queries/{made['id']}/").status_code == 403
    client.force_login(make_user(staff=True))
    assert client.delete(f"/api/saved-queries/{made['id']}/").status_code == 204


def test_the_page_asks_shows_and_explains(replica: Replica, client: Client) -> None:
    assert client.get("/graph/query/").status_code == 302
    client.force_login(make_user())
    assert "no snapshot yet" in client.get("/graph/query/").content.decode()
    indexed(triple("<b>one</b>"))
    replica.follow()
    page = client.get("/graph/query/", {"query": VALUES}).content.decode()
    assert "1 row" in page
    assert "&lt;b&gt;one&lt;/b&gt;" in page
    assert "SyntaxError" in client.get("/graph/query/", {"query": "SELECT"}).content.decode()
    assert "yes" in client.get("/graph/query/", {"query": "ASK {}"}).content.decode()
    for key in QUESTIONS:
        assert client.get("/graph/query/", {"example": key}).status_code == 200
