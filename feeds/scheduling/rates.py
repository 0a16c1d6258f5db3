"""Periodic posting rates and their exact integral, to the second.

The integral is the expected number of new articles of advaRSS (equation 5 of Adam, Bouras and
Poulopoulos 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Integers = NDArray[np.int64]

HOUR, DAY = 3600.0, 86400.0
DAY_HOURS = 24
WEEK_HOURS = 168
# The epoch began on a Thursday, the week begins on Monday.
_FIRST_HOUR = {DAY_HOURS: 0, WEEK_HOURS: 72}
# Rows summed at once, so that they fit a processor's cache.
_BLOCK = 1024


def _position(times: ArrayLike, hours: int) -> tuple[Floats, Floats]:
    """Return the whole periods before each time, and the seconds into the period it falls in."""
    shifted = np.asarray(times, dtype=np.float64) + _FIRST_HOUR[hours] * HOUR
    whole, into = np.divmod(shifted, hours * HOUR)
    return whole, into


def hour_of(times: ArrayLike, hours: int) -> Integers:
    """Return the hour of day (`hours` 24) or of week, Monday first (168), of epoch seconds in UTC."""
    _, into = _position(times, hours)
    return np.minimum(into // HOUR, hours - 1).astype(np.int64)


def between_hours(table: ArrayLike, now: ArrayLike, first: int = 0) -> Floats:
    """Interpolate a (n, 168) table at epoch seconds `now` (one time, or one per feed). Returns (n,) values.

    Values hold at the beginning of their hour and are interpolated linearly in between. A narrower table has
    the hours of the week from `first` on. Raises IndexError for a time outside of the table's hours.
    """
    values = np.asarray(table)
    _, into = _position(np.broadcast_to(np.asarray(now, dtype=np.float64), len(values)), WEEK_HOURS)
    hour = np.minimum((into // HOUR).astype(np.int64), WEEK_HOURS - 1)
    share = into / HOUR - hour
    row = np.arange(len(values))
    begin, end = (hour - first) % WEEK_HOURS, (hour + 1 - first) % WEEK_HOURS
    between: Floats = values[row, begin] * (1 - share) + values[row, end] * share
    return between


def exposure(last: ArrayLike, now: ArrayLike, hours: int) -> Floats:
    """Return how long (last, now] covered each hour of the period, (n, hours) in hours.

    `last` and `now` are (n,) epoch seconds. An interval that ends before it begins covers nothing.
    """
    begin, end = _ordered(last, now)
    first, start = _position(begin, hours)
    final, stop = _position(end, hours)
    bins = np.arange(hours)
    covered: Floats = np.clip(stop[:, None] / HOUR - bins, 0, 1) - np.clip(start[:, None] / HOUR - bins, 0, 1)
    covered += (final - first)[:, None]
    # Whole periods are added before a part is taken away, which leaves rounding crumbs below zero.
    return np.maximum(covered, 0.0, out=covered)


def _ordered(last: ArrayLike, now: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as float64 arrays of one shape, `last` never after `now`."""
    begin, end = np.broadcast_arrays(np.asarray(last, dtype=np.float64), np.asarray(now, dtype=np.float64))
    return np.minimum(begin, end), end


@dataclass(frozen=True, slots=True)
class PeriodicRates:
    """Posting rates of n feeds that repeat every day (24 hours) or week (168 hours, Monday first).

    `rates` is (n, 24) or (n, 168) articles per hour, float32. `articles` (n, hours + 1) are prefix sums over
    the period: articles up to an hour's beginning. They reduce every integral to a few look-ups, however long
    the interval; they take 8 bytes an hour and feed, so a million feeds are ranked in blocks.
    """

    rates: Floats32
    articles: Floats

    @classmethod
    def of(cls, rates: ArrayLike, *, copy: bool = True) -> PeriodicRates:
        """Build from (n, 24) or (n, 168) rates. Raises ValueError for another shape or impossible rates.

        Without `copy`, a float32 table given up by the caller is kept as it is.
        """
        table = np.array(rates, np.float32, ndmin=2) if copy else np.asarray(rates, np.float32)
        if table.ndim != 2 or table.shape[1] not in _FIRST_HOUR:
            raise ValueError(f"rates are (n, 24) or (n, 168), not {table.shape}")
        # NaN fails both comparisons.
        if table.size and not (table.min() >= 0 and table.max() < np.inf):
            raise ValueError("a posting rate is a finite number of articles per hour, not below zero")
        n, hours = table.shape
        table_of_rates = cls(table, np.zeros((n, hours + 1)))
        for begin in range(0, n, _BLOCK):
            table_of_rates._sum(slice(begin, begin + _BLOCK))
        return table_of_rates

    def put(self, rows: Integers, rates: ArrayLike) -> None:
        """Replace the rates of some feeds in place: (m,) rows, (m, hours) rates."""
        self.rates[rows] = rates
        self._sum(rows)

    def take(self, rows: Integers) -> PeriodicRates:
        """Return a copy of the rates of some feeds."""
        return PeriodicRates(self.rates[rows], self.articles[rows])

    def mean(self) -> Floats:
        """Return (n,) articles per hour over a whole period."""
        mean: Floats = self.articles[:, -1] / self.rates.shape[1]
        return mean

    def expected(self, last: ArrayLike, now: ArrayLike) -> Floats:
        """Return the expected new articles in (last, now]: the integral of rate(s) / 3600 over s.

        `last` and `now` are finite epoch seconds, scalars or (n,). Returns 0 for an interval that ends before
        it begins.
        """
        n, hours = self.rates.shape
        begin, end = _ordered(np.broadcast_to(np.asarray(last, dtype=np.float64), n), now)
        (first, start), (final, stop) = _position(begin, hours), _position(end, hours)
        whole = (final - first) * self.articles[:, -1]
        count: Floats = whole + self._articles_until(stop) - self._articles_until(start)
        return np.maximum(count, 0.0)

    def _sum(self, rows: Integers | slice) -> None:
        self.articles[rows, 1:] = np.cumsum(self.rates[rows], axis=1, dtype=np.float64)

    def _articles_until(self, into: Floats) -> Floats:
        """Return the articles from the period's beginning to `into` seconds of it."""
        n, hours = self.rates.shape
        row = np.arange(n)
        hour = np.minimum((into // HOUR).astype(np.int64), hours - 1)
        rate = self.rates[row, hour].astype(np.float64)
        until: Floats = self.articles[row, hour] + rate * (into - hour * HOUR) / HOUR
        return until
