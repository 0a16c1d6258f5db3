"""The tick: training feeds by ToE, the others by rank within the budget, and nothing twice."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.engine import pulses
from crawler.engine.models import Pulse
from crawler.operation.site import retention
from crawler.pipeline.models import PhaseFigure
from feeds.models import Feed, Retrieval, Tick
from feeds.visiting.ticks import lately, tick
from tests.factories import make_article, make_feed
from tests.harvests import entry, visit

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _defaults(settings):
    settings.FEED_TICK_SECONDS = 600
    settings.FEED_POLICY = "freshness"
    settings.FEED_BUDGET = 1.0


def make_old_feed(hours_ago: float = 2.0, **fields) -> Feed:
    """A feed in the normal phase, last retrieved some hours before NOW."""
    last = NOW - hours_ago * HOUR
    defaults = {"phase": "normal", "not_before": NOW - HOUR, "last_success": last, "last_attempt": last}
    return make_feed(**(defaults | fields))


def selected() -> set[int]:
    return set(Feed.objects.filter(selected_at__isnull=False).values_list("id", flat=True))


def test_training_feeds_are_taken_when_their_toe_is_zero():
    due = make_feed(training_due=NOW - HOUR, not_before=NOW - HOUR)
    make_feed(training_due=NOW + HOUR, not_before=NOW - HOUR)
    assert tick(NOW).training == 1
    assert selected() == {due.id}


def test_now_takes_every_feed_whose_floor_has_passed():
    early = make_feed(training_due=NOW + HOUR, not_before=NOW - HOUR)
    ranked = make_old_feed(0.1)
    make_feed(training_due=NOW - HOUR, not_before=NOW + HOUR)
    tick(NOW, everything=True)
    assert selected() == {early.id, ranked.id}


def test_a_tick_that_runs_twice_takes_nothing_twice():
    make_feed(training_due=NOW - HOUR, not_before=NOW - HOUR)
    for _ in range(12):
        make_old_feed()
    first = tick(NOW)
    second = tick(NOW + timedelta(seconds=1))
    assert (first.training, first.ranked) == (1, 2)
    assert (second.training, second.ranked) == (0, 0)


def test_the_budget_bounds_the_ranked_feeds_and_fractions_carry_over():
    for _ in range(3):
        make_old_feed()
    taken = [tick(NOW + i * timedelta(minutes=10)).ranked for i in range(4)]
    # Three feeds, one retrieval per feed and hour: half a retrieval every ten minutes.
    assert taken == [0, 1, 0, 1]


def test_the_feed_that_waited_longest_goes_first_when_nothing_else_is_known():
    make_old_feed(1)
    longest = make_old_feed(5)
    make_old_feed(2)
    for _ in range(3):
        make_old_feed(0.5)
    done = tick(NOW)
    assert (done.ranked, done.candidates) == (1, 6)
    assert done.cutoff is not None
    assert selected() == {longest.id}


def test_floors_skip_hours_and_skip_days_hold():
    make_old_feed(not_before=NOW + HOUR)
    make_old_feed(skip_hours=[12])
    make_old_feed(skip_days=[0])  # 2026-03-02 is a Monday
    assert tick(NOW, everything=True).ranked == 0


def test_training_ends_after_its_days_except_for_the_training_policy(settings):
    old = {"training_since": NOW - timedelta(days=29), "last_success": NOW - HOUR}
    feed = make_feed(**old, not_before=NOW + HOUR)
    settings.FEED_POLICY = "advarss-training"
    tick(NOW)
    feed.refresh_from_db()
    assert feed.phase == "training"
    settings.FEED_POLICY = "freshness"
    tick(NOW + HOUR)
    feed.refresh_from_db()
    assert feed.phase == "normal"


@pytest.mark.parametrize("policy", ["freshness", "advarss", "round-robin", "advarss-training"])
def test_every_policy_ranks_the_live_feeds(settings, policy):
    settings.FEED_POLICY = policy
    for _ in range(6):
        make_old_feed(training_due=NOW - HOUR)
    assert tick(NOW).ranked == 1


def test_a_new_training_feed_is_due_again_when_toe_says_so(settings):
    settings.FEED_TRAINING_MAX_TICKS = 5
    feed = make_feed()
    visit(feed, entry(1))
    # M = 1.6, ToE = 2: due at the second tick after the retrieval, half a tick early to be there in time.
    assert feed.training_due - feed.last_success == timedelta(seconds=900)
    Feed.objects.update(training_m=70.0, training_t=9.0)
    feed.refresh_from_db()
    visit(feed, entry(1))
    assert (feed.training_m, feed.training_t) == (pytest.approx(72.7), 79.0)
    assert feed.training_due - feed.last_success == timedelta(seconds=4.5 * 600)
    assert Retrieval.objects.latest("id").toe == 73


def test_a_message_that_comes_late_finds_that_a_tick_ran():
    tick(NOW)
    assert lately(NOW + timedelta(seconds=299))
    assert not lately(NOW + timedelta(seconds=301))


def test_queues_are_alive_only_when_all_answered():
    pulses.answered("fetch", NOW)
    assert not pulses.alive(NOW, HOUR)
    pulses.answered("store", NOW)
    assert pulses.alive(NOW, HOUR)
    assert not pulses.alive(NOW + 2 * HOUR, HOUR)


def test_a_pulse_that_is_lost_is_sent_again_and_one_that_was_answered_is_not():
    for queue in pulses.QUEUES:
        pulses.sent(queue, NOW)
    pulses.answered("store", NOW + timedelta(seconds=1))
    assert pulses.unanswered(NOW + timedelta(seconds=20)) == []
    assert pulses.unanswered(NOW + timedelta(seconds=40)) == ["fetch"]
    pulses.sent("fetch", NOW + timedelta(seconds=40))
    assert pulses.unanswered(NOW + timedelta(seconds=60)) == []


def test_a_worker_too_busy_for_pulses_lives_by_its_reports():
    pulses.sent("fetch", NOW - HOUR)
    pulses.worked(NOW)
    assert pulses.alive(NOW, HOUR)
    pulses.worked(NOW + timedelta(seconds=1))
    assert set(Pulse.objects.values_list("answered", flat=True)) == {NOW}


def test_what_is_older_than_its_retention_goes_and_the_rest_stays(settings):
    settings.RETENTION_RETRIEVALS_DAYS, settings.RETENTION_ARTICLES_DAYS = 90, 0
    feed = make_feed()
    for days in (89, 91):
        Retrieval.objects.create(feed=feed, at=NOW - timedelta(days=days), outcome="new")
        make_article(feed, fetched=NOW - timedelta(days=days))
    Tick.objects.create(started=NOW - timedelta(days=31), policy="freshness")
    for days in (29, 31):
        minute = NOW - timedelta(days=days)
        PhaseFigure.objects.create(phase="detect", worker="w", minute=minute)
    assert retention.tidy(NOW) == {
        "attempts": 0, "phases": 1, "ticks": 1, "retrievals": 1, "articles": 0, "checks": 0, "changes": 0,
        "shown": 0, "bodies": 0, "accounts": 0, "carried": 0, "versions": 0,
    }  # fmt: skip
    settings.RETENTION_ARTICLES_DAYS = 90
    assert retention.tidy(NOW)["articles"] == 1
