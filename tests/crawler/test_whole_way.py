"""Tick, hand out, fetch from a server on loopback, check in: the whole way in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from articles.models import Article, Page
from crawler.engine.leases import hand_out, lease_seconds, sweep
from crawler.engine.models import Host
from crawler.inline import work_off
from crawler.messages import Batch
from feeds.models import Feed, Retrieval
from feeds.visiting.ticks import tick
from tests.servers import Reply, WebServer, article, rss

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("terminal_on_loopback")]
ENTRIES = 3


@pytest.fixture(autouse=True)
def _visits_at_once(settings: Any) -> None:
    settings.FEED_MIN_GAP_SECONDS = 0


@pytest.fixture
def site() -> Iterator[WebServer]:
    """A site with a feed and the pages of its articles."""
    with WebServer() as web:
        publish(web, ENTRIES)
        yield web


def publish(web: WebServer, entries: int, feed: str = "/feed") -> None:
    """Let the site have so many entries, with a page each."""
    body = rss(web.origin, range(entries))
    web.replies[feed] = Reply(body, headers={"ETag": f'"{entries}"', "Content-Type": "text/xml"})
    for number in range(entries):
        web.replies[f"/page{number}"] = Reply(article(number), headers={"Content-Type": "text/html"})


def add(*urls: str) -> None:
    call_command("add_feeds", "--wait", "0", *urls, stdout=StringIO())


def tick_now() -> dict[str, Any]:
    """What `manage.py tick --now --json` tells; the pages are fetched, too."""
    out = StringIO()
    call_command("tick", "--now", "--json", stdout=out)
    work_off()
    told = json.loads(out.getvalue())
    assert isinstance(told, dict)
    return told


def stored(web: WebServer) -> list[str]:
    """Identities of the articles without the site's address."""
    identities = Article.objects.values_list("identity", flat=True)
    return sorted(identity.removeprefix(web.origin) for identity in identities)


def test_a_feed_becomes_articles_with_their_text(site: WebServer) -> None:
    add(f"{site.origin}/feed")
    told = tick_now()
    assert (told["retrieved"], told["new_articles"], told["failed"]) == (1, 3, 0)
    assert stored(site) == ["#0", "#1", "#2"]
    for found in Article.objects.select_related("page"):
        assert found.page is not None
        number = found.identity[-1]
        assert f"The river rose again on day {number}" in found.page.text
        assert found.page.language == "en"
    feed = Feed.objects.get()
    assert (feed.title, feed.etag, feed.failure) == (f"Feed of {site.origin}", '"3"', "")


def test_the_second_visit_is_conditional_and_fetches_no_page_again(site: WebServer) -> None:
    add(f"{site.origin}/feed")
    tick_now()
    told = tick_now()
    assert (told["retrieved"], told["not_modified"], told["new_articles"]) == (1, 1, 0)
    assert site.statuses("/feed") == [200, 304]
    assert sorted(site.paths) == ["/feed", "/feed", "/page0", "/page1", "/page2", "/robots.txt"]
    assert site.most_at_once == 1


def test_a_later_visit_brings_what_is_new_and_nothing_else(site: WebServer) -> None:
    add(f"{site.origin}/feed")
    tick_now()
    publish(site, ENTRIES + 2)
    assert tick_now()["new_articles"] == 2
    assert stored(site) == ["#0", "#1", "#2", "#3", "#4"]
    assert [site.paths.count(f"/page{number}") for number in range(5)] == [1] * 5


def test_a_page_that_two_feeds_carry_is_fetched_once(site: WebServer) -> None:
    publish(site, ENTRIES, "/other")
    add(f"{site.origin}/feed", f"{site.origin}/other")
    tick_now()
    assert Article.objects.count() == 2 * ENTRIES
    assert Page.objects.count() == ENTRIES
    assert all("The river rose" in found.page.text for found in Article.objects.select_related("page"))
    assert [site.paths.count(f"/page{number}") for number in range(ENTRIES)] == [1] * ENTRIES


def test_pages_that_robots_txt_forbids_are_not_fetched_and_the_feed_s_words_stay(site: WebServer) -> None:
    site.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /page\n")
    add(f"{site.origin}/feed")
    assert tick_now()["new_articles"] == ENTRIES
    assert sorted(site.paths) == ["/feed", "/robots.txt"]
    assert {found.text for found in Article.objects.all()} == {f"Words on {n}." for n in range(ENTRIES)}


def test_the_address_of_a_site_leads_to_its_feed(site: WebServer) -> None:
    link = b"<link rel=alternate type='application/rss+xml' href='/feed'>"
    home = b"<!doctype html><html><head>" + link + b"</head><body>News</body></html>"
    site.replies["/"] = Reply(home, headers={"Content-Type": "text/html"})
    add(f"{site.origin}/")
    tick_now()
    feed = Feed.objects.get()
    assert (feed.url, feed.aliases.count()) == (f"{site.origin}/feed", 1)
    assert stored(site) == ["#0", "#1", "#2"]


def test_a_failing_feed_has_a_name_for_it_loses_nothing_and_recovers(site: WebServer) -> None:
    add(f"{site.origin}/feed")
    tick_now()
    before = site.replies["/feed"]
    site.replies["/feed"] = Reply(b"<html>under construction</html>", headers={"Content-Type": "text/html"})
    assert tick_now()["failed"] == 1
    feed = Feed.objects.get()
    assert (feed.failure, feed.failure_streak) == ("not-a-feed", 1)
    assert stored(site) == ["#0", "#1", "#2"]
    site.replies["/feed"] = before
    Feed.objects.update(not_before=datetime.now(UTC))  # its back-off is over
    assert tick_now()["failed"] == 0
    feed.refresh_from_db()
    assert (feed.failure, feed.failure_streak) == ("", 0)
    assert stored(site) == ["#0", "#1", "#2"]


def test_work_that_a_terminal_lost_is_handed_out_again_when_its_lease_has_expired(site: WebServer) -> None:
    add(f"{site.origin}/feed")
    tick(datetime.now(UTC), everything=True)
    assert assigned(hand_out(datetime.now(UTC))) == 1  # to somebody who dies
    assert work_off() == 0
    assert sweep(datetime.now(UTC)) == 0
    Host.objects.update(leased_until=datetime.now(UTC) - timedelta(seconds=1))
    assert tick(datetime.now(UTC), everything=True).swept == 1  # type: ignore[union-attr]
    work_off()
    assert stored(site) == ["#0", "#1", "#2"]
    assert site.paths.count("/feed") == 1


def test_a_lease_lasts_as_long_as_its_requests_may(site: WebServer, settings: Any) -> None:
    settings.FETCH_DEADLINE_SECONDS, settings.CRAWL_LEASE_SLACK_SECONDS = 20, 7
    assert lease_seconds() == 27
    add(f"{site.origin}/feed")
    now = datetime.now(UTC)
    tick(now, everything=True)
    (given,) = hand_out(now)
    assert given.expires == pytest.approx(now.timestamp() + 27)


def test_every_visit_is_in_the_log(site: WebServer) -> None:
    add(f"{site.origin}/feed")
    tick_now()
    tick_now()
    log = Retrieval.objects.order_by("at")
    assert [(row.status, row.new, row.outcome) for row in log] == [
        (200, ENTRIES, Retrieval.Outcome.NEW),
        (304, 0, Retrieval.Outcome.NOT_MODIFIED),
    ]


def assigned(batches: list[Batch]) -> int:
    return sum(len(batch.assignments) for batch in batches)
