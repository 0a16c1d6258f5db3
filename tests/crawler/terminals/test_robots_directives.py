"""What pages ask of robots is done: links that are not followed, contents that are not kept."""

from __future__ import annotations

import pytest
from lxml import html
from urllib3 import HTTPHeaderDict

from crawler.fetching.http.client import Client
from crawler.frontier.orders import PageOrder
from crawler.frontier.terminal import page_links
from crawler.messages import Assignment, Harvest
from crawler.reading.documents import CrawledPage, PageDocument
from crawler.reading.robots_directives import RobotsDirectives, directives_of
from crawler.terminals.serve import serve_host
from tests.crawler.terminals.conftest import batch, page
from tests.servers import Reply, WebServer, article

ALL, NONE = RobotsDirectives(), RobotsDirectives(follow=False, index=False)
NOFOLLOW, NOINDEX, NOARCHIVE = (
    RobotsDirectives(follow=False),
    RobotsDirectives(index=False),
    RobotsDirectives(archive=False),
)


@pytest.mark.parametrize(
    ("head", "directives"),
    [
        ("", ALL),
        ("<meta name=robots content='index, follow, max-snippet:-1'>", ALL),
        ("<meta name=ROBOTS content=' NoFollow '>", NOFOLLOW),
        ("<meta name='robots' content='none'>", NONE),
        ("<meta name='robots' content='noindex,nofollow'>", NONE),
        ("<meta name='robots' content='noindex nofollow'>", NONE),
        ("<meta name='robots' content='noindex'><meta name='robots' content='nofollow'>", NONE),
        ("<meta name='Freshet' content='noindex'><meta name='robots' content='all'>", NOINDEX),
        ("<meta name='otherbot' content='none'>", ALL),
        ("<meta http-equiv='X-Robots-Tag' content='noarchive'>", NOARCHIVE),
        ("<meta http-equiv='x-robots-tag' content='otherbot: none'>", ALL),
        ("<meta name='robots' content='unavailable_after: 25 Jun 2010 15:00:00 PST'>", ALL),
        ("<meta name='description' content='none, nofollow'>", ALL),
        ("<meta name='robots' content='" + "x" * 400_000 + ", none'>", ALL),
        ("<meta name='robots'>", ALL),
    ],
)
def test_robots_meta_elements(head: str, directives: RobotsDirectives) -> None:
    root = html.document_fromstring(f"<html><head>{head}</head><body><p>x</body></html>")
    assert directives_of(root, {}, "Freshet") == directives


@pytest.mark.parametrize(
    ("values", "directives"),
    [
        (["noindex"], NOINDEX),
        (["NONE"], NONE),
        (["noindex", "nofollow"], NONE),
        (["otherbot: noindex, nofollow"], ALL),
        (["otherbot: noindex", "nofollow"], NOFOLLOW),
        (["otherbot: noindex, freshet: nofollow"], NOFOLLOW),
        (["Freshet: noindex, nofollow"], NONE),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"], NOFOLLOW),
        (["unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nofollow"], NOFOLLOW),
        (["max-snippet: 20, noarchive"], NOARCHIVE),
        ([":::", ",,,", "\x00"], ALL),
        (["\xff: noindex"], NOINDEX),
    ],
)
def test_headers(values: list[str], directives: RobotsDirectives) -> None:
    headers = HTTPHeaderDict()
    for value in values:
        headers.add("X-Robots-Tag", value)
    assert directives_of(None, headers, "Freshet") == directives


@pytest.mark.parametrize("rel", ["nofollow", "noopener NOFOLLOW", "ugc", "sponsored", "external\tugc"])
def test_links_that_nobody_vouches_for_are_counted_and_not_followed(rel: str) -> None:
    text = f"<a rel='{rel}' href=/x>x</a><a rel='{rel}' href=/x>x</a><a rel=noopener href=/y>y</a>"
    found = page_links(html.document_fromstring(text), "http://a.example/")
    assert (found.urls, found.withheld) == (("http://a.example/y",), 1)
    both = page_links(html.document_fromstring(f"{text}<a href=/x>x</a>"), "http://a.example/")
    assert (set(both.urls), both.withheld) == ({"http://a.example/x", "http://a.example/y"}, 0)


TEXT = b"<title>T</title><p>Some words of the page.</p><a href=/a>a</a><a href=/b rel=nofollow>b</a>"


def asked(
    web: WebServer, client: Client, body: bytes, selectors: tuple[str, ...] | None = None, **headers: str
) -> Harvest:
    web.replies["/p"] = Reply(body, headers={"Content-Type": "text/html"} | headers)
    kind = Assignment("crawl", 1, f"{web.origin}/p", order=PageOrder(selectors=selectors))
    (harvest,) = serve_host(client, batch(kind)).harvests
    assert harvest.failure == ""
    return harvest


def crawled(harvest: Harvest) -> CrawledPage:
    assert isinstance(harvest.payload, CrawledPage)
    return harvest.payload


def test_a_crawl_keeps_no_copy_of_what_asks_for_none_and_follows_its_links(
    web: WebServer, client: Client
) -> None:
    plain = asked(web, client, TEXT)
    assert crawled(plain).body
    assert plain.detail == ""
    for wish in (b"noindex", b"noarchive"):
        harvest = asked(web, client, b"<meta name=robots content=" + wish + b">" + TEXT)
        assert crawled(harvest).body == b""
        assert "no copy" in harvest.detail
        assert crawled(harvest).links == (f"{web.origin}/a",)
        assert (crawled(harvest).title, crawled(harvest).withheld) == ("T", 1)


def test_a_page_that_says_nofollow_leads_nowhere(web: WebServer, client: Client) -> None:
    headers = {"X-Robots-Tag": "nofollow"}
    harvest = asked(web, client, TEXT, **headers)
    assert (crawled(harvest).links, crawled(harvest).withheld) == ((), 2)
    assert crawled(harvest).body


def test_a_watched_site_keeps_no_text_of_what_asks_for_none(web: WebServer, client: Client) -> None:
    empty = crawled(asked(web, client, b"<p></p>", selectors=())).lines
    assert crawled(asked(web, client, TEXT, selectors=())).lines != empty
    private = crawled(asked(web, client, b"<meta name=robots content=noindex>" + TEXT, selectors=()))
    assert private.lines == empty
    assert private.links == (f"{web.origin}/a",)


@pytest.mark.parametrize("by_header", [True, False])
def test_an_article_page_that_may_not_be_shown_is_refused(
    web: WebServer, client: Client, by_header: bool
) -> None:
    body = article(1)
    headers = {"Content-Type": "text/html"}
    if by_header:
        headers["X-Robots-Tag"] = "noindex"
    else:
        body = body.replace(b"<head>", b"<head><meta name='robots' content='noindex, follow'>")
    web.replies["/page1"] = Reply(body, headers=headers)
    (harvest,) = serve_host(client, batch(page(web))).harvests
    assert (harvest.failure, harvest.payload) == ("robots", None)
    assert "noindex" in harvest.detail
    web.replies["/page1"] = Reply(
        article(1), headers={"Content-Type": "text/html", "X-Robots-Tag": "nofollow"}
    )
    (harvest,) = serve_host(client, batch(page(web))).harvests
    assert isinstance(harvest.payload, PageDocument)
