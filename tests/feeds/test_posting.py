"""Posting histories in the database: what is entered is what comes out, feed by feed."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from feeds.models import PostingHistory
from feeds.scheduling.history import unpack
from feeds.visiting.posting import histories, observe
from tests.factories import make_feed

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
NOON = MONDAY.timestamp() + 12 * 3600


def enter(feed_id: int, at: float, *published: float, hours: float = 2, first: bool = False) -> float:
    """One retrieval that found articles of these times; how many had been expected."""
    (expected,) = observe(
        [feed_id], [at - hours * 3600], [at], [len(published)], [list(published)], first=[first]
    )
    return float(expected)


def test_articles_are_counted_in_the_hours_of_the_week_in_which_they_were_published():
    feed = make_feed()
    enter(feed.id, NOON, NOON - 1800, NOON - 5400, NOON - 5000)
    history = PostingHistory.objects.get(feed=feed)
    counts, exposure = (
        unpack([table], 168).reshape(7, 24) for table in (history.week_counts, history.week_exposure)
    )
    assert [counts[0, 10], counts[0, 11], counts.sum()] == pytest.approx([2, 1, 3])
    assert [exposure[0, 10], exposure[0, 11], exposure.sum()] == pytest.approx([1, 1, 2], abs=0.01)


def test_histories_come_in_the_order_asked_for_and_start_anew_for_strangers():
    busy, stranger, quiet = make_feed(), make_feed(), make_feed()
    enter(busy.id, NOON, *[NOON - 60] * 5)
    enter(quiet.id, NOON)
    tables = histories([quiet.id, stranger.id, busy.id])
    assert tables.counts.sum(axis=1).tolist() == pytest.approx([0, 0, 5])
    assert tables.exposure.sum(axis=1).tolist() == pytest.approx([2, 0, 2], abs=0.01)
    assert tables.levels[:, 0].tolist() == pytest.approx([0, 0, 5])
    assert tables.days.tolist() == pytest.approx([2 / 24, 0, 2 / 24])


def test_what_is_learned_raises_what_is_expected():
    feed = make_feed()
    before = enter(feed.id, NOON, *[NOON - 60 * n for n in range(1, 9)])
    after = enter(feed.id, NOON + 7 * 86400, hours=2)
    assert after > before


def test_the_past_in_a_first_document_is_not_taught_to_the_paper_s_hourly_rates():
    feed, other = make_feed(), make_feed()
    enter(feed.id, NOON, *[NOON - 60] * 5, first=True)
    enter(other.id, NOON, *[NOON - 60] * 5)
    untaught, taught = histories([feed.id, other.id]).hourly
    assert np.ptp(untaught) == 0
    assert np.ptp(taught) > 0
