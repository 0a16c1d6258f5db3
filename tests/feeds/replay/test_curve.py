"""Budgets for a chosen delay, between measured points and not beyond them."""

from __future__ import annotations

import pytest

from feeds.replay.curve import Needed, Point, needed_budget

# Delay is 20 / budget: a power law, which logarithmic lines follow exactly.
POINTS = [Point(0.4, 50), Point(0.1, 200), Point(0.2, 100)]


@pytest.mark.parametrize(("delay", "budget"), [(200, 0.1), (160, 0.125), (100, 0.2), (80, 0.25), (50, 0.4)])
def test_a_delay_between_two_points(delay: float, budget: float) -> None:
    assert needed_budget(POINTS, delay).budget == pytest.approx(budget)


@pytest.mark.parametrize(
    ("points", "delay", "beyond"), [(POINTS, 201, "less"), (POINTS, 49, "more"), ([], 10, "more")]
)
def test_nothing_is_made_up_beyond_the_points(points: list[Point], delay: float, beyond: str) -> None:
    assert needed_budget(points, delay) == Needed(None, beyond)


def test_of_a_bumpy_curve_the_least_budget_counts() -> None:
    bumpy = [Point(0.1, 100), Point(0.2, 40), Point(0.3, 60), Point(0.4, 20)]
    found = needed_budget(bumpy, 50).budget
    assert found is not None
    assert 0.1 < found < 0.2
