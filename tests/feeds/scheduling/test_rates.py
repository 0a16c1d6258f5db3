"""The exact integral of periodic rates, against numbers worked by hand and second-by-second sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feeds.scheduling.rates import PeriodicRates, exposure, hour_of

HOUR, DAY, WEEK = 3600, 86400, 7 * 86400
# Monday 2026-01-05 00:00 UTC.
MONDAY = 1767571200

tables = st.sampled_from([24, 168]).flatmap(
    lambda hours: st.lists(st.floats(0, 50, width=32), min_size=hours, max_size=hours)
)
starts = st.integers(MONDAY, MONDAY + 2 * WEEK)
ages = st.integers(0, 9 * DAY)


def second_by_second(table: list[float], last: int, now: int) -> float:
    """Articles summed over each second of (last, now]."""
    begins = np.arange(last, now)
    hour = begins // HOUR % 24 if len(table) == 24 else (begins - MONDAY) // HOUR % 168
    rate = np.asarray(table, dtype=np.float32).astype(np.float64)[hour] / HOUR
    return float(rate.sum())


def day_of(**at: float) -> PeriodicRates:
    """24 rates, zero but for the hours given as h7=2.0."""
    rates = np.zeros(24)
    for name, rate in at.items():
        rates[int(name[1:])] = rate
    return PeriodicRates.of(rates)


def test_it_splits_an_interval_at_the_hour_boundary() -> None:
    # 10:30..11:15: half an hour at 6 and a quarter at 12 articles per hour.
    rates = day_of(h10=6, h11=12)
    last = MONDAY + 10.5 * HOUR
    assert rates.expected(last, last + 2700)[0] == pytest.approx(6.0)


def test_it_counts_a_single_second() -> None:
    rates = day_of(h10=3600)
    assert rates.expected(MONDAY + 11 * HOUR - 1, MONDAY + 11 * HOUR + 1)[0] == pytest.approx(1.0)


def test_it_wraps_at_midnight() -> None:
    rates = day_of(h23=4, h0=8)
    last = MONDAY + 23.5 * HOUR
    assert rates.expected(last, last + HOUR)[0] == pytest.approx(2 + 4)


def test_it_counts_whole_days_in_closed_form() -> None:
    rates = day_of(h7=1, h19=2)
    assert rates.expected(MONDAY, MONDAY + 1000 * DAY)[0] == pytest.approx(3000)


def test_the_week_begins_on_monday() -> None:
    assert hour_of(MONDAY, 168) == 0
    assert hour_of(MONDAY + WEEK - 1, 168) == 167
    assert hour_of(0, 168) == 3 * 24  # 1 January 1970 was a Thursday


def test_nothing_is_expected_before_the_last_retrieval() -> None:
    rates = PeriodicRates.of(np.ones(24))
    assert rates.expected(MONDAY, MONDAY - 5)[0] == 0


@pytest.mark.parametrize("bad", [np.ones(23), np.full(24, np.nan), np.full(24, -1.0), np.full(24, np.inf)])
def test_it_refuses_impossible_rates(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="rate"):
        PeriodicRates.of(bad)


def test_replacing_a_row_leaves_the_others() -> None:
    rates = PeriodicRates.of(np.ones((3, 24)))
    rates.put(np.array([1]), np.full((1, 24), 2.0))
    assert rates.expected(MONDAY, MONDAY + DAY).tolist() == pytest.approx([24, 48, 24])


def test_rows_do_not_influence_each_other() -> None:
    rng = np.random.default_rng(3)
    table, last = rng.random((50, 168)), MONDAY + rng.integers(0, WEEK, 50)
    together = PeriodicRates.of(table).expected(last, MONDAY + WEEK)
    alone = [PeriodicRates.of(table[i]).expected(last[i], MONDAY + WEEK)[0] for i in range(50)]
    assert together.tolist() == alone


@settings(max_examples=60, deadline=None)
@given(tables, starts, ages)
def test_it_agrees_with_a_sum_over_every_second(table: list[float], last: int, age: int) -> None:
    count = second_by_second(table, last, last + age)
    rates = PeriodicRates.of(table)
    assert rates.expected(last, last + age)[0] == pytest.approx(count, rel=1e-9, abs=1e-8)


@settings(deadline=None)
@given(tables, starts, ages, ages)
def test_expected_articles_add_up(table: list[float], last: int, first: int, second: int) -> None:
    rates = PeriodicRates.of(table)
    parts = rates.expected(last, last + first) + rates.expected(last + first, last + first + second)
    assert rates.expected(last, last + first + second)[0] == pytest.approx(parts[0], rel=1e-9, abs=1e-8)


@settings(deadline=None)
@given(tables, starts, ages, ages)
def test_what_is_expected_never_falls(table: list[float], last: int, age: int, more: int) -> None:
    rates = PeriodicRates.of(table)
    assert rates.expected(last, last + age + more)[0] >= rates.expected(last, last + age)[0] - 1e-8


@settings(deadline=None)
@given(st.sampled_from([24, 168]), starts, ages)
def test_exposure_covers_the_interval_and_nothing_else(hours: int, last: int, age: int) -> None:
    covered = exposure([last], [last + age], hours)[0]
    assert covered.sum() * HOUR == pytest.approx(age, abs=1e-6)
    expected = np.bincount(hour_of(np.arange(last, last + age), hours), minlength=hours)
    assert covered * HOUR == pytest.approx(expected, abs=1e-6)
