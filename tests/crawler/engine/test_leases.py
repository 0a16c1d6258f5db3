"""A lease on a host is the right to send it requests: one at a time, and not for ever."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connection

from articles.models import Page
from crawler.engine.check_in import check_in
from crawler.engine.leased import MAX_LOSSES
from crawler.engine.leases import MAX_IN_BATCH, hand_out, lease_seconds, sweep
from crawler.engine.models import Host
from feeds.models import Feed, Retrieval
from feeds.orders import FeedOrder
from recrawl.models import Site, Visit, Wanted, WatchedPage, key_of
from tests.factories import make_feed
from tests.harvests import entry, feed_assignments, found, lease, report, select, visit

pytestmark = pytest.mark.django_db


def later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def test_a_selected_feed_goes_out_with_its_validators_and_known_entries():
    feed = make_feed(etag='W/"x"', last_modified="yesterday", fingerprints=b"f" * 12, subscribers=3)
    (batch,) = lease(feed)
    (assigned,) = batch.assignments
    order = assigned.ordered(FeedOrder)
    assert (assigned.etag, assigned.last_modified, order.known, order.subscribers) == (
        'W/"x"', "yesterday", b"f" * 12, 3,
    )  # fmt: skip
    assert batch.host == feed.host.name


def test_a_host_is_out_with_one_terminal_at_a_time():
    first, second = make_feed("https://one.example/a"), make_feed("https://one.example/b")
    (batch,) = lease(first)
    assert lease(second) == []
    check_in([report(batch, found(batch.assignments[0]))])
    assert feed_assignments(hand_out(datetime.now(UTC))) == [second.id]


def test_feeds_of_one_host_go_out_together_up_to_the_batch_size():
    feeds = [make_feed(f"https://one.example/{i}") for i in range(MAX_IN_BATCH + 3)]
    (batch,) = lease(*feeds)
    assert feed_assignments([batch]) == [feed.id for feed in feeds[:MAX_IN_BATCH]]


@pytest.mark.parametrize("joins", ["hashjoin", "mergejoin", "nestloop"])
def test_what_was_selected_first_is_asked_for_first(joins):
    """However PostgreSQL finds the rows: it has an order of its own for each way."""
    feeds = [make_feed(f"https://one.example/{i}") for i in range(5)]
    for seconds, feed in enumerate(reversed(feeds)):
        select(feed)
        Feed.objects.filter(id=feed.id).update(selected_at=later(seconds - 60))
    with connection.cursor() as cursor:
        for other in {"hashjoin", "mergejoin", "nestloop"} - {joins}:
            cursor.execute(f"SET LOCAL enable_{other} = off")
    assert feed_assignments(hand_out(datetime.now(UTC))) == [feed.id for feed in reversed(feeds)]


def test_a_paused_feed_is_not_handed_out():
    feed = make_feed(status=Feed.Status.PAUSED)
    assert lease(feed) == []


def test_a_feed_whose_floor_has_not_passed_waits_although_selected():
    feed = make_feed()
    select(feed)
    Feed.objects.update(not_before=later(5))
    assert hand_out(datetime.now(UTC)) == []
    assert feed_assignments(hand_out(later(6))) == [feed.id]


def test_a_host_that_asked_for_a_pause_is_left_alone():
    feed = make_feed()
    Host.objects.update(not_before=later(60))
    assert lease(feed) == []
    assert feed_assignments(hand_out(later(61))) == [feed.id]


def test_no_more_hosts_are_out_than_the_setting_allows(settings):
    settings.CRAWL_HOSTS_IN_FLIGHT = 2
    feeds = [make_feed() for _ in range(3)]
    assert len(lease(*feeds)) == 2
    assert hand_out(datetime.now(UTC)) == []


def test_the_host_that_waited_longest_goes_first(settings):
    settings.CRAWL_HOSTS_IN_FLIGHT = 1
    recent, longest = make_feed(), make_feed()
    Host.objects.filter(id=recent.host_id).update(served=later(-10))
    Host.objects.filter(id=longest.host_id).update(served=later(-100))
    assert feed_assignments(lease(recent, longest)) == [longest.id]


def test_an_expired_lease_is_taken_back_and_its_work_goes_out_again():
    feed = make_feed()
    lease(feed)
    assert sweep(later(lease_seconds() - 1)) == 0
    assert sweep(later(lease_seconds() + 1)) == 1
    assert feed_assignments(hand_out(datetime.now(UTC))) == [feed.id]


def test_a_feed_that_loses_leases_in_a_row_counts_as_failing_and_backs_off():
    feed = make_feed()
    for _ in range(MAX_LOSSES):
        assert feed_assignments(lease(feed)) == [feed.id]
        sweep(later(lease_seconds() + 1))
    feed.refresh_from_db()
    assert (feed.failure, feed.failure_streak, feed.selected_at) == ("lost", 1, None)
    assert feed.not_before > datetime.now(UTC)
    assert Retrieval.objects.get().failure == "lost"


def test_assignments_given_back_unvisited_stay_selected():
    first, second = make_feed("https://one.example/a"), make_feed("https://one.example/b")
    (batch,) = lease(first, second)
    check_in([report(batch, found(batch.assignments[0]))])
    assert feed_assignments(hand_out(datetime.now(UTC))) == [second.id]


def test_waiting_pages_go_out_with_the_host_and_one_page_only_once():
    feed = make_feed("https://news.example/feed")
    visit(feed, entry(1), entry(2))
    (batch,) = hand_out(datetime.now(UTC))
    assert sorted(a.url for a in batch.assignments) == ["https://news.example/1", "https://news.example/2"]
    assert Page.objects.filter(lease__isnull=False).count() == 2
    assert hand_out(datetime.now(UTC)) == []


def test_pages_that_failed_go_out_behind_the_others_of_their_host() -> None:
    """So one slow page does not hold its host as often as it is tried."""
    host = Host.objects.create(name="slow.example")
    past = later(-60)
    for number, attempts in enumerate((2, 0, 1, 0)):
        url = f"https://slow.example/{number}"
        Page.objects.create(url=url, url_key=uuid4(), host=host, attempts=attempts, not_before=past)
    (batch,) = hand_out(later(0))
    assert [one.url[-1] for one in batch.assignments] == ["1", "3", "2", "0"]


def test_watched_pages_that_failed_go_out_behind_the_others():
    host = Host.objects.create(name="site.example")
    site = Site.objects.create(url="https://site.example/", host=host)
    visit = Visit.objects.create(site=site, number=1, started=datetime.now(UTC), weekly=3, budget=3)
    for number, attempts in enumerate([1, 0, 2, 0]):
        url = f"https://site.example/{number}"
        page = WatchedPage.objects.create(site=site, url=url, key=key_of(url))
        Wanted.objects.create(
            visit=visit, host=host, page=page, attempts=attempts, reason="a test", not_before=later(-1)
        )
    (batch,) = hand_out(datetime.now(UTC))
    assert [one.url[-1] for one in batch.assignments] == ["1", "3", "0", "2"]
