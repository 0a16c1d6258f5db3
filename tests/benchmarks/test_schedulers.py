"""The comparison with other programs' schedulers, on a trace whose figures are known beforehand."""

from __future__ import annotations

import pytest

from benchmarks.schedulers import at_equal_requests, ours, picture, table, theirs, week_of
from feeds.replay.trace import Trace
from feeds.scheduling.peers import CommaFeed, Reader

MONDAY, HOUR, DAY = 1767571200.0, 3600.0, 86400.0
# Two feeds, an article each at half past every hour for 12 days.
HALF_PAST = Trace.of(
    "t", [(feed, MONDAY + (hour + 0.5) * HOUR) for feed in ("a", "b") for hour in range(12 * 24)]
)


def test_the_week_ends_a_day_before_the_trace() -> None:
    assert week_of(HALF_PAST, 7) == (MONDAY + 4 * DAY, MONDAY + 11 * DAY)


def test_hourly_rounds_find_articles_of_half_past_after_half_an_hour() -> None:
    row = theirs(HALF_PAST, 7, Reader())
    assert (row.requests, row.most, row.busiest, row.median, row.p95) == (24, 24, 1, 30, 30)


def test_articles_never_found_wait_until_the_end() -> None:
    row = theirs(HALF_PAST, 7, Reader(), factor=24 * 7 * 3)
    assert row.requests == 0
    assert row.median == (4.5 * DAY - 0.5 * HOUR) / 60  # from the middle of the week to the last article


def test_a_factor_is_found_that_makes_as_many_requests() -> None:
    freshet = ours(HALF_PAST, 7, budget=0.5)
    assert freshet.requests == pytest.approx(12, abs=0.2)
    default = theirs(HALF_PAST, 7, CommaFeed())
    equal = at_equal_requests(HALF_PAST, 7, default, CommaFeed(), freshet.requests)
    assert equal.requests == pytest.approx(12, rel=0.02)
    assert equal.factor > default.factor
    assert "commafeed" in table([freshet, default, equal])
    assert picture("t", [freshet], [(default, equal)]).count("<svg") == 1
