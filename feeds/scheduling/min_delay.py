"""Minimum delay: Sia, Cho and Cho, "Efficient Monitoring Algorithm for Fast News Alerts" (2007).

A feed with posting rate lambda and weight w gets retrievals in proportion to sqrt(lambda * w). Within the
day its m retrievals lie so that lambda(t_j) (t_{j+1} - t_j) = integral of lambda over [t_{j-1}, t_j]: moving
none of them would lessen the delay. A feed with less than one retrieval a day keeps its time of day and skips
days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from feeds.scheduling.advarss import audience
from feeds.scheduling.base import FeedStates, Policy, due_in_words
from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import DAY, DAY_HOURS, HOUR, Floats

WEEK = 7 * DAY
MOST_A_DAY = 96
_SWEEPS, _HALVINGS = 6, 10


@dataclass(frozen=True, slots=True)
class MinDelay(Policy):
    """Retrievals by the square root of the rate, placed in the day by its hours; the most overdue first.

    `per_hour` is the budget of all feeds together. A feed is given its next time when it was retrieved.
    """

    name: ClassVar[str] = "min-delay"
    reads: ClassVar[frozenset[str]] = frozenset({"hourly"})
    per_hour: float = 1.0
    c: float = 0.0

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Columns `due` (spread over the time that one round takes), `placed` (n, 96) seconds of the day (inf
        where there are fewer), `days` between retrievals on one day and on the next, `planned`."""
        round_ = n / self.per_hour * HOUR
        return {
            "due": now + rng.uniform(0, round_, n),
            "placed": np.full((n, MOST_A_DAY), np.inf),
            "days": np.ones(n),
            "planned": np.full(n, -np.inf),
        }

    def plan(self, feeds: FeedStates, now: float) -> Mapping[str, NDArray[Any]]:
        """Columns made anew from what is known now: once a week, since they are costly."""
        if len(feeds) == 0 or now - feeds.column("planned").min() < WEEK:
            return {}
        weights = feeds.rates("hourly").mean() * audience(feeds, self.c)
        daily = DAY_HOURS * self.per_hour * np.sqrt(weights) / np.sqrt(weights).sum()
        rates = feeds.rates("hourly").rates.astype(np.float64)
        placed = np.full((len(feeds), MOST_A_DAY), np.inf)
        whole = np.clip(np.round(daily), 1, MOST_A_DAY).astype(np.int64)
        for count in np.unique(whole):
            of = np.flatnonzero(whole == count)
            placed[of, :count] = placements(rates[of], int(count))
        days = np.maximum(np.round(1 / np.maximum(daily, 1e-3)), 1.0)
        return {"placed": placed, "days": days, "planned": np.full(len(feeds), now)}

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Seconds overdue; among feeds that are not due yet, the next."""
        return np.asarray(now - feeds.column("due"), dtype=np.float64)

    def after_retrieval(self, feeds: FeedStates, done: Retrievals) -> Mapping[str, NDArray[Any]]:
        """The next due times of the retrieved feeds."""
        placed, days = feeds.column("placed")[done.rows], feeds.column("days")[done.rows]
        return {"due": done.now + _until_next(placed, done.now) + (days - 1) * DAY}

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        return f"placed in its day; {due_in_words(float(feeds.column('due')[i]), now)}"


def _until_next(placed: Floats, now: Floats) -> Floats:
    """(m,) seconds until the next of (m, 96) placed times of the day, a day where nothing is placed.

    Times within half a usual gap are passed over, or a feed served late would be due at once.
    """
    count = np.isfinite(placed).sum(axis=1)
    near = DAY / (2 * np.maximum(count, 1))[:, None]
    with np.errstate(invalid="ignore"):
        gap = (placed - (now % DAY)[:, None] - near) % DAY + near
    return np.where(count > 0, np.nan_to_num(gap, nan=np.inf).min(axis=1, initial=np.inf), DAY)


def placements(rates: Floats, m: int) -> Floats:
    """(n, m) seconds of the day at which m retrievals have the least total delay, for (n, 24) rates.

    Each is moved in turn to where the condition holds between its neighbours, found by halving.
    """
    times = _quantiles(np.sqrt(rates), m)
    if m == 1:
        return times
    total = _cumulated(rates)
    for _ in range(_SWEEPS):
        for j in range(m):
            before = times[:, j - 1] - (DAY if j == 0 else 0.0)
            after = times[:, (j + 1) % m] + (DAY if j == m - 1 else 0.0)
            times[:, j] = _between(rates, total, before, after)
    return times


def _quantiles(density: Floats, m: int) -> Floats:
    """(n, m) times that cut each day's density into m equal parts (for many, the solution itself)."""
    total = _cumulated(density)
    goals = (np.arange(m) + 0.5) / m
    hours = np.arange(DAY_HOURS + 1)
    return np.array([np.interp(goals * row[-1], row, hours) for row in total]) * HOUR


def _between(rates: Floats, total: Floats, before: Floats, after: Floats) -> Floats:
    """(n,) times t with lambda(t) (after - t) = integral of lambda over [before, t]."""
    low, high = before.copy(), after.copy()
    begun, _ = _until(rates, total, before)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        posted, rate = _until(rates, total, middle)
        early = rate * (after - middle) / HOUR > posted - begun
        low, high = np.where(early, middle, low), np.where(early, high, middle)
    return (low + high) / 2


def _cumulated(rates: Floats) -> Floats:
    """(n, 25) articles up to each hour's beginning."""
    return np.concatenate([np.zeros((len(rates), 1)), np.cumsum(rates, axis=1)], axis=1)


def _until(rates: Floats, total: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Articles from the day's beginning to `times`, which may lie a day before or after; the rate then."""
    whole, into = np.divmod(times, DAY)
    hour = np.minimum(into // HOUR, DAY_HOURS - 1).astype(np.int64)
    row = np.arange(len(rates))
    rate = rates[row, hour]
    return whole * total[:, -1] + total[row, hour] + rate * (into / HOUR - hour), rate
