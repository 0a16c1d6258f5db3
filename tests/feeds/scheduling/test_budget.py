"""What a tick may spend."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feeds.scheduling.budget import TokenBudget


def spent(times: list[float], feeds: int, per_hour: float, tick: float = 600) -> list[int]:
    """Retrievals granted at each time, after a start at 0."""
    budget, granted = TokenBudget(0.0), []
    for now in times:
        k, budget = budget.grant(now, feeds=feeds, per_hour=per_hour, tick=tick)
        granted.append(k)
    return granted


def test_fifteen_percent_of_460_feeds_is_69_an_hour() -> None:
    assert spent([600 * i for i in range(1, 7)], 460, 0.15) == [11, 12, 11, 12, 11, 12]


def test_running_twice_at_one_time_gives_nothing_the_second_time() -> None:
    assert spent([600, 600], 460, 0.15) == [11, 0]


def test_a_pause_is_worth_two_ticks() -> None:
    assert spent([86400], 600, 1.0) == [200]


def test_a_clock_that_went_back_gives_nothing_twice() -> None:
    assert spent([600, 300, 600, 1200], 600, 1.0) == [100, 0, 0, 100]


def test_a_few_feeds_are_retrieved_too() -> None:
    # 3 feeds, 15 % an hour: one retrieval in 2.2 hours.
    assert sum(spent([600 * i for i in range(1, 601)], 3, 0.15)) == 45


def test_tenths_add_up_to_a_whole() -> None:
    assert spent([600 * i for i in range(1, 11)], 6, 0.1) == [0] * 9 + [1]


def test_without_feeds_there_is_no_budget() -> None:
    assert spent([600, 1200], 0, 1.0) == [0, 0]


@given(st.integers(0, 5000), st.floats(0, 6), st.integers(1, 300))
def test_the_budget_is_spent_to_the_last_whole_retrieval(feeds: int, per_hour: float, ticks: int) -> None:
    total = sum(spent([600.0 * i for i in range(1, ticks + 1)], feeds, per_hour))
    assert total == pytest.approx(feeds * per_hour * ticks / 6, abs=1)
