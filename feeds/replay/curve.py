"""The curve of delay by budget, and the budget needed for a chosen delay."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Point:
    """One replay: `spent` retrievals per feed and hour, `delay` the mean delay in minutes."""

    spent: float
    delay: float


@dataclass(frozen=True, slots=True)
class Needed:
    """Retrievals per feed and hour for a chosen delay; None beyond the measured budgets.

    `beyond` then says whether "more" or "less" than all measured budgets is needed.
    """

    budget: float | None
    beyond: str = ""


def needed_budget(points: Iterable[Point], delay: float) -> Needed:
    """Interpolate the smallest budget at which the mean delay is at most `delay` minutes.

    Delays fall roughly as a power of the budget, so points are joined by lines on logarithmic scales. There
    is no extrapolation beyond the points. An empty curve needs "more".
    """
    curve = sorted((p for p in points if p.spent > 0 and p.delay > 0), key=lambda point: point.spent)
    if curve and curve[0].delay <= delay:
        return Needed(curve[0].spent) if curve[0].delay == delay else Needed(None, "less")
    for before, after in pairwise(curve):
        if after.delay <= delay < before.delay:
            share = math.log(before.delay / delay) / math.log(before.delay / after.delay)
            return Needed(before.spent * (after.spent / before.spent) ** share)
    return Needed(None, "more")
