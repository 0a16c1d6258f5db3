"""Every feed can say when it is visited next, and why."""

from datetime import UTC, datetime, timedelta

import pytest

from feeds.models import Tick
from feeds.scheduling.forecast import Population
from feeds.visiting.explain import next_visits
from tests.factories import make_feed
from tests.harvests import entry, lease, select, visit

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def told(feed, now=NOW):
    feed.refresh_from_db()
    return next_visits([feed], now)[feed.id]


def test_a_new_feed_is_visited_at_the_next_tick():
    visit = told(make_feed(not_before=NOW, training_due=NOW))
    assert NOW <= visit.at <= NOW + timedelta(seconds=600)
    assert visit.reason == "new feed: its first visit"


def test_a_training_feed_tells_m_t_and_toe():
    feed = make_feed()
    visit(feed, entry(1))
    found = told(feed, datetime.now(UTC))
    assert "M = 1.60, T = 1.0, so ToE is 2 ticks" in found.reason
    assert timedelta(minutes=14) < found.at - feed.last_success < timedelta(minutes=26)


def test_a_floor_that_holds_a_feed_back_is_the_reason():
    feed = make_feed(
        not_before=NOW + 5 * HOUR,
        floor="retry-after",
        floor_detail="The server asked to wait.",
        training_due=NOW,
    )
    found = told(feed)
    assert (found.reason, found.floor) == ("new feed: its first visit", "retry-after")
    feed.last_success = NOW - HOUR
    feed.save()
    found = told(feed)
    assert (found.reason, found.floor) == ("The server asked to wait.", "retry-after")
    assert NOW + 5 * HOUR <= found.at <= NOW + 5 * HOUR + timedelta(seconds=600)


def test_a_ranked_feed_is_visited_when_its_key_reaches_the_last_cut_off(monkeypatch):
    monkeypatch.setattr("feeds.visiting.posting.default_prior", Population)  # .05 an hour
    last = NOW - 2 * HOUR
    feed = make_feed(phase="normal", last_success=last, not_before=last)
    tick = Tick.objects.create(started=NOW, policy="freshness", cutoff=None)
    assert told(feed).at == NOW + timedelta(seconds=600)
    tick.cutoff = 1.0  # article-hours: a rate of 0.05 an hour waits this long in sqrt(2 / 0.05) hours
    tick.save()
    found = told(feed)
    assert timedelta(hours=6.3) <= found.at - last <= timedelta(hours=6.5)
    assert "new articles expected" in found.reason
    assert found.expected == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("status", "word"), [("paused", "paused"), ("gone", "410")])
def test_a_feed_that_is_not_visited_says_so(status, word):
    found = told(make_feed(status=status))
    assert found.at is None
    assert word in found.reason


def test_a_feed_on_its_way_says_so():
    feed = make_feed()
    select(feed)
    assert told(feed).reason == "selected (a test), waiting for its host to be free"
    lease(feed)
    assert told(feed).reason == "being retrieved now (a test)"


def test_many_feeds_are_explained_in_a_few_queries(django_assert_max_num_queries):
    feeds = [make_feed(phase=phase) for phase in ("normal", "training") for _ in range(20)]
    with django_assert_max_num_queries(6):
        assert len(next_visits(feeds, NOW)) == 40
