"""How often a page changes, from visits that only tell whether it had changed. Pure.

Rates are changes per unit of time, in whatever unit the ages are given; changes are taken to be a Poisson
process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

HIGHEST = 50.0
"""The rate, per mean age, beyond which visits that always find a change cannot tell."""


def gamma_mode(outcomes: Sequence[tuple[float, bool]], shape: float, time: float) -> float:
    """The most probable rate under a Gamma prior of this shape (1 or more) and time, by bisection.

    Visits are given as (age, changed). A prior of shape 1 and time 0 says nothing: then it is the maximum of
    the likelihood, 0 where nothing changed, at most HIGHEST per mean age where every visit found a change.
    The slope of the logarithm of the posterior falls in the rate: its zero is found.
    """
    known = [(age, changed) for age, changed in outcomes if age > 0]
    if shape <= 1 and not any(changed for _, changed in known):
        return 0.0
    scale = sum(age for age, _ in known) / len(known) if known else time / shape

    def slope(rate: float) -> float:
        gain = sum(_gain(age, rate) if changed else -age for age, changed in known)
        return gain + (shape - 1) / rate - time

    low, high = 1e-9 / scale, HIGHEST / scale
    if slope(high) > 0:
        return high
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


def _gain(age: float, rate: float) -> float:
    """d/dr ln(1 - exp(-r a)) = a / (exp(r a) - 1)."""
    grown = rate * age
    return age / math.expm1(grown) if grown < 700 else 0.0
