"""RSS skipHours and skipDays: hours of day and days of week, in GMT, in which a feed is left alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feeds.scheduling.rates import HOUR, WEEK_HOURS, hour_of

ALL_HOURS = (1 << 24) - 1
ALL_DAYS = (1 << 7) - 1


def hour_bits(hours: Iterable[int]) -> int:
    """Return an integer with bit h set for each hour 0..23 to skip. Returns 0 when all are skipped, which
    nobody can mean.
    """
    bits = sum(1 << hour for hour in set(hours) if 0 <= hour < 24)
    return 0 if bits == ALL_HOURS else bits


def day_bits(days: Iterable[int]) -> int:
    """Return an integer with bit d set for each day 0..6 (Monday = 0) to skip. Returns 0 when all are
    skipped.
    """
    bits = sum(1 << day for day in set(days) if 0 <= day < 7)
    return 0 if bits == ALL_DAYS else bits


def skipped(hours: ArrayLike, days: ArrayLike, now: float) -> NDArray[np.bool_]:
    """Return (n,) whether each feed is to be left alone at epoch seconds `now`, from its `hour_bits` and
    `day_bits`.

    A floor only moves the earliest visit; the tick calls this for the hour in which it runs.
    """
    day, hour = divmod(int(hour_of(now, WEEK_HOURS)), 24)
    skip = (np.asarray(hours) >> hour) & 1 | (np.asarray(days) >> day) & 1
    return skip.astype(bool)


def next_allowed(at: float, hours: Iterable[int], days: Iterable[int]) -> float:
    """Return `at`, or the beginning of the first hour after it that is not skipped (epoch seconds)."""
    skip_hours, skip_days = hour_bits(hours), day_bits(days)
    # Ends within a week, because at least one hour of one day is open.
    while skipped(skip_hours, skip_days, at):
        at = (at // HOUR + 1) * HOUR
    return at
