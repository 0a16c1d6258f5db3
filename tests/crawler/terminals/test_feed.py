"""One retrieval of a feed by a terminal: what comes back for each kind of answer."""

from __future__ import annotations

import hashlib
import os

import pytest

from crawler.fetching.http.client import Client
from crawler.messages import Harvest
from crawler.reading.documents import Disagreement, FeedDocument, RetrievedFeed
from feeds.orders import FeedOrder
from feeds.terminal import SECOND_OPINIONS, retrieve_feed
from tests.crawler.terminals.conftest import feed
from tests.servers import Reply, WebServer, rss

RSS = {"Content-Type": "application/rss+xml"}


def retrieve(client: Client, web: WebServer, **known: object) -> Harvest:
    return retrieve_feed(client, feed(web, **known), None, 0.0)


def document(harvest: Harvest) -> FeedDocument:
    assert isinstance(harvest.payload, RetrievedFeed)
    assert harvest.payload.document is not None
    return harvest.payload.document


def test_the_first_visit_brings_all_entries(web: WebServer, client: Client) -> None:
    web.replies["/feed"] = Reply(rss(web.origin, range(3)), headers={**RSS, "ETag": '"a"'})
    harvest = retrieve(client, web)
    assert (harvest.status, harvest.failure, harvest.etag) == (200, "", '"a"')
    assert [entry.title for entry in document(harvest).entries] == ["Entry 0", "Entry 1", "Entry 2"]
    assert harvest.body_hash == hashlib.sha256(rss(web.origin, range(3))).hexdigest()
    assert not harvest.conditional


def test_later_visits_bring_what_is_new(web: WebServer, client: Client) -> None:
    web.replies["/feed"] = Reply(rss(web.origin, range(3)), headers=RSS)
    first = retrieve(client, web)
    web.replies["/feed"] = Reply(rss(web.origin, range(1, 5)), headers=RSS)
    later = retrieve(client, web, order=FeedOrder(document(first).fingerprints), body_hash=first.body_hash)
    assert [entry.title for entry in document(later).entries] == ["Entry 3", "Entry 4"]
    assert document(later).size == 4


def test_the_validator_goes_out_as_it_came_and_304_is_unchanged(web: WebServer, client: Client) -> None:
    web.replies["/feed"] = Reply(rss(web.origin, range(3)), headers={"ETag": 'W/"a, b"'})
    harvest = retrieve(client, web, etag='W/"a, b"')
    assert web.requests[0].headers["if-none-match"] == 'W/"a, b"'
    assert (harvest.status, harvest.unchanged, harvest.conditional) == (304, True, True)
    assert harvest.payload is None


def test_the_same_bytes_again_are_unchanged_and_not_parsed(web: WebServer, client: Client) -> None:
    body = rss(web.origin, range(3))
    web.replies["/feed"] = Reply(body, headers=RSS)
    harvest = retrieve(client, web, body_hash=hashlib.sha256(body).hexdigest())
    assert (harvest.status, harvest.unchanged, harvest.payload) == (200, True, None)


def test_a_page_in_place_of_a_feed_tells_which_feeds_it_names(web: WebServer, client: Client) -> None:
    html = b"<!doctype html><head><link rel=alternate type='application/atom+xml' href='/atom'></head>"
    web.replies["/feed"] = Reply(html, headers={"Content-Type": "text/html"})
    harvest = retrieve(client, web)
    assert (harvest.status, harvest.failure) == (200, "not-a-feed")
    assert isinstance(harvest.payload, RetrievedFeed)
    assert [link.url for link in harvest.payload.links] == [f"{web.origin}/atom"]


def test_other_bytes_name_no_feeds(web: WebServer, client: Client) -> None:
    web.replies["/feed"] = Reply(b"\x89PNG\r\n\x1a\n" + bytes(100), headers={"Content-Type": "image/png"})
    harvest = retrieve(client, web)
    assert (harvest.failure, harvest.payload) == ("not-a-feed", RetrievedFeed())
    assert harvest.detail


@pytest.mark.parametrize(
    ("status", "failure"),
    [(404, "http-404"), (410, "gone"), (429, "throttled"), (500, "http-500"), (503, "throttled")],
)
def test_a_refusal_is_a_named_failure(web: WebServer, client: Client, status: int, failure: str) -> None:
    web.replies["/feed"] = Reply(status=status, headers={"Retry-After": "120"})
    harvest = retrieve(client, web)
    assert (harvest.status, harvest.failure, harvest.retry_after) == (status, failure, 120.0)


AS_PST = b"""<rss version="2.0"><channel><title>T</title><item><guid>urn:1</guid><title>One</title>
<pubDate>Mon, 07 Nov 2005 15:36:41 Pacific Standard Time</pubDate></item></channel></rss>"""
DISPUTED = (Disagreement("date", "2005-11-07T23:36:41+00:00", "2005-11-07T15:36:41+00:00"),)


def opinion(harvest: Harvest) -> tuple[Disagreement, ...] | None:
    assert isinstance(harvest.payload, RetrievedFeed)
    return harvest.payload.opinion


def test_a_feed_s_first_document_is_read_by_a_second_reader(web: WebServer, client: Client) -> None:
    web.replies["/feed"] = Reply(AS_PST, headers=RSS)
    assert opinion(retrieve(client, web, order=FeedOrder(wants_opinion=True))) == DISPUTED
    web.replies["/feed"] = Reply(rss(web.origin, range(3)), headers=RSS)
    assert opinion(retrieve(client, web, order=FeedOrder(wants_opinion=True))) == ()


def test_the_second_reader_is_asked_only_while_no_document_waits(
    web: WebServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With it, a thousand new feeds took 2.8 times as long."""
    web.replies["/feed"] = Reply(AS_PST, headers=RSS)
    monkeypatch.setattr("feeds.terminal.readers.is_busy", lambda: True)
    assert opinion(retrieve(client, web, order=FeedOrder(wants_opinion=True))) is None


def test_one_in_fifty_later_documents_is_read_by_a_second_reader(web: WebServer, client: Client) -> None:
    asked = 0
    for number in range(200):
        body = AS_PST + b" " * number
        drawn = int(hashlib.sha256(body).hexdigest()[:8], 16) % SECOND_OPINIONS == 0
        if drawn or number < 3:
            web.replies["/feed"] = Reply(body, headers=RSS)
            assert opinion(retrieve(client, web)) == (DISPUTED if drawn else None)
        asked += drawn
    assert 0 < asked < 20


def test_a_document_that_the_second_reader_cannot_bear_is_read(
    web: WebServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feeds.terminal.opinion_of", os.abort)
    web.replies["/feed"] = Reply(AS_PST, headers=RSS)
    harvest = retrieve(client, web, order=FeedOrder(wants_opinion=True))
    assert (harvest.failure, len(document(harvest).entries), opinion(harvest)) == ("", 1, ())
