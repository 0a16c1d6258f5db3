"""Minimum delay: Sia, Cho and Cho, "Efficient Monitoring Algorithm for Fast News Alerts" (2007).

A feed with posting rate lambda and weight w gets retrievals in proportion to sqrt(lambda * w). Its m
retrievals of a day satisfy lambda(t_j) (t_{j+1} - t_j) = integral of lambda over [t_{j-1}, t_j], so that
moving any one of them would not reduce the delay. A feed with less than one retrieval a day keeps its time of
day and skips days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.text.reasons import Reason
from feeds.scheduling.advarss import audience
from feeds.scheduling.base import FeedStates, Policy, due_in_words
from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import DAY, DAY_HOURS, HOUR, Floats

WEEK = 7 * DAY
MAX_DAILY_RETRIEVALS = 96
# Ten halvings of a day leave 84 s, which is less than a tick.
_SWEEPS, _HALVINGS = 6, 10


@dataclass(frozen=True, slots=True)
class MinDelay(Policy):
    """A policy that allots retrievals by the square root of the rate and places them within the day.

    The most overdue feed goes first. `per_hour` is the budget of all feeds together. A feed gets its next due
    time at each retrieval.
    """

    name: ClassVar[str] = "min-delay"
    reads: ClassVar[frozenset[str]] = frozenset({"hourly"})
    per_hour: float = 1.0
    c: float = 0.0

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return the columns `due`, `placed`, `days` and `planned` for n new feeds.

        `due` is spread over the time of one round; `placed` (n, 96) holds seconds of the day, inf if there
        are fewer; `days` is the number of days from one day with retrievals to the next; `planned` is the
        time of the last plan.
        """
        round_ = n / self.per_hour * HOUR
        return {
            "due": now + rng.uniform(0, round_, n),
            "placed": np.full((n, MAX_DAILY_RETRIEVALS), np.inf),
            "days": np.ones(n),
            "planned": np.full(n, -np.inf),
        }

    def plan(self, feeds: FeedStates, now: float) -> Mapping[str, NDArray[Any]]:
        """Recompute the placements from the current rates, once a week because that is costly."""
        if len(feeds) == 0 or now - feeds.column("planned").min() < WEEK:
            return {}
        weights = feeds.rates("hourly").mean() * audience(feeds, self.c)
        daily = DAY_HOURS * self.per_hour * np.sqrt(weights) / np.sqrt(weights).sum()
        rates = feeds.rates("hourly").rates.astype(np.float64)
        placed = np.full((len(feeds), MAX_DAILY_RETRIEVALS), np.inf)
        whole = np.clip(np.round(daily), 1, MAX_DAILY_RETRIEVALS).astype(np.int64)
        for count in np.unique(whole):
            of = np.flatnonzero(whole == count)
            placed[of, :count] = placements(rates[of], int(count))
        days = np.maximum(np.round(1 / np.maximum(daily, 1e-3)), 1.0)
        return {"placed": placed, "days": days, "planned": np.full(len(feeds), now)}

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Return the seconds overdue, negative for feeds that are not due yet."""
        return np.asarray(now - feeds.column("due"), dtype=np.float64)

    def after_retrieval(self, feeds: FeedStates, retrievals: Retrievals) -> Mapping[str, NDArray[Any]]:
        """Return the next due times of the retrieved feeds."""
        placed, days = feeds.column("placed")[retrievals.rows], feeds.column("days")[retrievals.rows]
        return {"due": retrievals.now + _until_next(placed, retrievals.now) + (days - 1) * DAY}

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        return Reason("placed in its day; {0}", due_in_words(float(feeds.column("due")[i]), now))


def _until_next(placed: Floats, now: Floats) -> Floats:
    """Return (m,) seconds until the next of (m, 96) placed times of the day, a day if nothing is placed.

    Skips times closer than half a usual gap; otherwise a feed served late would be due again at once.
    """
    count = np.isfinite(placed).sum(axis=1)
    near = DAY / (2 * np.maximum(count, 1))[:, None]
    with np.errstate(invalid="ignore"):
        gap = (placed - (now % DAY)[:, None] - near) % DAY + near
    return np.where(count > 0, np.nan_to_num(gap, nan=np.inf).min(axis=1, initial=np.inf), DAY)


def placements(rates: Floats, m: int) -> Floats:
    """Return (n, m) seconds of the day at which m retrievals have the least delay.

    `rates` are (n, 24). Moves each time in turn to where the condition holds between its neighbours, found by
    bisection.
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
    """Return (n, m) times that cut each day's density into m equal parts, the solution for large m."""
    total = _cumulated(density)
    goals = (np.arange(m) + 0.5) / m
    hours = np.arange(DAY_HOURS + 1)
    return np.array([np.interp(goals * row[-1], row, hours) for row in total]) * HOUR


def _between(rates: Floats, total: Floats, before: Floats, after: Floats) -> Floats:
    """Return (n,) times t with lambda(t) (after - t) = integral of lambda over [before, t]."""
    low, high = before.copy(), after.copy()
    begun, _ = _until(rates, total, before)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        posted, rate = _until(rates, total, middle)
        early = rate * (after - middle) / HOUR > posted - begun
        low, high = np.where(early, middle, low), np.where(early, high, middle)
    return (low + high) / 2


def _cumulated(rates: Floats) -> Floats:
    """Return (n, 25) articles up to each hour's beginning."""
    return np.concatenate([np.zeros((len(rates), 1)), np.cumsum(rates, axis=1)], axis=1)


def _until(rates: Floats, total: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Return the articles from the day's beginning to `times`, and the rate at `times`.

    `times` may lie a day before or after.
    """
    whole, into = np.divmod(times, DAY)
    hour = np.minimum(into // HOUR, DAY_HOURS - 1).astype(np.int64)
    row = np.arange(len(rates))
    rate = rates[row, hour]
    return whole * total[:, -1] + total[row, hour] + rate * (into / HOUR - hour), rate
