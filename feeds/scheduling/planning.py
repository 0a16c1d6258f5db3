"""Planning by hours of the week: the number of pending articles that makes a retrieval worth its price.

For one feed with posting rate lambda and a price p(t) for a retrieval, let h(t) be the cost from t on just
after a retrieval, relative to the mean cost g per hour (average-cost dynamic programme):

    h(t) = min over u > t of  D(t, u) + p(u) - g (u - t) + h(u),   D(t, u) = sum of pending over (t, u]

At t with n articles pending it is better to retrieve now than to wait until any u exactly if n exceeds

    n*(t) = max over u of  (p(t) + h(t) - p(u) - h(u) - D(t, u)) / (u - t) + g

which for a flat rate and price is sqrt(2 p lambda), the square-root law of Sia, Cho and Cho (2007) and the
threshold of the Whittle index. A plan's shapes are n* relative to this threshold. The prices make the
retrievals of all feeds together fit the budget of every hour: a busy hour costs more than a quiet one. They
are found by dual ascent, one step with each day's plan, on the rates known on that day.

Time is counted in hours of the week (Monday 0:00 UTC first), prices in article-hours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from feeds.scheduling.forecast import smoothed
from feeds.scheduling.rates import DAY, WEEK_HOURS, Floats, Floats32, Integers

PLAN_SECONDS = DAY
# Gaps between retrievals, in hours, that a plan may use: every one up to a day (with even gaps only, an odd
# hour could not wait for an even hour of the next day), and some longer ones.
_GAPS = np.unique(np.r_[1:27, 28:53:2, 56:101:4, 108:169:12]).astype(np.int64)
_SWEEPS = 2
_STEP = 0.1
_PRICE_WIDTH = 2.0
# Limits of a plan's shapes, because estimates of profiles err, too.
MIN_SHAPE, MAX_SHAPE = 0.4, 4.0
# Weeks of the simulated visits, the first of which is left out: all feeds begin it at once.
_WEEKS = 3
_BLOCK = 4096


def first_prices(rates: ArrayLike, per_hour: float) -> Floats:
    """Return (168,) copies of the price at which flat plans spend `per_hour` retrievals.

    `rates` are (n, 168).
    """
    means = np.asarray(rates, dtype=np.float64).mean(axis=1)
    return np.full(WEEK_HOURS, float(np.sqrt(means).sum() / per_hour) ** 2 / 2)


def todays_prices(prices: Floats, rates: ArrayLike, per_hour: float) -> Floats:
    """Return the (168,) prices scaled to the mean price that the current rates call for."""
    today: Floats = prices * (first_prices(rates, per_hour).mean() / prices.mean())
    return today


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for n feeds.

    `shapes` (n, 168) are the thresholds n* at each hour's beginning, relative to those of a flat rate and
    price; `visits` (168,) are the retrievals in each hour when every feed follows its plan.
    """

    shapes: Floats32
    visits: Floats

    def next_prices(self, prices: Floats) -> Floats:
        """Return the (168,) prices after a step of dual ascent: hours with more visits than the mean cost
        more.
        """
        visits = smoothed(self.visits, _PRICE_WIDTH)
        tomorrow: Floats = prices * np.exp(_STEP * (visits / visits.mean() - 1))
        return tomorrow


def planned(rates: ArrayLike, prices: Floats) -> Plan:
    """Plan the retrievals of feeds with (n, 168) rates at (168,) prices."""
    table = np.atleast_2d(np.asarray(rates, dtype=np.float64))
    shapes, visits = np.empty(table.shape, dtype=np.float32), np.zeros(WEEK_HOURS)
    for begin in range(0, len(table), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        thresholds, gaps = _solved(table[rows], prices)
        relative = thresholds / _flat_threshold(table[rows].mean(axis=1), float(prices.mean()))
        shapes[rows] = np.clip(relative, MIN_SHAPE, MAX_SHAPE).T
        visits += _visits(gaps)
    return Plan(shapes, visits)


def _flat_threshold(rate: Floats, price: float) -> Floats:
    """Return the (n,) n* by hours for flat rates: sqrt(2 p lambda) on the grid of hours."""
    gaps = _GAPS[:, None]
    cost = (price / gaps + rate * (gaps + 1) / 2).min(axis=0)
    threshold: Floats = cost - rate
    return threshold


def _visits(gaps: Integers) -> Floats:
    """Return (168,) retrievals in each hour of the week, from (168, n) hours until the next."""
    feeds = gaps.shape[1]
    # Not all at once: each begins at an hour of its own.
    at = np.arange(feeds, dtype=np.int64) % WEEK_HOURS
    rows, counted = np.arange(feeds), np.zeros(WEEK_HOURS)
    while len(rows):
        at = at + gaps[at % WEEK_HOURS, rows]
        within = at < _WEEKS * WEEK_HOURS
        at, rows = at[within], rows[within]
        counted += np.bincount(at[at >= WEEK_HOURS] % WEEK_HOURS, minlength=WEEK_HOURS)
    return counted / (_WEEKS - 1)


def _solved(rates: Floats, prices: Floats) -> tuple[Floats, Integers]:
    """Return (168, n) thresholds and hours until the next retrieval, for (n, 168) rates.

    Solves the dynamic programme backwards through the week until it repeats itself.
    """
    feeds, reach = len(rates), int(_GAPS[-1])
    span = WEEK_HOURS + reach
    turn = np.arange(span + 1) % WEEK_HOURS
    # With N articles and M = sum of hour * articles before an hour, D(t, u) = (N_u - N_t) u - (M_u - M_t).
    hourly = rates.T[turn[:-1]]
    articles = np.vstack([np.zeros((1, feeds)), np.cumsum(hourly, axis=0)])
    moments = np.vstack([np.zeros((1, feeds)), np.cumsum(hourly * np.arange(span)[:, None], axis=0)])
    # What depends on u alone: N_u u - M_u + p(u).
    base = articles * np.arange(span + 1)[:, None] - moments + prices[turn][:, None]
    mean_cost = np.sqrt(2 * prices.mean() * rates.mean(axis=1))
    value, thresholds = np.zeros((span + 1, feeds)), np.empty((WEEK_HOURS, feeds))
    best = np.empty((WEEK_HOURS, feeds), dtype=np.int64)
    gaps = _GAPS[:, None].astype(np.float64)
    for sweep in range(_SWEEPS):
        last = sweep == _SWEEPS - 1
        for t in range(WEEK_HOURS - 1, -1, -1):
            later = t + _GAPS
            cost = base[later] + value[later] + moments[t] - articles[t] * later[:, None]
            relative = cost - mean_cost * gaps
            value[t] = relative.min(axis=0)
            if last:
                best[t] = _GAPS[relative.argmin(axis=0)]
                thresholds[t] = ((value[t] + prices[t] - cost) / gaps).max(axis=0) + mean_cost
        drift = (value[0] - value[WEEK_HOURS]) / WEEK_HOURS
        mean_cost = mean_cost + drift
        week = value[:WEEK_HOURS] + drift * np.arange(WEEK_HOURS)[:, None]
        value[WEEK_HOURS:] = (week - week[0])[turn[WEEK_HOURS:]]
    return thresholds, best
