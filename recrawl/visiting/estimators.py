"""Estimation of a page's rate of change, from visits that only show whether it had changed. Pure.

Rates are changes per unit of time, in the unit of the ages. Changes are assumed to be a Poisson process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MAX_RATE = 50.0
"""The highest estimate, per mean age. Visits that always find a change do not bound the rate."""


def gamma_mode(outcomes: Sequence[tuple[float, bool]], shape: float, time: float) -> float:
    """Return the most probable rate under a Gamma prior of this shape (1 or more) and time, by bisection.

    Visits are given as (age, changed). A prior of shape 1 and time 0 is uninformative: the result is the
    maximum of the likelihood, which is 0 if nothing changed and at most MAX_RATE per mean age if every visit
    found a change. The slope of the logarithm of the posterior decreases with the rate; the result is its
    zero.
    """
    intervals = [(age, changed) for age, changed in outcomes if age > 0]
    if shape <= 1 and not any(changed for _, changed in intervals):
        return 0.0
    scale = sum(age for age, _ in intervals) / len(intervals) if intervals else time / shape

    def slope(rate: float) -> float:
        gain = sum(_gain(age, rate) if changed else -age for age, changed in intervals)
        return gain + (shape - 1) / rate - time

    low, high = 1e-9 / scale, MAX_RATE / scale
    if slope(high) > 0:
        return high
    for _ in range(60):
        # Halved on a logarithmic scale, because rates span many powers of ten.
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


def _gain(age: float, rate: float) -> float:
    """Return d/dr ln(1 - exp(-r a)) = a / (exp(r a) - 1)."""
    grown = rate * age
    # exp overflows a float beyond 709.
    return age / math.expm1(grown) if grown < 700 else 0.0
