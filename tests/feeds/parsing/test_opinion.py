"""A second opinion of a feed says where feedparser reads it otherwise, and not where we mean to differ."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from crawler.reading.documents import Disagreement, FeedDocument
from crawler.reading.feeds import parse_feed
from crawler.reading.feeds.opinion import MAX_BYTES, MAX_EXAMPLES, opinion_of, second_opinion
from tests.feeds.parsing.test_both_ways import Item, atom, corpus, rss1, rss2

URL = "https://site.example/feed.xml"
ITEM = (
    "<item><guid isPermaLink='false'>urn:{0}</guid><title>T {0}</title><link>https://site.example/{0}</link>"
    "<pubDate>Sat, 06 Mar 2021 14:05:0{0} GMT</pubDate></item>"
)


def rss(*items: str, site: str = "https://site.example/") -> bytes:
    inner = "".join(items)
    return f"<rss version='2.0'><channel><title>T</title><link>{site}</link>{inner}</channel></rss>".encode()


BODY = rss(*map(ITEM.format, range(5)))


def read(body: bytes = BODY) -> FeedDocument:
    return parse_feed(body, url=URL)


def opinion(document: FeedDocument, body: bytes = BODY) -> tuple[Disagreement, ...]:
    return second_opinion(body, "application/rss+xml", URL, document)


def test_readers_that_agree_have_nothing_to_say() -> None:
    assert opinion(read()) == ()
    assert opinion_of(BODY, url=URL) == ()


@pytest.mark.parametrize(
    ("change", "kind", "ours", "theirs"),
    [
        ({"identity": "urn:x"}, "identity", "urn:x", "urn:0"),
        (
            {"published": 1615039508.0},
            "date",
            "2021-03-06T14:05:08+00:00",
            "2021-03-06T14:05:00+00:00",
        ),
        ({"published": None}, "date", "", "2021-03-06T14:05:00+00:00"),
        ({"url": "https://site.example/x"}, "link", "https://site.example/x", "https://site.example/0"),
        ({"url": ""}, "link", "", "https://site.example/0"),
    ],
)
def test_a_different_reading_of_an_entry_is_told(
    change: dict[str, object], kind: str, ours: str, theirs: str
) -> None:
    document = read()
    first, *others = document.entries
    document = replace(document, entries=(replace(first, **change), *others))
    assert opinion(document) == (Disagreement(kind, ours, theirs),)


def test_a_lost_entry_is_told_and_the_others_are_compared_by_identity() -> None:
    document = read()
    document = replace(document, entries=document.entries[1:], size=4)
    assert opinion(document) == (Disagreement("count", "4", "5"),)


def test_a_few_of_many_disagreements_are_kept() -> None:
    document = read()
    document = replace(document, entries=tuple(replace(e, url="") for e in document.entries))
    assert [d.kind for d in opinion(document)] == ["link"] * MAX_EXAMPLES


SHARED = "<item><guid>urn:x</guid><title>T {0}</title><link>https://site.example/{0}</link></item>"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(rss(*map(SHARED.format, range(3))), id="articles that share a guid"),
        pytest.param(rss(ITEM.format(1), ITEM.format(1)), id="an entry twice"),
        pytest.param(rss("<item><guid>12</guid><title>T</title></item>"), id="a number for a guid"),
        pytest.param(rss("<item><guid>//site.example/a</guid><title>T</title></item>"), id="relative guid"),
        pytest.param(
            rss("<item><title>T</title><link>/a?b</link></item>", site="https://other.example/"),
            id="relative link in a feed on another host",
        ),
        pytest.param(
            b"<rss version='2.0' xmlns:f='http://rssnamespace.org/feedburner/ext/1.0'><channel><item>"
            b"<link>https://count.example/1</link><f:origLink>https://site.example/1</f:origLink>"
            b"</item></channel></rss>",
            id="a service that counts readers",
        ),
        pytest.param(
            rss("<item><title>T</title><pubDate>6. listopada 2021.</pubDate></item>"), id="a date in Croatian"
        ),
        pytest.param(b'{"version": "https://jsonfeed.org/version/1", "items": [{"id": "1"}]}', id="JSON"),
        pytest.param(b"<html><title>No feed</title></html>", id="no feed"),
        pytest.param(rss("<item><title>T</title></item>" + " " * MAX_BYTES), id="a long document"),
    ],
)
def test_what_we_read_otherwise_on_purpose_is_no_disagreement(body: bytes) -> None:
    assert opinion_of(body, url=URL) == ()


@pytest.mark.parametrize(
    "body", [b"", b"\x00", b"<rss", b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>"]
)
def test_no_document_breaks_it(body: bytes) -> None:
    assert second_opinion(body, "", URL, read()) == ()
    assert opinion_of(body, url=URL) == ()


@pytest.mark.parametrize("written", [rss2, rss1, atom])
@settings(max_examples=60, deadline=None)
@given(items=corpus)
def test_the_readers_agree_about_sound_feeds(written: Callable[[list[Item]], str], items: list[Item]) -> None:
    assert opinion_of(written(items).encode(), url="https://example.org/feed") == ()
