"""Good-citizen rules as behaviours of the whole controller.

Those of the client stand in tests/crawler/fetching, the arithmetic of the floors in test_floors.py.
"""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out
from crawler.reading.documents import FeedLink, RetrievedFeed
from feeds.models import Feed, FeedAlias
from feeds.orders import FeedOrder
from feeds.visiting.selection import retrieve_now
from feeds.visiting.ticks import tick
from tests.factories import make_feed, make_subscriber
from tests.harvests import (
    entry,
    failed,
    feed_assignments,
    found,
    lease,
    report,
    unchanged,
    visit,
    visit_failing,
)

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _defaults(settings):
    settings.FEED_TICK_SECONDS = settings.FEED_MIN_GAP_SECONDS = 600


def wait_of(feed: Feed) -> timedelta:
    """How long the feed is left alone from now."""
    feed.refresh_from_db()
    return feed.not_before - datetime.now(UTC)


def test_no_feed_is_visited_twice_within_the_gap():
    feed = make_feed()
    visit(feed, entry(1))
    assert timedelta(seconds=595) < wait_of(feed) <= timedelta(seconds=600)
    assert retrieve_now(Feed.objects.all(), "asked for") == 0


def test_validators_come_from_every_200_even_when_the_bytes_are_the_same():
    feed = make_feed()
    visit(feed, entry(1))
    (batch,) = (b for b in lease(feed) if b.host == feed.host.name)
    same = unchanged(batch.assignments[0], status=200, etag='W/"new"', last_modified="x", body_hash="0" * 64)
    check_in([report(batch, same)])
    feed.refresh_from_db()
    assert (feed.etag, feed.last_modified) == ('W/"new"', "x")


def test_validators_are_kept_only_when_the_document_could_be_read():
    feed = make_feed()
    (batch,) = lease(feed)
    broken = failed(batch.assignments[0], "malformed", 200, etag='"broken"', body_hash="1" * 64)
    check_in([report(batch, broken)])
    feed.refresh_from_db()
    assert (feed.etag, feed.body_hash) == ("", "")


def test_validators_go_when_the_address_changes():
    feed = make_feed("https://old.example/feed")
    visit(feed, entry(1))
    Feed.objects.update(
        moved_count=9, moved_since=datetime.now(UTC) - 9 * DAY, moved_to="https://new.example/feed"
    )
    feed.refresh_from_db()
    visit(feed, entry(1), moved_to="https://new.example/feed")
    assert (feed.url, feed.etag, feed.last_modified) == ("https://new.example/feed", "", "")
    assert FeedAlias.objects.get().canonical_url == "https://old.example/feed"


def test_a_permanent_redirect_is_believed_only_after_repeats_over_days():
    feed = make_feed("https://old.example/feed")
    for _ in range(10):
        visit(feed, entry(1), moved_to="https://new.example/feed")
    assert (feed.url, feed.moved_count) == ("https://old.example/feed", 10)
    Feed.objects.update(moved_since=datetime.now(UTC) - 4 * DAY)
    feed.refresh_from_db()
    visit(feed, entry(1), moved_to="https://new.example/feed")
    assert feed.url == "https://new.example/feed"


def test_a_redirect_that_changes_its_mind_starts_anew_and_a_temporary_one_never_counts():
    feed = make_feed()
    visit(feed, entry(1), moved_to="https://new.example/feed")
    visit(feed, entry(1), moved_to="https://other.example/feed")
    assert feed.moved_count == 1
    visit(feed, entry(1), final_url="https://elsewhere.example/feed")
    assert (feed.moved_to, feed.moved_count, feed.moved_since) == ("", 0, None)


def test_retry_after_is_honoured_in_full_and_a_throttled_feed_is_not_dead():
    feed = make_feed()
    visit_failing(feed, "throttled", 429, retry_after=3 * 86_400.0)
    assert wait_of(feed) > 3 * DAY - HOUR
    assert (feed.status, feed.floor) == ("active", "retry-after")


def test_a_streak_of_403_is_treated_as_a_request_for_fewer_visits():
    feed = make_feed()
    for _ in range(3):
        visit_failing(feed, "http-403", 403)
    assert (feed.floor, feed.status) == ("forbidden", "active")
    assert wait_of(feed) > 5 * HOUR


@pytest.mark.parametrize("status", [200, 304])
def test_max_age_is_a_lower_bound(status):
    feed = make_feed()
    visit(feed, entry(1))
    (batch,) = (b for b in lease(feed) if b.host == feed.host.name)
    assigned = batch.assignments[0]
    answer = (
        found(assigned, entry(1), max_age=7200.0) if status == 200 else unchanged(assigned, max_age=7200.0)
    )
    check_in([report(batch, answer)])
    assert wait_of(feed) > 1.9 * HOUR
    assert feed.floor == "max-age"


def test_skip_hours_and_ttl_of_the_document_are_kept_for_later_304s():
    feed = make_feed()
    (batch,) = lease(feed)
    harvest = found(batch.assignments[0], entry(1))
    now = datetime.now(UTC)
    open_hour = (now.hour + 3) % 24
    document = replace(
        harvest.payload.document, ttl=900.0, skip_hours=tuple(h for h in range(24) if h != open_hour)
    )
    check_in([report(batch, replace(harvest, payload=RetrievedFeed(document)))])
    feed.refresh_from_db()
    assert feed.ttl == 900.0
    assert feed.not_before.hour == open_hour


def test_410_stops_at_once():
    feed = make_feed()
    visit_failing(feed, "gone", 410)
    assert feed.status == "gone"
    assert tick(datetime.now(UTC) + 365 * DAY, everything=True).training == 0


def test_404_is_looked_for_ever_more_slowly_but_never_given_up():
    feed = make_feed()
    visit_failing(feed, "http-404", 404)
    first = wait_of(feed)
    visit_failing(feed, "http-404", 404)
    assert first < wait_of(feed)
    Feed.objects.update(failing_since=datetime.now(UTC) - 400 * DAY, failure_streak=100)
    visit_failing(feed, "http-404", 404)
    assert feed.status == "active"
    assert 6 * DAY < wait_of(feed) <= 8 * DAY


def test_a_failing_feed_backs_off_with_jitter_and_is_never_given_up():
    feed = make_feed()
    waits = []
    for _ in range(12):
        visit_failing(feed, "timeout")
        waits.append(wait_of(feed))
    assert waits[0] < waits[1] < waits[2]
    assert waits[-1] <= 1.25 * DAY
    assert len({round(w.total_seconds(), 1) / 2 ** min(i, 6) for i, w in enumerate(waits)}) > 6
    assert feed.status == "active"


def test_a_failure_is_not_tried_again_inside_the_tick():
    feed = make_feed()
    visit_failing(feed, "reset")
    assert hand_out(datetime.now(UTC)) == []
    assert tick(datetime.now(UTC), everything=True).training == 0


def test_failures_of_most_hosts_at_once_are_held_against_none():
    feeds = [make_feed() for _ in range(6)]
    batches = lease(*feeds)
    check_in([report(batch, failed(batch.assignments[0], "dns")) for batch in batches])
    assert set(Feed.objects.values_list("failure_streak", "floor")) == {(0, "ours")}


def test_the_next_visit_survives_a_restart():
    feed = make_feed()
    visit(feed, entry(1))
    # Nothing but the row is asked: a new process finds the same plan.
    assert tick(datetime.now(UTC) + timedelta(seconds=300)).training == 0
    assert tick(datetime.now(UTC) + timedelta(seconds=1000)).training == 1


def test_one_visit_serves_all_subscribers_and_tells_their_number():
    feed = make_feed()
    make_subscriber("one", feed)
    make_subscriber("two", feed)
    (batch,) = lease(feed)
    assert [a.ordered(FeedOrder).subscribers for a in batch.assignments] == [2]


def test_many_feeds_of_a_host_are_not_asked_in_a_burst(settings):
    settings.FETCH_HOST_SPACING_SECONDS = 2.0
    feeds = [make_feed(f"https://many.example/{i}") for i in range(5)]
    (batch,) = lease(*feeds)
    assert (len(batch.assignments), batch.spacing) == (5, 2.0)


def test_the_feed_a_page_names_is_visited_and_the_page_no_more():
    feed = make_feed("https://site.example/")
    (batch,) = lease(feed)
    links = (FeedLink("https://site.example/feed.xml"), FeedLink("https://site.example/comments.xml"))
    check_in(
        [report(batch, failed(batch.assignments[0], "not-a-feed", 200, payload=RetrievedFeed(links=links)))]
    )
    feed.refresh_from_db()
    assert (feed.url, feed.failure) == ("https://site.example/feed.xml", "")
    (batch,) = hand_out(datetime.now(UTC))
    assert [a.url for a in batch.assignments] == ["https://site.example/feed.xml"]


def test_a_page_that_names_a_known_feed_is_merged_into_it():
    known = make_feed("https://site.example/feed.xml")
    added = make_feed("https://site.example/")
    (batch,) = lease(added)
    link = FeedLink("https://site.example/feed.xml")
    check_in(
        [report(batch, failed(batch.assignments[0], "not-a-feed", 200, payload=RetrievedFeed(links=(link,))))]
    )
    assert Feed.objects.get() == known
    assert FeedAlias.objects.get().feed == known


def test_a_feed_that_was_read_before_keeps_its_address_when_a_page_comes_instead():
    feed = make_feed("https://site.example/feed.xml")
    visit(feed, entry(1))
    other = RetrievedFeed(links=(FeedLink("https://site.example/other.xml"),))
    visit_failing(feed, "not-a-feed", 200, payload=other)
    assert (feed.url, feed.failure_streak) == ("https://site.example/feed.xml", 1)


def test_a_selected_feed_that_is_paused_meanwhile_stays_at_home():
    feed = make_feed()
    assert feed_assignments(lease(feed)) == [feed.id]
    other = make_feed()
    Feed.objects.filter(id=other.id).update(selected_at=datetime.now(UTC), status="paused")
    assert hand_out(datetime.now(UTC)) == []
