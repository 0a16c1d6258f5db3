"""Crawls led by a query: joins over documents, edited while they run, tried before they are kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from crawler.frontier.crawls import CrawlError, begin, lead_by, tend, tried
from crawler.frontier.models import Crawl
from crawler.pipeline.inline import run_crawl
from crawler.pipeline.leading import lead, led_crawls, may_find_more
from crawler.pipeline.models import CrawlLead, UriFilter
from crawler.pipeline.sparql.replica import Replica
from tests.factories import make_token, make_user
from tests.servers import Reply, WebServer

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "link_queries"),
]

KNOWN = """PREFIX foaf: <http://xmlns.com/foaf/0.1/>
SELECT ?address WHERE { { ?one foaf:knows ?who . ?who foaf:homepage ?address } UNION
                        { ?one foaf:isPrimaryTopicOf ?address } }"""
N3QL = """@prefix ql: <http://www.w3.org/2004/ql#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
[] ql:select (?address); ql:where { ?one foaf:knows ?who . ?who foaf:homepage ?address } ."""
FOAF = b"@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n"


@pytest.fixture(autouse=True)
def own_data(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def site() -> Iterator[WebServer]:
    """Ann's document says whom she knows, another one has everybody's homepages."""
    turtle = {"Content-Type": "text/turtle"}
    with WebServer() as web:
        web.replies |= {
            "/ann": Reply(
                FOAF + b"<#ann> foaf:knows <people#bob>, <people#eve>; foaf:isPrimaryTopicOf <people> .",
                headers=turtle,
            ),
            "/people": Reply(
                FOAF
                + b"<#bob> foaf:homepage <bob> . <#eve> foaf:homepage <eve> . <#zoe> foaf:homepage <zoe> .",
                headers=turtle,
            ),
        }
        for name in ("bob", "eve", "zoe"):
            web.replies[f"/{name}"] = Reply(
                b"<html><title>Home</title><a href='/elsewhere'>on</a></html>",
                headers={"Content-Type": "text/html"},
            )
        yield web


def asked(site: WebServer) -> list[str]:
    return sorted(set(site.paths) - {"/robots.txt"})


def crawled(site: WebServer, query: str = KNOWN, *paths: str) -> Crawl:
    seeds = [site.origin + path for path in paths or ("/ann",)]
    crawl = begin(Crawl(seeds=seeds, into_graph=True, link_query=query))
    run_crawl(crawl, 4, lambda: None)
    crawl.refresh_from_db()
    return crawl


@pytest.mark.parametrize(("query", "seeds", "named"), [(KNOWN, ("/ann",), 3), (N3QL, ("/ann", "/people"), 2)])
def test_a_join_over_documents_names_what_is_fetched(
    site: WebServer, query: str, seeds: tuple[str, ...], named: int
) -> None:
    crawl = crawled(site, query, *seeds)
    assert (crawl.state, crawl.reason) == ("done", "nothing is left to crawl")
    assert asked(site) == ["/ann", "/bob", "/eve", "/people"], "nobody knows Zoe, and no link is followed"
    assert crawl.lead.failure == ""
    assert crawl.lead.course[-1][1] == crawl.lead.found == named
    assert crawl.urls.get(url__endswith="/bob").score == 0.5


def test_the_page_shows_how_far_the_requests_have_brought_it(site: WebServer, client: Client) -> None:
    crawl = crawled(site)
    assert [found for _, found in crawl.lead.course if found] == [1, 3], (
        "first where the homepages are, then whose"
    )
    client.force_login(make_user(staff=True))
    page = client.get(f"/crawls/{crawl.pk}/").content.decode()
    assert 'aria-label="Addresses that the query names, by requests made"' in page


def test_weights_and_rules_on_addresses_hold(site: WebServer) -> None:
    UriFilter.objects.create(pattern="/eve$", allow=False)
    weighted = KNOWN.replace("SELECT ?address", "SELECT ?address ?weight").replace(
        "?who foaf:homepage ?address }", "?who foaf:homepage ?address . BIND(0.25 AS ?weight) }"
    )
    crawl = crawled(site, weighted)
    assert asked(site) == ["/ann", "/bob", "/people"]
    assert crawl.urls.get(url__endswith="/bob").score == 0.25


def test_the_query_is_changed_while_it_runs(site: WebServer) -> None:
    crawl = crawled(site, "SELECT ?address WHERE { ?a <http://x.example/none> ?address }", "/ann", "/people")
    assert asked(site) == ["/ann", "/people"]
    Crawl.objects.filter(pk=crawl.pk).update(state=Crawl.State.RUNNING)
    assert led_crawls() == [crawl.pk]
    assert lead(crawl.pk) == 0, "the graph has not changed"
    lead_by(crawl, KNOWN)
    crawl.refresh_from_db()
    assert may_find_more(crawl, datetime.now(UTC))
    assert lead(crawl.pk) == 2
    assert lead(crawl.pk) == 0
    assert not may_find_more(crawl, datetime.now(UTC))
    assert CrawlLead.objects.get().found == 3


def test_a_query_that_fails_is_named_and_the_crawl_ends(site: WebServer) -> None:
    crawl = crawled(site, "SELECT ?address WHERE { ?a ?b", "/ann")
    assert crawl.state == "done"
    assert crawl.lead.failure


def test_weights_stay_as_the_query_gives_them_however_often_it_is_asked(site: WebServer) -> None:
    crawl = crawled(site, KNOWN, "/ann", "/people")
    Crawl.objects.filter(pk=crawl.pk).update(state=Crawl.State.RUNNING, crawled=100)
    crawl.urls.filter(url__endswith="/bob").update(state="queued", score=0.5)
    for _ in range(3):
        CrawlLead.objects.update(change=-1)
        lead(crawl.pk)
        tend(datetime.now(UTC))
    assert crawl.urls.get(url__endswith="/bob").score == 0.5


def test_a_death_in_the_middle_queues_nothing_and_the_next_asking_all(
    site: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = crawled(site, "SELECT ?address WHERE { ?a <http://x.example/none> ?address }", "/ann", "/people")
    Crawl.objects.filter(pk=crawl.pk).update(state=Crawl.State.RUNNING, link_query=KNOWN)
    with monkeypatch.context() as patch:
        patch.setattr("crawler.pipeline.leading._extended", lambda *_: {}["killed"])
        with pytest.raises(KeyError):
            lead(crawl.pk)
    assert crawl.urls.count() == 2
    assert lead(crawl.pk) == 2


def test_a_message_that_comes_late_or_for_another_crawl_changes_nothing(site: WebServer) -> None:
    crawl = crawled(site, "SELECT ?address WHERE { ?a <http://x.example/none> ?address }", "/ann", "/people")
    Crawl.objects.filter(pk=crawl.pk).update(link_query=KNOWN)
    for state in (Crawl.State.DONE, Crawl.State.CANCELLED, Crawl.State.PAUSED):
        Crawl.objects.filter(pk=crawl.pk).update(state=state)
        assert lead(crawl.pk) == 0
    Crawl.objects.filter(pk=crawl.pk).update(state=Crawl.State.RUNNING, into_graph=False)
    assert lead(crawl.pk) == 0
    assert lead(crawl.pk + 1000) == 0
    assert crawl.urls.count() == 2


def test_an_answer_that_is_hostile_brings_only_addresses_that_may_be_fetched(site: WebServer) -> None:
    given = ("ftp://a.example/", "javascript:alert(1)", "http://u:p@a.example/", "mailto:a@b.example")
    values = " ".join(f"<{address}>" for address in (*given, f"{site.origin}/bob"))
    many = f"""SELECT ?address ?weight WHERE {{ VALUES ?address {{ {values} "http://text.example/" }}
        VALUES ?weight {{ "NaN"^^<http://www.w3.org/2001/XMLSchema#double> -5 "x" }} }}"""
    crawl = crawled(site, many)
    assert asked(site) == ["/ann", "/bob"]
    assert (crawl.lead.failure, crawl.urls.get(url__endswith="/bob").score) == ("", 0.5)
    endless = "SELECT ?address WHERE { " + " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(12)) + " }"
    lead_by(crawl, endless)
    Crawl.objects.filter(pk=crawl.pk).update(state=Crawl.State.RUNNING)
    began = time.monotonic()
    assert lead(crawl.pk) == 0
    assert time.monotonic() - began < 60, "an asking ends after ten seconds or so many rows"
    assert CrawlLead.objects.get().failure or CrawlLead.objects.get().found == 0


def test_a_replica_that_never_comes_holds_a_crawl_for_some_minutes_only(site: WebServer) -> None:
    crawl = crawled(site, "SELECT ?address WHERE { ?a <http://x.example/none> ?address }")
    CrawlLead.objects.update(seen=None)
    assert may_find_more(crawl, datetime.now(UTC))
    assert not may_find_more(crawl, datetime.now(UTC) + timedelta(minutes=6))


def test_a_crawl_without_the_graph_has_no_query() -> None:
    with pytest.raises(CrawlError, match="let the crawl go into the graph"):
        begin(Crawl(seeds=["http://a.example/"], link_query=KNOWN))


def test_it_is_tried_on_what_is_stored(site: WebServer, client: Client) -> None:
    assert tried(KNOWN) == ({}, "there is nothing to ask yet: no document has been read")
    crawl = crawled(site, "SELECT ?address WHERE { ?a <http://x.example/none> ?address }", "/ann", "/people")
    Replica().follow()
    found, why = tried(KNOWN)
    assert (sorted(found), why) == ([f"{site.origin}/{name}" for name in ("bob", "eve", "people")], "")
    assert tried("ASK { ?a ?b ?c }")[1].startswith("the query names no addresses")
    out = StringIO()
    call_command("crawl", "--query", KNOWN, "--try", stdout=out)
    assert f"0.50  {site.origin}/bob" in out.getvalue()
    client.force_login(make_user(staff=True))
    page = client.post("/crawls/start/", {"seeds": "", "link_query": KNOWN, "try": "1"}).content.decode()
    assert "names 3 addresses. Nothing was queued." in page
    assert "?one foaf:knows ?who" in page, "what was written still stands there"
    assert Crawl.objects.count() == 1
    change = f"/crawls/{crawl.pk}/change/"
    page = client.post(change, {"action": "try-query", "link_query": KNOWN}).content.decode()
    assert f"{site.origin}/bob" in page
    client.post(change, {"action": "query", "link_query": "SELECT nothing"})
    crawl.refresh_from_db()
    assert "none" in crawl.link_query, "a query that is none was not kept"
    client.post(change, {"action": "query", "link_query": KNOWN})
    crawl.refresh_from_db()
    assert crawl.link_query.startswith("PREFIX foaf")
    assert "What it follows" in client.get(f"/crawls/{crawl.pk}/").content.decode()


def test_the_api_and_the_command_try_and_change_it(site: WebServer, client: Client) -> None:
    crawl = crawled(site, "SELECT ?address WHERE { ?a <http://x.example/none> ?address }", "/ann", "/people")
    token = {"HTTP_AUTHORIZATION": make_token(make_user(staff=True)), "content_type": "application/json"}
    answer = client.post("/api/crawls/try-query/", {"query": KNOWN}, **token)
    assert {row["url"] for row in answer.json()} == {f"{site.origin}/{n}" for n in ("bob", "eve", "people")}
    assert client.post("/api/crawls/try-query/", {"query": "SELECT"}, **token).status_code == 400
    client.patch(f"/api/crawls/{crawl.pk}/", {"link_query": KNOWN}, **token)
    crawl.refresh_from_db()
    assert crawl.link_query == KNOWN
    refused = client.patch(f"/api/crawls/{crawl.pk}/", {"link_query": "SELECT"}, **token)
    assert refused.status_code == 400
    call_command("change_crawl", crawl.pk, "--query", N3QL, stdout=StringIO())
    crawl.refresh_from_db()
    assert crawl.link_query == N3QL
    with pytest.raises(CommandError):
        call_command("change_crawl", crawl.pk, "--query", "SELECT", stdout=StringIO())
