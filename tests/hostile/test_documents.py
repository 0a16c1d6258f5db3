"""No document and no query harms another: every poison in every kind of document, among healthy neighbours.

A kind or a poison is one line. Each document goes through all phases in one batch with its neighbours; it
ends as done or as a dead letter with a name, after a bounded number of attempts, and leaves nothing behind
that the replica for SPARQL cannot read.
"""

from __future__ import annotations

import hashlib
import html
import json
import time
import uuid
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from crawler.engine.models import Host
from crawler.frontier.models import Body
from crawler.pipeline import phases
from crawler.pipeline.documents import LEASE_SECONDS, lease, settle, sweep, work
from crawler.pipeline.index import index
from crawler.pipeline.inline import work_off
from crawler.pipeline.messages import Done, PhaseOutcome, PhaseWork, Task
from crawler.pipeline.models import Document
from crawler.pipeline.sparql.replica import Replica, lag, set_aside, snapshot
from crawler.pipeline.sparql.run import QueryError, ask
from crawler.pipeline.store import quads
from crawler.pipeline.terms import iri
from crawler.text.keys import digest

NOW = datetime(2026, 11, 1, tzinfo=UTC)
HEALTHY = b"<!DOCTYPE html><html><head><title>healthy</title></head><body><p>x</p></body></html>"
NAMES = {"unsupported-type", "malformed", "too-large", "too-deep", "entities", "lost", "error"}

POISONS = {
    "NUL": "a\x00b",
    "control characters": "".join(map(chr, range(1, 32))) + "\x7f\x85",
    "lone surrogates as escapes": "\\ud800 &#xD800; \\udfff",
    "numbers of control characters": "&#0;&#1;&#x1f;&#xFFFE;",
    "signs beyond the first plane": "\U0001f600" * 1_000,
    "no characters": "\ufffe\uffff\ufdd0\U0010ffff",
    "300,000 characters": "x" * 300_000,
    "300,000 quotes": '"' * 300_000,
    "300,000 backslashes": "\\" * 300_000,
    "a blank node": "What is _:b0 .",
    "a language": 'say "@en _:y',
    "a datatype": '"^^<no iri> .',
    "brackets": "[ ( { <<( " * 300,
    "angles": "<a><b></c> <!-- ]]> <![CDATA[",
    "a formula": '=HYPERLINK("http://x.example/")',
    "turned round": "\u202e\u2066\u200f",
    "end of lines": "a\r\nb\rc\u2028d\x0be\x0cf",
    "entities": "&lt;!ENTITY a 'b'&gt; &a; &nbsp; &#99999999;",
    "half an escape": "\\u00 \\U0011FFFF %zz % %%",
}  # fmt: skip
BYTES = {
    "bad UTF-8": b"\xff\xfe\xed\xa0\x80\xc0\x80",
    "half of a gzip": b"\x1f\x8b\x08\x00",
    "nothing": b"",
    "data": bytes(range(256)) * 8,
}

KINDS: dict[str, tuple[str, Callable[[str], str]]] = {
    "page": (
        "text/html",
        lambda x: f"<!DOCTYPE html><html lang='{q(x)}'><title>{q(x)}</title><p>{x}</p></html>",
    ),
    "meta": (
        "text/html",
        lambda x: f"<html><meta name='{q(x)}' content='{q(x)}'><a href='{q(x)}'>{q(x)}</a>",
    ),
    "microdata": (
        "text/html",
        lambda x: (
            f"<div itemscope itemid='{q(x)}' itemtype='http://{q(x)} {q(x)}://'>"
            f"<b itemprop='http://{q(x)} {q(x)}'>{q(x)}</b></div>"
        ),
    ),
    "block": (
        "text/html",
        lambda x: (
            f"<html><script type='application/ld+json'>{{\"@context\": "
            f'{{"@vocab": {j(x)}, "@base": {j(x)}}}, {j(x)}: {j(x)}}}</script>'
        ),
    ),
    "rss": (
        "application/rss+xml",
        lambda x: (
            f"<rss version='2.0'><channel><title>{q(x)}</title><item><title>"
            f"{x}</title><link>{q(x)}</link><guid>{q(x)}</guid><pubDate>{q(x)}"
            f"</pubDate><enclosure url='{q(x)}' type='{q(x)}'/></item></channel></rss>"
        ),
    ),
    "atom": (
        "application/atom+xml",
        lambda x: (
            f"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='{q(x)}'>"
            f"<entry xml:lang='{q(x)}'><id>{q(x)}</id><title>{q(x)}</title>"
            f"<link href='{q(x)}'/></entry></feed>"
        ),
    ),
    "rss 1.0": (
        "application/rdf+xml",
        lambda x: (
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
            "xmlns='http://purl.org/rss/1.0/'><item rdf:about='"
            f"{q(x)}'><title>{q(x)}</title></item></rdf:RDF>"
        ),
    ),
    "json feed": (
        "application/feed+json",
        lambda x: (
            '{"version": "https://jsonfeed.org/version/1.1", "title": '
            f'{j(x)}, "items": [{{"id": {j(x)}, "url": {j(x)}, "title": {j(x)}}}]}}'
        ),
    ),
    "json-ld": (
        "application/ld+json",
        lambda x: (
            f'{{"@id": {j(x)}, "@type": {j(x)}, "http://p.example/": '
            f'[{j(x)}, {{"@value": {j(x)}, "@language": {j(x)}}}]}}'
        ),
    ),
    "rdf": (
        "application/rdf+xml",
        lambda x: (
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
            f"xmlns:p='http://p.example/'><rdf:Description rdf:about='{q(x)}'>"
            f"<p:p xml:lang='{q(x)}'>{q(x)}</p:p><p:p rdf:nodeID='{q(x)}'/>"
            "</rdf:Description></rdf:RDF>"
        ),
    ),
    "turtle": ("text/turtle", lambda x: f'<> <http://p.example/> """{x}""" , {j(x)} , <{x}> .'),
    "n-triples": (
        "application/n-triples",
        lambda x: f"<http://s.example/> <http://p.example/> {j(x)} .\n<{x}> <http://p.example/> _:{x} .\n{x}",
    ),
    "n-quads": (
        "application/n-quads",
        lambda x: (
            f"<http://s.example/> <http://p.example/> {j(x)} <{x}> .\n"
            f'<http://s.example/> <http://p.example/> "x"@{x} _:g .'
        ),
    ),
    "opml": ("text/x-opml", lambda x: f"<opml><body><outline text='{q(x)}' xmlUrl='{q(x)}'/></body></opml>"),
    "sitemap": (
        "application/xml",
        lambda x: f"<urlset><url><loc>{q(x)}</loc><lastmod>{q(x)}</lastmod></url></urlset>",
    ),
    "xml": ("application/xml", lambda x: f"<unknown a='{q(x)}'>{x}</unknown>"),
    "json": ("application/json", lambda x: f"{{{j(x)}: {j(x)}}}"),
    "text": ("text/plain", lambda x: x),
}

DEEP = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:p='http://p.example/'>"
DOCUMENTS: dict[str, tuple[str, bytes]] = {
    # What once took minutes, all of the memory, or the whole process with it.
    "triples in triples": ("text/turtle", b"<urn:a> <urn:b> " + b"<<( <urn:a> <urn:b> " * 100_000),
    "triples in triples, in lines": (
        "application/n-triples",
        b"<urn:a> <urn:b> " + b"<<( <urn:a> <urn:b> " * 100_000,
    ),
    "deep RDF": ("application/rdf+xml", DEEP.encode() + b"<rdf:Description><p:p>" * 100_000),
    "deep Turtle": ("text/turtle", b"<urn:a> <urn:b> " + b"[ <urn:p> (" * 50_000),
    "deep JSON": ("application/ld+json", b'[{"@id":' * 100_000),
    "deep feed": (
        "application/feed+json",
        b'{"version":"https://jsonfeed.org/version/1","items":' + b"[" * 100_000,
    ),
    "deep list": ("text/x-opml", b"<opml><body>" + b"<outline xmlUrl='http://a.example/'>" * 50_000),
    "deep page": ("text/html", b"<html>" + b"<div itemscope itemprop=x>" * 20_000),
    "broad page": ("text/html", b"<title>T</title>" + b"<div>" * 200 + b"<p>word</p>" * 20_000),
    "items that name all others": (
        "text/html",
        b"<title>T</title>"
        + b"<div itemscope itemref='a b c d'></div>" * 2_000
        + b"".join(b"<b id=%c>" % name + b"<i itemprop=x>y</i>" * 500 + b"</b>" for name in b"abcd"),
    ),
    "a base in every element": (
        "application/atom+xml",
        b"<feed xmlns='http://www.w3.org/2005/Atom'>"
        + b"<a xml:base='x/'>" * 200
        + b"<link href='y'/>" * 10_000
        + b"</a>" * 200
        + b"</feed>",
    ),
    "a base of 400,000 characters": (
        "application/atom+xml",
        b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a.example/"
        + b"x/" * 200_000
        + b"'>"
        + b"<entry><link href='y'/></entry>" * 1_000
        + b"</feed>",
    ),
    "blocks without end": (
        "text/html",
        b"<title>T</title>" + b"<script type='application/ld+json'>{}</script>" * 9_000,
    ),
    "entities in entities": (
        "application/rdf+xml",
        b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>"
        + b"".join(b"<!ENTITY %c '%s'>" % (name + 1, b"&%c;" % name * 10) for name in range(97, 107))
        + b"]>"
        + DEEP.encode()
        + b"<rdf:Description><p:p>&k;</p:p></rdf:Description></rdf:RDF>",
    ),
    "bad lines": ("application/n-triples", b"bad line\n" * 50_000 + b"<urn:a> <urn:b> <urn:c> .\n"),
}


def q(text: str) -> str:
    """In an attribute or an element, but for references, which stay as they are."""
    return html.escape(text).replace("&amp;", "&")


def j(text: str) -> str:
    return json.dumps(text).replace("\\\\ud", "\\ud").replace("</", "<\\/")


@pytest.fixture(autouse=True)
def own_directory(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM pipeline_quad; DELETE FROM pipeline_term")


def stored(name: str, body: bytes, content_type: str) -> Document:
    """A document that waits for detect."""
    url = f"http://site.example/{name.replace(' ', '-')}"
    host, _ = Host.objects.get_or_create(name="site.example")
    key = uuid.UUID(bytes=hashlib.sha256(body).digest()[:16])
    Body.objects.get_or_create(digest=key, defaults={"content": zlib.compress(body), "size": len(body)})
    return Document.objects.create(
        key=digest(url),
        url=url,
        host=host,
        source="address",
        fetched=NOW,
        body_id=key,
        content_type=content_type,
    )


def neighbours_are_well() -> None:
    for name in ("first", "last"):
        row = Document.objects.get(url=f"http://site.example/{name}")
        assert (row.state, row.failure) == ("done", "")
        (title,) = quads(iri(row.url), iri("http://purl.org/dc/terms/title"))
        assert title.object.value == "healthy"


def every_one_has_ended() -> None:
    for row in Document.objects.all():
        assert row.state in {"done", "dead"}, row.url
        assert (row.state == "dead") == bool(row.failure and row.failed_phase), row.url
        assert row.failure in NAMES | {""}, (row.url, row.detail)
        assert not row.detail.startswith(("TypeError", "AttributeError", "DataError", "Unicode")), row.detail


def the_replica_has_all() -> None:
    Replica().follow()
    newest = snapshot()
    assert newest is not None
    assert (lag(newest[1]), set_aside()) == (0, [])
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pipeline_quad")
        assert cursor.fetchone() == (newest[1].quads,)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", KINDS)
def test_every_poison_in_every_kind_of_document(kind: str) -> None:
    content_type, made = KINDS[kind]
    stored("first", HEALTHY, "text/html")
    for name, text in POISONS.items():
        stored(name, made(text).encode("utf-8", "surrogatepass"), content_type)
    for name, raw in BYTES.items():
        stored(name, made("POISON").encode().replace(b"POISON", raw), content_type)
    stored("last", HEALTHY, "text/html")
    began = time.process_time()
    work_off()
    assert time.process_time() - began < 60
    neighbours_are_well()
    every_one_has_ended()
    the_replica_has_all()


@pytest.mark.django_db(transaction=True)
def test_documents_that_once_ended_the_process_or_took_for_ever() -> None:
    stored("first", HEALTHY, "text/html")
    for name, (content_type, body) in DOCUMENTS.items():
        stored(name, body, content_type)
    stored("last", HEALTHY, "text/html")
    began = time.process_time()
    work_off()
    assert time.process_time() - began < 60
    neighbours_are_well()
    every_one_has_ended()
    the_replica_has_all()


class Panic(BaseException):
    """As Oxigraph raises it where its own code is wrong."""


Panic.__name__ = "PanicException"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "fault", [Panic("no"), OSError("no"), UnicodeError("\ud800\x00"), AssertionError("no")]
)
@pytest.mark.parametrize("phase", ["detect", "transform"])
def test_a_fault_that_nobody_thought_of_is_kept_to_its_document(
    phase: str, fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = getattr(phases, phase)

    def broken(given: Any, *rest: Any, **options: Any) -> Any:
        if b"poison" in (given if isinstance(given, bytes) else given.body):
            raise fault
        return whole(given, *rest, **options)

    monkeypatch.setattr(phases, phase, broken)
    for name, body in (("first", HEALTHY), ("bad", b"<html>poison"), ("last", HEALTHY)):
        stored(name, body, "text/html")
    work_off()
    neighbours_are_well()
    dead = Document.objects.get(state="dead")
    assert (dead.failed_phase, dead.failure, dead.losses) == (phase, "error", 0)
    assert dead.detail.startswith(f"{type(fault).__name__}: ")


@pytest.mark.django_db(transaction=True)
def test_triples_that_no_store_takes_cost_their_document_alone() -> None:
    for name in ("first", "bad", "worse", "last"):
        stored(name, HEALTHY, "text/html")
    Document.objects.update(state="transformed", triples=zlib.compress(b'<urn:a> <urn:b> "c" .'))
    Document.objects.filter(url__endswith="/bad").update(triples=zlib.compress(b"no triple\n" * 9))
    Document.objects.filter(url__endswith="/worse").update(url="http://[::1")
    (row, *_) = lease("index", datetime.now(UTC))
    assert row.lease is not None
    assert index(row.lease, "w") == 4
    states = sorted(Document.objects.values_list("state", "failure"))
    assert states == [("dead", "malformed")] * 2 + [("indexed", "")] * 2


@pytest.mark.django_db(transaction=True)
def test_a_graph_that_the_database_refuses_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from crawler.pipeline import index as module  # noqa: PLC0415 - the function of this name hides it

    for name in ("first", "bad", "last"):
        stored(name, HEALTHY, "text/html")
    whole = module._replace  # type: ignore[attr-defined]

    def refuse(rows: Any, graphs: Any) -> None:
        whole(rows, graphs)
        if any(row.url.endswith("/bad") for row in rows):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 / 0")

    monkeypatch.setattr(module, "_replace", refuse)
    work_off()
    neighbours_are_well()
    dead = Document.objects.get(state="dead")
    assert (dead.failed_phase, dead.failure) == ("index", "error")
    assert "division by zero" in dead.detail


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("phase", ["detect", "transform"])
def test_a_slow_document_costs_its_neighbours_no_more_than_time(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "slow", "last"):
        stored(name, HEALTHY, "text/html")
    if phase == "transform":
        Document.objects.update(state="detected", type="html")
    now = datetime.now(UTC)
    (batch,) = work(phase, lease(phase, now))
    clock = [now.timestamp()]
    whole = phases._timed

    def slow(one: Any, task: Task) -> PhaseOutcome:
        clock[0] += LEASE_SECONDS - 10 if task.url.endswith("slow") else 1
        return whole(one, task)

    with monkeypatch.context() as patch:
        patch.setattr(phases.time, "time", lambda: clock[0])
        patch.setattr(phases, "_timed", slow)
        done = phases.run(batch, "w")
    assert settle(done) == 2, "the first and the slow one, while the lease holds"
    sweep(now + timedelta(seconds=LEASE_SECONDS + 1))
    work_off()
    neighbours_are_well()


@pytest.mark.django_db(transaction=True)
def test_messages_that_are_late_double_or_forged_change_nothing() -> None:
    row = stored("first", HEALTHY, "text/html")
    stored("last", HEALTHY, "text/html")
    (batch,) = work("detect", lease("detect", datetime.now(UTC)))
    done = phases.run(batch, "w")
    forged = PhaseOutcome(row.pk, type="x" * 500, reason="\x00", notes=("\x00",), transformer="\x00" * 500)
    assert settle(Done("detect", str(uuid.uuid4()), "w", (forged,))) == 0, "no lease"
    assert settle(Done("detect", batch.lease, "w", (*done.outcomes, PhaseOutcome(10**9)))) == 2
    assert settle(done) == 0, "double"
    (again,) = work("transform", lease("transform", datetime.now(UTC)))
    sweep(datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS + 1))
    assert settle(phases.run(again, "w")) == 0, "late"
    work_off()
    neighbours_are_well()


@pytest.mark.django_db(transaction=True)
def test_words_of_a_failure_may_be_anything() -> None:
    row = stored("first", HEALTHY, "text/html")
    (batch,) = work("detect", lease("detect", datetime.now(UTC)))
    wild = "\x00\ud800" + "x" * 5_000
    assert (
        settle(Done("detect", batch.lease, "w", (PhaseOutcome(row.pk, wild, wild, type=wild, reason=wild),)))
        == 1
    )
    row.refresh_from_db()
    assert (row.state, len(row.failure), len(row.detail)) == ("dead", 20, 1_000)


QUERIES = [
    "SELECT * { ?s ?p 'a\x00b' }",
    "\x00",
    "\ud800",
    "SELECT * { ?s ?p '\ud800' }",
    "x" * 100_000,
    "(" * 90_000,
    "SELECT * {" + "{" * 90_000,
    "SELECT * { FILTER" + "(" * 45_000 + "1" + ")" * 45_000 + " }",
    "[" * 99_000,
    "SELECT * { ?s " + "(" * 40_000 + "<urn:a>" + ")" * 40_000 + " ?o }",
    "<<(" * 30_000,
    "SELECT * { " + "<<" * 40_000,
    "SELECT * { BIND(" + "!" * 90_000 + "true AS ?x) }",
    "SELECT * {" + "OPTIONAL {" * 9_000 + "}" * 9_001,
    "SELECT * {" + "{SELECT * " * 9_000,
    "SELECT (CONCAT(" + "'x'," * 20_000 + "'') AS ?x) {}",
    "SELECT * { FILTER(REGEX('" + "a" * 50_000 + "', '(a*)*(a*)*b')) }",
    "SELECT (REPLACE(REPLACE('"
    + "x" * 9_000
    + "','x','"
    + "y" * 9_000
    + "'),'y','"
    + "z" * 9_000
    + "') AS ?z) {}",
    "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r . ?t ?u ?v }",
    "CONSTRUCT { ?a ?b ?c } WHERE { ?a ?x ?y . ?z ?b ?w . ?v ?u ?c . ?q ?r ?s }",
    "SELECT * { ?s (<urn:a>|!<urn:b>)* ?o }",
]


@pytest.mark.django_db(transaction=True)
def test_every_query_ends_and_the_next_is_answered() -> None:
    for number in range(60):
        stored(f"page{number}", HEALTHY, "text/html")
    work_off()
    Replica().follow()
    newest = snapshot()
    assert newest is not None
    for query in QUERIES:
        began = time.monotonic()
        try:
            assert len(ask(newest[0], query, ["text/csv"], seconds=2, rows=10).body) < 10_000_000
        except QueryError as error:
            assert str(error)
        assert time.monotonic() - began < 20, query[:100]
    assert (
        b"healthy"
        in ask(newest[0], "SELECT ?o { ?s ?p ?o FILTER(?o = 'healthy') } LIMIT 1", ["text/csv"]).body
    )


@pytest.mark.django_db
def test_a_batch_that_is_over_is_worked_on_no_further() -> None:
    tasks = tuple(Task(number, "http://site.example/", HEALTHY) for number in range(3))
    done = phases.run(PhaseWork("detect", str(uuid.uuid4()), tasks, expires=time.time() - 1), "w")
    assert len(done.outcomes) == 1
