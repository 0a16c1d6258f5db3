"""Estimators of change rates against what generated them, and at their borders."""

from __future__ import annotations

import math
import random

import pytest

from recrawl.visiting.estimators import gamma_mode


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.5])
def test_they_find_the_rate_that_made_the_visits(rate: float) -> None:
    lots = random.Random(7)
    visits = [(age := lots.uniform(0.2, 3), lots.random() < 1 - math.exp(-rate * age)) for _ in range(4000)]
    assert gamma_mode(visits, 1.0, 0.0) == pytest.approx(rate, rel=0.1)
    assert gamma_mode(visits, 2.0, 4.0) == pytest.approx(rate, rel=0.1)


def test_at_regular_visits_the_likelihood_has_the_known_solution() -> None:
    visits = [(2.0, True)] * 3 + [(2.0, False)] * 7
    assert gamma_mode(visits, 1.0, 0.0) == pytest.approx(-math.log(0.7) / 2)


def test_borders() -> None:
    assert gamma_mode([(1.0, False)] * 5, 1.0, 0.0) == 0.0
    assert 0 < gamma_mode([(1.0, True)] * 5, 1.0, 0.0) <= 50
    assert gamma_mode([], 2.0, 4.0) == pytest.approx(0.25)
    assert gamma_mode([(1.0, False)] * 20, 2.0, 4.0) == pytest.approx(1 / 24, rel=1e-6)
