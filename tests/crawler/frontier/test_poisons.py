"""What a site says harms that site alone: its neighbours are crawled, and it is asked a few times at most."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out
from crawler.engine.models import Host
from crawler.fetching.http.site_lines import Robots
from crawler.frontier.check_in import named_sitemaps
from crawler.frontier.crawls import begin
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.messages import Batch, Report, decode, encode
from crawler.terminals.client import terminal_client
from crawler.terminals.serve import serve_host
from recrawl.models import Site
from recrawl.visiting.discovery import name_sitemaps
from tests.servers import Reply, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]

MOST_REQUESTS = 6
HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
def sick() -> Iterator[WebServer]:
    with WebServer(host="127.0.0.2") as web:
        web.replies["/"] = Reply(b"<title>Home</title><a href='/a'>a</a>", headers=HTML)
        web.replies["/a"] = Reply(b"<title>A</title>", headers=HTML)
        yield web


@pytest.fixture
def healthy() -> Iterator[WebServer]:
    with WebServer(host="127.0.0.3") as web:
        web.replies["/"] = Reply(b"<title>Home</title><a href='/a'>a</a>", headers=HTML)
        web.replies["/a"] = Reply(b"<title>A</title>", headers=HTML)
        yield web


def crawled(caplog: pytest.LogCaptureFixture, *webs: WebServer, rounds: int = 12) -> Crawl:
    """A crawl of these sites as far as it comes in so many rounds, what is to be tried again due at once."""
    crawl = begin(Crawl(seeds=[web.origin for web in webs], sitemaps=True, strategy="link-score"))
    with caplog.at_level(logging.ERROR):
        for _ in range(rounds):
            batches = [decode(Batch, encode(batch)) for batch in hand_out(datetime.now(UTC))]
            reports = [serve_host(terminal_client(), batch) for batch in batches]
            check_in([decode(Report, encode(report)) for report in reports])
            past = datetime.now(UTC) - timedelta(seconds=1)
            crawl.waiting.update(not_before=past)
            crawl.hosts.update(ready=past)
            Host.objects.update(not_before=None)
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
    return crawl


def states(crawl: Crawl, web: WebServer) -> dict[str, str]:
    return {
        url.removeprefix(web.origin): state
        for url, state in crawl.urls.values_list("url", "state")
        if url.startswith(web.origin)
    }


SITEMAP_LINES = {
    b"sitemap.xml": "/sitemap.xml",
    b"/sitemap.xml": "/sitemap.xml",
    b"//127.0.0.2:9/sitemap.xml": "",
    b"": "",
    b"https://example.org": "",
    b"https://[::1": "",
    b"//[::1": "",
    b"http://": "",
    b"http:///": "",
    b"javascript:alert(1)": "",
    b"http://user:word@127.0.0.2/sitemap.xml": "",
    b"/a\0b\x01.xml": "/ab.xml",
    b"/\xed\xa0\x80.xml": "/%EF%BF%BD%EF%BF%BD%EF%BF%BD.xml",
    b"/" + b"x" * 3_000: "",
    b"/" + b"x" * 400_000: "",
    b"http://" + b"a" * 300 + b"/sitemap.xml": "",
}


@pytest.mark.parametrize("line", SITEMAP_LINES, ids=[f"line {n}" for n in range(len(SITEMAP_LINES))])
def test_a_line_that_names_a_sitemap_harms_nobody(
    sick: WebServer, healthy: WebServer, line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    rules = b"Sitemap: " + line + b"\nUser-agent: *\nDisallow: /private\n"
    sick.replies["/robots.txt"] = Reply(rules, headers={"Content-Type": "text/plain"})
    crawl = crawled(caplog, sick, healthy)
    named = SITEMAP_LINES[line]
    assert states(crawl, healthy) == {"/": "crawled", "/a": "crawled"}
    found = states(crawl, sick)
    assert {path: found[path] for path in ("/", "/a")} == {"/": "crawled", "/a": "crawled"}
    assert set(found) - {"/", "/a"} == ({named} if named else set())
    assert sick.paths.count("/robots.txt") == sick.paths.count("/") == 1
    host = Host.objects.get(name="127.0.0.2")
    assert (host.robots_status, host.robots_origin) == (200, sick.origin)
    assert "Disallow: /private" in host.robots_text


ROBOTS = {
    "NUL in a rule": b"User-agent: *\nDisallow: /a\0b\nDisallow: /private\n",
    "control characters": b"User-agent: *\nDisallow: /\x01\x02\x7f\nDisallow: /private\n".replace(
        b"/\x01", b"/x\x01"
    ),
    "surrogates": b"User-agent: *\nDisallow: /\xed\xa0\x80\nDisallow: /private\n",
    "a long line": b"User-agent: *\nDisallow: /" + b"y" * 400_000 + b"\nDisallow: /private\n",
    "five megabytes": b"User-agent: *\nDisallow: /private\n" + b"Disallow: /z\xff\n" * 400_000,
    "broken hosts": b"User-agent: *\nDisallow: //[::1\nDisallow: http://[\nDisallow: /private\n",
}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robots_file_of_odd_bytes_is_read_once_and_kept(
    sick: WebServer, healthy: WebServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    sick.replies["/robots.txt"] = Reply(ROBOTS[name], headers={"Content-Type": "text/plain"})
    sick.replies["/"] = Reply(b"<a href='/a'>a</a><a href='/private'>p</a>", headers=HTML)
    crawl = crawled(caplog, sick, healthy)
    assert states(crawl, healthy) == {"/": "crawled", "/a": "crawled"}
    assert states(crawl, sick) == {"/": "crawled", "/a": "crawled", "/private": "failed"}
    assert len(sick.paths) == 3
    host = Host.objects.get(name="127.0.0.2")
    assert host.robots_at is not None
    assert len(host.robots_text.encode()) < 2_000_000


@pytest.mark.parametrize(
    "text", ["Sitemap: sitemap.xml", "Sitemap:", "Sitemap: https://[::1", "sitemap: http://a.example"]
)
def test_lines_that_an_older_version_kept_harm_nobody(text: str) -> None:
    """They are in databases: robots.txt was stored as it came."""
    host = Host.objects.create(name="a.example", robots_text=text, robots_origin="http://a.example")
    found = named_sitemaps(host)
    assert found == {
        "sitemap.xml": ["http://a.example/sitemap.xml"],
        "http://a.example": ["http://a.example/"],
    }.get(text.partition(":")[2].strip(), [])
    host.robots_origin = ""
    assert all(url.startswith("http://a.example/") for url in named_sitemaps(host))


@pytest.mark.parametrize(
    "url", ["sitemap.xml", "", "https://example.org", "https://[::1", "/\0", "\ud800", "x" * 300_000]
)
def test_a_site_that_is_watched_takes_no_sitemap_that_is_no_address(url: str) -> None:
    host = Host.objects.create(name="a.example")
    site = Site.objects.create(url="http://a.example/", host=host)
    name_sitemaps(site, [url, "http://a.example/good.xml"])
    assert [source.url for source in site.sources.all()] == ["http://a.example/good.xml"]


PAGES = {
    "a host of 300 characters": b"<a href='http://" + b"a" * 300 + b".example/'>x</a>",
    "a broken base": b"<base href='http://[::1'><a href='/a'>a</a>",
    "a base of 400,000 characters": b"<base href='/" + b"x" * 400_000 + b"/'><a href='/a'>a</a>",
    "many such bases": b"<base href='/" + b"x" * 40_000 + b"/'>" * 100 + b"<a href='/a'>a</a>",
    "a link of 400,000 characters": b"<a href='/" + b"x" * 400_000 + b"'>x</a>",
    "links that are none": b"<a href='http://[::1'>x</a><a href='//'>x</a><a href='http:'>x</a>"
    b"<a href='&#0;'>x</a><a href='&#xd800;'>x</a><a href='&#1;:/x'>x</a>",
    "a title with control characters": b"<title>A &#1;&#0;&#x7f;&#xd800; title\0</title>",
    "a long title": b"<title>" + "\U0001f600".encode() * 100_000 + b"</title>",
    "a refresh that leads nowhere": b"<meta http-equiv=refresh content='0;url=http://[::1'>",
    "an address without an end": b"<a href='http:\\\\[::1'>x</a><a href='http://a.example;sid=1'>x</a>",
}


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_says_harms_nobody(
    sick: WebServer, healthy: WebServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    sick.replies["/"] = Reply(PAGES[name] + b"<a href='/a'>a</a>", headers=HTML)
    crawl = crawled(caplog, sick, healthy)
    assert states(crawl, healthy) == {"/": "crawled", "/a": "crawled"}
    assert states(crawl, sick)["/"] == "crawled"
    assert states(crawl, sick)["/a"] == "crawled"
    assert len(sick.paths) <= MOST_REQUESTS
    assert len(CrawlUrl.objects.get(url=f"{sick.origin}/").title) <= 500


HEADERS = {
    "NUL in a value": {"X-Odd": "a\0b"},
    "control characters": {"X-Odd": "a\x01\x7f\x0bb"},
    "bytes beyond ASCII": {"X-Odd": "\xe9\xff\x80"},
    "NUL in the type": {"Content-Type": "text/html\0; charset=utf-8"},
    "NUL in a type that is not read": {"Content-Type": "image/\0png"},
    "a type of 30,000 characters": {"Content-Type": "text/html; x=" + "y" * 30_000},
    "a value of 30,000 characters": {"X-Odd": "y" * 30_000},
    "a folded value": {"X-Odd": "a\r\n b"},
    "a name of 30,000 characters": {"X-" + "o" * 30_000: "a"},
    "NUL in a validator": {"ETag": '"a\0b"', "Last-Modified": "yesterday\0"},
    "a link header that is none": {"Link": "<http://[::1>; rel=hub, <\0>; rel=self"},
    "a head of 300,000 characters": {"X-Odd": "y" * 300_000},
}


@pytest.mark.parametrize("name", HEADERS)
def test_what_a_header_says_harms_nobody(
    sick: WebServer, healthy: WebServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    sick.replies["/a"] = Reply(b"<title>A</title>", headers=HTML | HEADERS[name])
    crawl = crawled(caplog, sick, healthy)
    assert states(crawl, healthy) == {"/": "crawled", "/a": "crawled"}
    assert states(crawl, sick)["/"] == "crawled"
    row = CrawlUrl.objects.get(url=f"{sick.origin}/a")
    assert row.state == "crawled" or (row.state == "failed" and row.failure)
    assert sick.paths.count("/a") <= MOST_REQUESTS


@pytest.mark.parametrize(
    "location", ["http://[::1", "", "//", "http://" + "a" * 300 + "/", "/\0b", "/caf\xc3\xa9"]
)
def test_where_a_redirect_leads_harms_nobody(
    sick: WebServer, healthy: WebServer, location: str, caplog: pytest.LogCaptureFixture
) -> None:
    sick.replies["/a"] = Reply(status=302, headers={"Location": location})
    crawl = crawled(caplog, sick, healthy)
    assert states(crawl, healthy) == {"/": "crawled", "/a": "crawled"}
    found = states(crawl, sick)
    if location == "/caf\xc3\xa9":
        assert found == {"/": "crawled", "/a": "moved", "/caf%C3%A9": "failed"}
    elif location == "/\0b":
        assert found == {"/": "crawled", "/a": "moved", "/%00b": "failed"}
    else:
        assert found == {"/": "crawled", "/a": "failed"}
        assert CrawlUrl.objects.get(url=f"{sick.origin}/a").failure == "redirect"


def test_a_robots_file_from_a_terminal_of_another_version_is_kept_without_its_poison() -> None:
    begin(Crawl(seeds=["http://a.example/"], sitemaps=True))
    (batch,) = hand_out(datetime.now(UTC))
    said = Robots(200, "Sitemap: sitemap.xml\nSitemap: https://[::1", 0.0, "http://a.example")
    check_in([Report(batch.host, batch.lease, robots=said)])
    assert Host.objects.get().robots_status == 200
    assert CrawlUrl.objects.filter(url="http://a.example/sitemap.xml").exists()
