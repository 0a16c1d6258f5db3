"""The daily plan: claimed once, safe to run twice, and made of what all feeds were seen to post."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from feeds.models import Feed, PostingPlan, PostingPopulation
from feeds.scheduling.planning import planned, todays_prices
from feeds.visiting import planning
from feeds.visiting.posting import histories, observe, population
from feeds.visiting.priors import default_prior
from feeds.visiting.states import blocks, live_policy
from tests.factories import make_feed

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _scarce(settings):
    """So few retrievals that their hours matter."""
    settings.FEED_BUDGET = 0.15


def make_daily_feed(hour: int = 9, **fields: object) -> Feed:
    """A feed of the normal phase that posted four articles in this hour on each of ten days."""
    feed = make_feed(**({"phase": "normal"} | fields))
    for day in range(10, 0, -1):
        end = (NOW - timedelta(days=day - 1)).timestamp()
        begin = end - 86400
        news = [
            begin // 86400 * 86400 + hour * 3600 + minute * 60 + (86400 if hour < 12 else 0)
            for minute in range(4)
        ]
        observe([feed.id], [begin], [end], [4], [news], first=[False])
    return feed


def shape_of(feed: Feed) -> np.ndarray:
    return np.frombuffer(PostingPlan.objects.get(feed=feed).shape, "<f4")


def test_planning_is_claimed_once_a_day():
    assert planning.claim(NOW)
    assert not planning.claim(NOW + timedelta(hours=23))
    assert planning.claim(NOW + timedelta(hours=24))


def test_what_is_kept_is_the_plan_of_what_was_learned():
    feeds = [make_daily_feed(hour) for hour in (9, 15)]
    assert planning.plan(NOW) == 2
    rates = histories([feed.id for feed in feeds]).forecast(population()).rates()
    plan = planned(rates, todays_prices(np.ones(168), rates, 0.15 * 2))
    assert np.array_equal([shape_of(feed) for feed in feeds], plan.shapes)
    assert np.ptp(plan.shapes) > 1


def test_the_tick_sees_the_plan_and_a_flat_one_where_there_is_none():
    planned = make_daily_feed()
    planning.plan(NOW)
    fresh = make_feed(phase="normal")
    (states,) = blocks(Feed.objects.all())
    assert states.id.tolist() == [planned.id, fresh.id]
    assert states.shape is not None
    assert np.array_equal(states.shape[0], shape_of(planned))
    assert set(states.shape[1]) == {1.0}


@pytest.mark.parametrize("hour", [0, 100, 166, 167])
def test_a_tick_fetches_two_hours_of_the_plan_and_ranks_as_by_all_of_it(hour):
    make_daily_feed()
    make_daily_feed(15)
    planning.plan(NOW)
    make_feed(phase="normal")
    at = datetime(2026, 3, 9, 0, 20, tzinfo=UTC).timestamp() + hour * 3600
    (whole,), (narrow,) = blocks(Feed.objects.all()), blocks(Feed.objects.all(), live_policy().reads, at)
    assert whole.shape is not None
    assert narrow.shape is not None
    assert (whole.shape.shape, narrow.shape.shape, narrow.shape_from) == ((3, 168), (3, 2), hour)
    assert np.array_equal(live_policy().keys(whole, at), live_policy().keys(narrow, at))


def test_planning_twice_leaves_one_plan_for_each_feed():
    feeds = [make_daily_feed(hour) for hour in (9, 15)]
    assert planning.plan(NOW) == planning.plan(NOW) == 2
    assert set(PostingPlan.objects.values_list("feed", flat=True)) == {feed.id for feed in feeds}


def test_only_feeds_that_are_ranked_are_planned():
    make_daily_feed(phase="training")
    make_daily_feed(status="paused")
    assert planning.plan(NOW) == 0


def test_without_feeds_there_is_nothing_to_plan():
    assert planning.plan(NOW) == 0


def test_prices_are_kept_for_the_next_day():
    make_daily_feed()
    planning.plan(NOW)
    first = bytes(PostingPopulation.objects.get().prices)
    planning.plan(NOW + timedelta(days=1))
    second = bytes(PostingPopulation.objects.get().prices)
    assert len(first) == len(second) == 168 * 8
    assert first != second


def test_the_population_is_what_all_feeds_posted():
    assert population().mean == default_prior().mean
    make_daily_feed()
    make_daily_feed()
    planning.plan(NOW)
    # Eight articles a day of two feeds, half faded here and there: four a day and feed.
    assert population().mean == pytest.approx(4 / 24, rel=0.01)
