# ruff: noqa: E501 (documents stand as they come)
"""No source harms another: lists in pages, JSON and sitemaps that were made to hurt, each beside a healthy feed.

A source is one line. Each is added and visited together with its neighbour, and again after that has
something new; it ends as a failure with a name, or with no more than one visit may bring.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from articles.models import Article
from crawler.inline import work_off
from crawler.reading.feeds.fingerprints import MAX_RECORDS
from crawler.reading.limits import LIMITS
from crawler.reading.sources.sitemap import MAX_KNOWN
from crawler.terminals import readers
from feeds.adding.add import add_feed
from feeds.models import Feed
from feeds.terminal_reading import MAX_PAGES, MAX_SITEMAPS
from tests.servers import Reply, Request, Script, WebServer, rss

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]

NAMES = {"malformed", "too-large", "too-deep", "too-costly", "unsupported-type", "list-missing"}
CPU_SECONDS = 3
SECONDS = 60.0
"""For both visits of a source, on a busy machine."""
RECORD_BYTES = 12
LOOKS = 30
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
URLSET = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


class Hostile(NamedTuple):
    """A source: its kind, its rules, its document, and most articles of a visit; None must be a failure."""

    kind: str
    rules: dict[str, str]
    script: Callable[[], Script]
    most: int | None = None


def reply(body: str | bytes, kind: str) -> Reply:
    return Reply(body.encode() if isinstance(body, str) else body, headers={"Content-Type": kind})


def page(entries: str, kind: str = "text/html; charset=utf-8") -> Reply:
    return reply(f"<!doctype html><html><title>A list</title><body>{entries}</body></html>", kind)


def data(value: Any) -> Reply:
    return reply(value if isinstance(value, str) else json.dumps(value), "application/json")


def xml(body: str | bytes) -> Reply:
    return reply(body, "application/xml")


def links(number: int) -> str:
    return "".join(f"<a href={n}>w{n}</a>" for n in range(number))


def large() -> Reply:
    return page("<div class=a>" * 40 + "".join(f"<p><a href={n}>w</a>" for n in range(100_000)))


def items() -> Reply:
    return data([{"title": f"t{n}", "url": f"/{n}"} for n in range(50)])


def deep(depth: int = 900) -> Reply:
    return data('{"a":[1,' * depth + "1" + "]}" * depth)


def laughs() -> Reply:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return xml(
        f'<!DOCTYPE urlset [<!ENTITY l0 "lol">{entities}]>{URLSET}<url><loc>http://x.example/&l9;</loc></url></urlset>'
    )


def outside() -> Reply:
    return xml(
        f'<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>{URLSET}<url><loc>http://x.example/&x;</loc></url></urlset>'
    )


def itself(request: Request) -> Reply:
    return xml(
        f"{INDEX}<sitemap><loc>http://{request.headers['host']}{request.path}</loc></sitemap></sitemapindex>"
    )


def fifty_thousand(request: Request) -> Reply:
    if request.path != "/hostile":
        return xml(
            f"{URLSET}<url><loc>http://x.example{request.path}</loc><lastmod>2026-11-20</lastmod></url></urlset>"
        )
    origin = f"http://{request.headers['host']}"
    return xml(
        INDEX
        + "".join(f"<sitemap><loc>{origin}/s{n}</loc></sitemap>" for n in range(50_000))
        + "</sitemapindex>"
    )


def endless(request: Request) -> Reply:
    number = int(request.path.rpartition("-")[2]) if "-" in request.path else 0
    entries = "".join(f'<li><a href="/a{number}-{n}">Article {number} {n}</a></li>' for n in range(5))
    return page(f'<ul>{entries}</ul><a class="next" href="/hostile-{number + 1}">more</a>')


ENTRY = {"entry": "a"}
PAGES: dict[str, Hostile] = {
    "a million links": Hostile("page", ENTRY, lambda: page("<a href=1>" * 1_000_000)),
    "a hundred thousand links": Hostile("page", ENTRY, lambda: page(links(100_000)), LIMITS.entries),
    "nested :not": Hostile("page", {"entry": ":not(p):not(a):not(i) " * 8 + "a"}, large, LIMITS.entries),
    "descendants": Hostile("page", {"entry": " ".join(["*"] * 60) + " a"}, large, LIMITS.entries),
    "neighbours": Hostile("page", {"entry": " ~ ".join(["p"] * 6)}, large),
    "nested predicates": Hostile("page", {"entry": "xpath://*[.//*[count(//*[.//*]) > 1]]"}, large),
    "what stands before": Hostile("page", {"entry": "xpath://a[count(preceding::*[count(following::*) > 1]) > 1]"}, large),
    "a costly title": Hostile("page", ENTRY | {"title": "xpath://*[count(//a[count(//p) > 1]) > 1]"}, large),
    "a costly next page": Hostile("page", ENTRY | {"next": "xpath://a[count(preceding::*[count(following::*) > 1]) > 1]"}, large),
    "a pattern": Hostile("page", {"entry": "xpath://p[re:test(., '^(a+)+$')]"}, lambda: page(f"<p>{'a' * 5000}!</p>" * 3)),
    "one address": Hostile("page", {"entry": "li"}, lambda: page("".join(f"<li><a href=/x>Title {n}</a></li>" for n in range(20_000))), LIMITS.entries),
    "one address and one title": Hostile("page", {"entry": "li"}, lambda: page("<li><a href=/x>Title</a></li>" * 20_000), 1),
    "a title of ten megabytes": Hostile("page", {"entry": "li"}, lambda: page(f"<li><a href=/x>{'long ' * 1_990_000}</a></li><li><a href=/y>y</a></li>"), 2),
    "an endless chain of pages": Hostile("page", {"entry": "li", "next": "a.next"}, lambda: endless, 5 * (1 + MAX_PAGES)),
}  # fmt: skip
DATA: dict[str, Hostile] = {
    "jq without an end": Hostile("json", {"entry": "def f: f; f"}, items),
    "jq that counts": Hostile("json", {"entry": "last(range(1e15))"}, items),
    "jq that repeats": Hostile("json", {"entry": "[repeat(1)]"}, items),
    "jq of gigabytes": Hostile("json", {"entry": '"x" * 4e9'}, items),
    "jq that doubles": Hostile("json", {"entry": 'reduce range(40) as $n ("x"; . + .)'}, items),
    "jq that multiplies": Hostile("json", {"entry": "[.[] as $a | .[] as $b | .[] as $c | .[] as $d | .[] as $e | [$a, $b, $c, $d, $e]]"}, items),
    "jq that calls itself": Hostile("json", {"entry": "def f: [f]; f"}, items),
    "a costly title by jq": Hostile("json", {"title": "last(repeat(1))"}, items),
    "a pattern of jq": Hostile("json", {"entry": '[("a" * 40 + "!") | test("^(a+)+$")]'}, items),
    "jq that reads files": Hostile("json", {"entry": 'include "x" {search: "/etc"}; .'}, items),
    "jq that looks around": Hostile("json", {"entry": "[env, $ENV, input_filename]"}, items, 3),
    "JSONPath over and over": Hostile("json", {"entry": "jsonpath:$..*..*..*..*"}, deep),
    "JSONPath of one on another": Hostile("json", {"entry": "jsonpath:$..[?count($..*) > count(@..*)]"}, deep),
    "a pattern of JSONPath": Hostile("json", {"entry": "jsonpath:$[?search(@.t, '^(a+)+$')]"}, lambda: data([{"t": "a" * 5000 + "!"}] * 3)),
    "JSON nested for ever": Hostile("json", {}, lambda: data("[" * 5_000_000)),
    "JSON with a long title": Hostile("json", {}, lambda: data([{"title": "x" * 9_000_000, "url": "/a"}, {"title": "y", "url": "/b"}]), 2),
    "JSON of a million entries": Hostile("json", {}, lambda: data("[" + ",".join('{"a":1}' for _ in range(1_000_000)) + "]")),
    "JSON at one address": Hostile("json", {}, lambda: data([{"title": f"t{n}", "url": "/a"} for n in range(20_000)]), LIMITS.entries),
}  # fmt: skip
SITEMAPS: dict[str, Hostile] = {
    "an index of itself": Hostile("sitemap", {}, lambda: itself, 0),
    "an index of fifty thousand": Hostile("sitemap", {}, lambda: fifty_thousand, MAX_SITEMAPS),
    "gzip in gzip": Hostile("sitemap", {}, lambda: xml(gzip.compress(gzip.compress(URLSET.encode())))),
    "a bomb of gzip": Hostile("sitemap", {}, lambda: xml(gzip.compress(b"<urlset>" + b" " * 400_000_000, 1))),
    "a billion laughs": Hostile("sitemap", {}, laughs, 1),
    "a file of the machine": Hostile("sitemap", {}, outside, 1),
    "fifty megabytes of nothing": Hostile("sitemap", {}, lambda: xml(gzip.compress(b"<urlset>" + b"<url/>" * 8_000_000, 1))),
    "fifty megabytes in one text": Hostile("sitemap", {}, lambda: xml(gzip.compress(b"<urlset><url><loc>http://x.example/" + b"x" * 49_000_000, 1))),
    "half a million addresses": Hostile("sitemap", {}, lambda: xml(gzip.compress((URLSET + "".join(f"<url><loc>http://x.example/{n}</loc><lastmod>2026-11-20</lastmod></url>" for n in range(500_000))).encode(), 1)), LIMITS.entries),
    "a title of nine megabytes": Hostile("sitemap", {}, lambda: xml(f'<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>http://x.example/1</loc><news:news><news:title>{"x" * 9_000_000}</news:title></news:news></url></urlset>'), 1),
    "levels without end": Hostile("sitemap", {}, lambda: xml("<urlset>" + "<url><news>" * 800_000)),
}  # fmt: skip
SOURCES = PAGES | DATA | SITEMAPS


@pytest.fixture(scope="module")
def quick() -> Iterator[readers.Readers]:
    """Readers with less processor time for a document than the product gives; their start takes seconds."""
    one = readers.Readers(cpu_seconds=CPU_SECONDS)
    yield one
    one.close()


@pytest.fixture(autouse=True)
def _lists_only(quick: readers.Readers, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FEED_ARTICLE_PAGES = False
    monkeypatch.setattr(readers, "terminal_readers", lambda: quick)


@pytest.fixture
def sites() -> Iterator[tuple[WebServer, WebServer]]:
    with WebServer(host="127.0.0.7") as hostile, WebServer(host="127.0.0.8") as healthy:
        healthy.replies["/feed"] = reply(rss(healthy.origin, range(2)), "application/rss+xml")
        yield hostile, healthy


def visit(*feeds: Feed) -> None:
    now = datetime.now(UTC)
    Feed.objects.filter(pk__in=[feed.pk for feed in feeds]).update(selected_at=now, not_before=now)
    work_off()
    for feed in feeds:
        feed.refresh_from_db()


def added(url: str, kind: str = "feed", rules: dict[str, str] | None = None) -> Feed:
    outcome = add_feed(url, kind=kind, rules=rules or {})
    assert outcome.feed is not None, outcome.message
    return outcome.feed


def longest(feed: Feed) -> int:
    """Characters of the longest title."""
    return max(
        (len(title) for title in Article.objects.filter(feed=feed).values_list("title", flat=True)), default=0
    )


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_a_hostile_source_harms_only_itself(source: Hostile, sites: tuple[WebServer, WebServer]) -> None:
    hostile, healthy = sites
    script = source.script()
    hostile.replies["/hostile"] = script
    if not isinstance(script, Reply):
        hostile.replies |= {f"/s{n}": script for n in range(50)} | {
            f"/hostile-{n}": script for n in range(50)
        }
    begun = time.monotonic()
    feed = added(f"{hostile.origin}/hostile", source.kind, source.rules)
    neighbour = added(f"{healthy.origin}/feed")
    for visits in (1, 2):
        visit(*([neighbour] if feed.failure else [feed, neighbour]))
        assert neighbour.failure == ""
        assert Article.objects.filter(feed=neighbour).count() == visits * 2
        healthy.replies["/feed"] = reply(rss(healthy.origin, range(4)), "application/rss+xml")
        number = Article.objects.filter(feed=feed).count()
        assert feed.failure in NAMES | {""}
        if source.most is None:
            assert (feed.failure != "", number) == (True, 0)
        assert number <= visits * (source.most or 0)
        assert len(bytes(feed.fingerprints)) <= RECORD_BYTES * (
            MAX_KNOWN if source.kind == "sitemap" else MAX_RECORDS
        )
    assert longest(feed) <= LIMITS.title
    assert len(hostile.requests) <= 2 * (1 + max(MAX_PAGES, MAX_SITEMAPS)) + 2
    assert time.monotonic() - begun < SECONDS


def test_a_list_that_is_another_at_each_look_stays_within_bounds(sites: tuple[WebServer, WebServer]) -> None:
    hostile, healthy = sites
    looks = iter(range(1_000))

    def another(_: Request) -> Reply:
        look = next(looks)
        return page(
            "<ul>"
            + "".join(f"<li><a href=/{look}-{n}>Title {look} {n}</a></li>" for n in range(300))
            + "</ul>"
        )

    hostile.replies["/"] = another
    feed, neighbour = added(f"{hostile.origin}/", "page", {"entry": "li"}), added(f"{healthy.origin}/feed")
    sizes = []
    for look in range(LOOKS):
        visit(feed, neighbour)
        sizes.append(len(bytes(feed.fingerprints)))
        assert feed.failure in {"", "list-missing"} and neighbour.failure == ""
        assert Article.objects.filter(feed=feed).count() <= 300 * (look + 1)
    assert max(sizes) <= RECORD_BYTES * MAX_RECORDS
    assert sizes[-1] == sizes[-5], "they grow no more"
