"""One download of an article's page by a terminal, and what robots.txt has to say in it."""

from __future__ import annotations

import time
import zlib

import pytest
from msgspec.structs import replace

from crawler.fetching.http.client import Client
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Harvest
from crawler.reading.documents import PageDocument
from crawler.terminals.serve import ROBOTS_AGE, ROBOTS_PAUSE, serve_host
from tests.crawler.terminals.conftest import batch, page
from tests.servers import Reply, WebServer, article

HTML = {"Content-Type": "text/html; charset=utf-8"}


def rules(web: WebServer, text: str, *, status: int = 200, age: float = 0.0) -> Robots:
    return Robots(status, text, time.time() - age, web.origin)


def download(client: Client, web: WebServer, known: Robots | None = None) -> Harvest:
    (harvest,) = serve_host(client, batch(page(web), robots=known)).harvests
    return harvest


def test_the_main_text_and_the_page_as_received(web: WebServer, client: Client) -> None:
    web.replies["/page1"] = Reply(article(1), headers=HTML)
    harvest = download(client, web)
    assert isinstance(harvest.payload, PageDocument)
    assert "the people of the town went to the upper streets" in harvest.payload.text
    assert zlib.decompress(harvest.payload.html) == article(1)
    assert (harvest.payload.language, harvest.payload.title) == ("en", "Article 1")


def test_what_is_no_page_is_a_named_failure(web: WebServer, client: Client) -> None:
    web.replies["/page1"] = Reply(b"%PDF-1.7\n", headers={"Content-Type": "application/pdf"})
    harvest = download(client, web)
    assert (harvest.status, harvest.payload) == (200, None)
    assert harvest.failure
    assert harvest.detail


def test_robots_txt_is_read_once_and_goes_back_with_the_report(web: WebServer, client: Client) -> None:
    web.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /private\n")
    web.replies |= {f"/page{number}": Reply(article(number), headers=HTML) for number in (1, 2)}
    report = serve_host(client, batch(page(web, "/page1"), page(web, "/page2"), page(web, "/private/3")))
    assert [harvest.failure for harvest in report.harvests] == ["", "", "robots"]
    assert web.paths == ["/robots.txt", "/page1", "/page2"]
    assert report.robots is not None
    assert (report.robots.status, report.robots.origin) == (200, web.origin)
    assert "Disallow: /private" in report.robots.text


def test_the_copy_of_the_controller_is_used_while_it_is_fresh(web: WebServer, client: Client) -> None:
    web.replies["/page1"] = Reply(article(1), headers=HTML)
    assert download(client, web, rules(web, "User-agent: *\nDisallow: /")).failure == "robots"
    assert web.paths == []


def test_a_copy_of_yesterday_is_read_again(web: WebServer, client: Client) -> None:
    web.replies["/page1"] = Reply(article(1), headers=HTML)
    old = rules(web, "User-agent: *\nDisallow: /", age=ROBOTS_AGE + 1)
    assert isinstance(download(client, web, old).payload, PageDocument)
    assert web.paths == ["/robots.txt", "/page1"]


def test_another_port_has_rules_of_its_own(web: WebServer, client: Client) -> None:
    web.replies["/page1"] = Reply(article(1), headers=HTML)
    other = Robots(200, "User-agent: *\nDisallow: /", time.time(), "http://127.0.0.1:1")
    assert isinstance(download(client, web, other).payload, PageDocument)


@pytest.mark.parametrize(("days", "failures"), [(2, ["", "robots"]), (40, ["robots", "robots"])])
def test_while_it_cannot_be_read_the_last_good_copy_holds(
    web: WebServer, client: Client, days: int, failures: list[str]
) -> None:
    web.replies |= {"/robots.txt": Reply(status=503), "/page1": Reply(article(1), headers=HTML)}
    kept = rules(web, "User-agent: *\nDisallow: /private", age=days * 86_400)
    report = serve_host(client, batch(page(web, "/page1"), page(web, "/private"), robots=kept))
    assert [harvest.failure for harvest in report.harvests] == failures
    assert report.robots is not None
    assert (report.robots.text == kept.text, report.robots.tried > kept.at) == (days == 2, True)
    again = serve_host(client, batch(page(web, "/page1"), page(web, "/private"), robots=report.robots))
    assert [harvest.failure for harvest in again.harvests] == failures
    assert again.robots is None, "nothing new was read"
    assert web.paths.count("/robots.txt") == 1
    later = replace(report.robots, tried=report.robots.tried - ROBOTS_PAUSE)
    serve_host(client, batch(page(web, "/private"), robots=later))
    assert web.paths.count("/robots.txt") == 2


def test_without_robots_txt_everything_is_allowed(web: WebServer, client: Client) -> None:
    web.replies["/page1"] = Reply(article(1), headers=HTML)
    report = serve_host(client, batch(page(web)))
    assert isinstance(report.harvests[0].payload, PageDocument)
    assert report.robots is not None
    assert report.robots.status == 404


def test_an_unreadable_robots_txt_forbids_all_pages_for_a_while(web: WebServer, client: Client) -> None:
    """RFC 9309, section 2.3.1.4: assume complete disallow, and ask again after a pause."""
    web.replies |= {"/robots.txt": Reply(status=500), "/page1": Reply(article(1), headers=HTML)}
    report = serve_host(client, batch(page(web)))
    assert (report.harvests[0].failure, report.harvests[0].status) == ("robots", 503)
    assert "/page1" not in web.paths
    assert report.robots is not None
    web.replies["/robots.txt"] = Reply(status=404)
    assert serve_host(client, batch(page(web), robots=report.robots)).harvests[0].failure == "robots"
    assert web.paths.count("/robots.txt") == 1
    later = replace(report.robots, tried=report.robots.tried - ROBOTS_PAUSE)
    assert isinstance(serve_host(client, batch(page(web), robots=later)).harvests[0].payload, PageDocument)


def test_an_origin_without_an_answer_does_not_displace_the_rules_of_another(
    web: WebServer, client: Client
) -> None:
    other = Robots(200, "User-agent: *", time.time(), "http://127.0.0.1:1")
    web.replies["/robots.txt"] = Reply(status=500)
    assert serve_host(client, batch(page(web), robots=other)).robots is None


@pytest.mark.parametrize(("delay", "expected"), [("0.4", 0.4), ("-1", 0.0), ("NaN", 0.0)])
def test_crawl_delay_widens_the_spacing(web: WebServer, client: Client, delay: str, expected: float) -> None:
    web.replies |= {f"/page{number}": Reply(article(number), headers=HTML) for number in (1, 2)}
    known = rules(web, f"User-agent: *\nCrawl-delay: {delay}")
    serve_host(client, batch(page(web, "/page1"), page(web, "/page2"), robots=known))
    first, second = (request.at for request in web.requests)
    assert expected <= second - first < expected + 1.0
