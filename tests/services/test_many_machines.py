"""The same product on the machine's PostgreSQL with Redis and with RabbitMQ, in three worker processes."""

from __future__ import annotations

import pytest

from tests.servers import Reply, Request, WebServer
from tests.services.conftest import ENTRIES, FEEDS, Deploy
from tests.services.deployment import TERMINALS, Deployment, sorted_column

pytestmark = pytest.mark.services


def add(crawler: Deployment, sites: list[WebServer]) -> None:
    crawler.manage("add_feeds", "--wait", "0", *(f"{site.origin}/feed" for site in sites))


def all_is_stored(crawler: Deployment) -> bool:
    stored = crawler.rows("SELECT count(*) FROM articles_article UNION ALL "
                          "SELECT count(*) FROM articles_page WHERE status = 'stored'")  # fmt: skip
    return [count for (count,) in stored] == [FEEDS * ENTRIES] * 2


def every_feed_came_twice(crawler: Deployment) -> bool:
    visits = crawler.rows("SELECT count(*) FROM feeds_retrieval GROUP BY feed_id")
    return len(visits) == FEEDS and all(count >= 2 for (count,) in visits)


def assert_stored_once(crawler: Deployment, sites: list[WebServer]) -> None:
    entries = sorted(f"{site.origin}#{number}" for site in sites for number in range(ENTRIES))
    assert sorted_column(crawler.rows("SELECT identity FROM articles_article")) == entries
    pages = sorted(f"{site.origin}/page{number}" for site in sites for number in range(ENTRIES))
    assert sorted_column(crawler.rows("SELECT url FROM articles_page WHERE status = 'stored'")) == pages
    (shortest,) = crawler.rows("SELECT min(page.text) FROM articles_page page")[0]
    assert "the people of the town went" in shortest


def test_everything_is_fetched_and_stored_once_and_then_not_modified(
    deploy: Deploy, sites: list[WebServer]
) -> None:
    crawler = deploy()
    with crawler.running():
        add(crawler, sites)
        crawler.tick_until("all entries and pages", lambda: all_is_stored(crawler))
        crawler.tick_until("a second round", lambda: every_feed_came_twice(crawler))
    assert_stored_once(crawler, sites)
    for site in sites:
        assert [site.paths.count(f"/page{number}") for number in range(ENTRIES)] == [1] * ENTRIES
        first, *later = site.statuses("/feed")
        assert (first, set(later)) == (200, {304})
        assert site.most_at_once == 1
    assert {request.headers["user-agent"] for site in sites for request in site.requests} <= {
        f"Freshet/{name}" for name in TERMINALS
    }


def test_a_terminal_killed_amid_its_requests_loses_nothing(
    deploy: Deploy, sites: list[WebServer], broker_url: str
) -> None:
    """RabbitMQ gives its messages to the other terminal at once; with Redis a lease of 7 s has to expire."""
    crawler = deploy(FETCH_DEADLINE_SECONDS="3", CRAWL_LEASE_SLACK_SECONDS="4")
    slow = sites[0]
    prompt = slow.replies["/feed"]
    assert isinstance(prompt, Reply)
    killed: list[str] = []

    def kill_whoever_asks(request: Request) -> Reply:
        if not killed:
            killed.append(request.headers["user-agent"].removeprefix("Freshet/"))
            crawler.kill(killed[0])
        return prompt

    slow.replies["/feed"] = kill_whoever_asks
    with crawler.running():
        add(crawler, sites)
        crawler.tick_until("all entries and pages", lambda: all_is_stored(crawler))
    assert_stored_once(crawler, sites)
    (survivor,) = set(TERMINALS) - set(killed)
    assert {request.headers["user-agent"] for request in slow.requests[1:]} == {f"Freshet/{survivor}"}
    assert crawler.rows("SELECT DISTINCT failure FROM feeds_retrieval") == [("",)]
    if broker_url.startswith("redis"):
        assert crawler.rows("SELECT sum(swept) > 0 FROM crawler_tick") == [(True,)]
