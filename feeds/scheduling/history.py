"""Posting history of feeds: how many articles each posts, by hour of day and by hour of week (UTC).

The 24 hourly rates are advaRSS's (section 3.2 of Adam, Bouras and Poulopoulos 2010: the new articles
are spread over the hours since the last retrieval). The 168 counts and exposures carry what that
spreading loses, the published times; `feeds.scheduling.forecast` makes rates of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from feeds.scheduling.forecast import Forecast, Population, forecast
from feeds.scheduling.rates import (
    DAY,
    DAY_HOURS,
    HOUR,
    WEEK_HOURS,
    Floats,
    Floats32,
    Integers,
    exposure,
    hour_of,
)

# advaRSS starts all feeds at one rate and never lets one fall to nothing, or it would not be seen again.
# The paper calls its rates an average over the history: the start counts as one day of it.
START_RATE = 0.1
LEAST_RATE = 1e-3
# How fast the profile, the level of the weeks and that of the days fade. On publishers' and communities'
# traces half as long or twice as long moves total pending by less than 1 %.
HALF_LIFE = 56 * DAY
LEVEL_HALF_LIVES = (28 * DAY, 3 * DAY)


@dataclass(frozen=True, slots=True)
class Retrievals:
    """Successful retrievals of m feeds, each feed at most once.

    `rows` (m,) places the feeds in the caller's arrays; `last` and `now` (m,) are epoch seconds of the
    retrieval before and of this one; `new` (m,) counts the new articles. `published` (p,) holds the
    published times that the new articles give, `owner` (p,) the position 0..m-1 each belongs to.
    """

    rows: Integers
    last: Floats
    now: Floats
    new: Integers
    owner: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    published: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(
        cls,
        rows: ArrayLike,
        last: ArrayLike,
        now: ArrayLike,
        new: ArrayLike,
        published: Sequence[Sequence[float]] = (),
    ) -> Retrievals:
        """From sequences; `published` gives a list of times per feed, of any length.

        `last` and `now` may be scalars. Raises ValueError when the lengths do not agree.
        """
        places = np.asarray(rows, dtype=np.int64)
        if published and len(published) != len(places):
            raise ValueError(f"{len(published)} lists of published times for {len(places)} feeds")
        owner = np.repeat(np.arange(len(published)), [len(times) for times in published])
        flat = [time for times in published for time in times]
        return cls(
            rows=places,
            last=np.broadcast_to(np.asarray(last, dtype=np.float64), places.shape),
            now=np.broadcast_to(np.asarray(now, dtype=np.float64), places.shape),
            new=np.broadcast_to(np.asarray(new, dtype=np.int64), places.shape),
            owner=owner.astype(np.int64),
            published=np.asarray(flat, dtype=np.float64),
        )


@dataclass(frozen=True, slots=True)
class Histories:
    """Posting histories of n feeds, changed in place by `observe`.

    `hourly` (n, 24) articles per hour, means over the `days` (n,) watched (rank by `hourly_rates`); `counts`
    (n, 168) articles and `exposure` (n, 168) hours watched for each hour of the week (Monday first), fading
    over months; `levels` (n, 4) articles and hours watched (weighted with the feed's profile) that fade over
    weeks, then both fading over days.
    """

    hourly: Floats32
    days: Floats32
    counts: Floats32
    exposure: Floats32
    levels: Floats32

    @classmethod
    def start(cls, n: int) -> Histories:
        """Histories of n feeds of which nothing is known."""
        return cls(
            hourly=np.full((n, DAY_HOURS), START_RATE, dtype=np.float32),
            days=np.zeros(n, dtype=np.float32),
            counts=np.zeros((n, WEEK_HOURS), dtype=np.float32),
            exposure=np.zeros((n, WEEK_HOURS), dtype=np.float32),
            levels=np.zeros((n, 4), dtype=np.float32),
        )

    def hourly_rates(self, rows: Integers | slice = slice(None)) -> Floats32:
        """(m, 24) advaRSS's rates of these feeds, never below their minimum."""
        return np.maximum(self.hourly[rows], np.float32(LEAST_RATE))

    def forecast(self, population: Population, rows: Integers | slice = slice(None)) -> Forecast:
        """What is expected of these feeds."""
        return forecast(self.counts[rows], self.exposure[rows], self.levels[rows], population)

    def observe(self, done: Retrievals, population: Population, half_life: float = HALF_LIFE) -> Forecast:
        """Enter what m retrievals brought; what had been expected of these feeds before.

        `population` is what undated articles are spread by, together with the feed's own profile;
        `half_life` is in seconds of the feed's time. The first retrieval of a feed has no `last`: its
        document may serve, with `last` the oldest published time in it.
        """
        self.observe_hours(done)
        rows = done.rows
        passed = np.maximum(done.now - done.last, 0.0)
        fade = np.exp2(-passed / half_life).astype(np.float32)[:, None]
        before = self.forecast(population, rows)
        watched = exposure(done.last, done.now, WEEK_HOURS)
        self.counts[rows] = self.counts[rows] * fade + _placed(done, watched, before.profile)
        self.exposure[rows] = self.exposure[rows] * fade + watched
        lately = np.stack([done.new, (watched * before.profile).sum(axis=1)], axis=1)
        fades = np.exp2(-passed[:, None] / np.repeat(LEVEL_HALF_LIVES, 2)).astype(np.float32)
        self.levels[rows] = self.levels[rows] * fades + np.tile(lately, 2)
        return before

    def observe_hours(self, done: Retrievals) -> None:
        """Enter them in advaRSS's rates alone: each hour since the last retrieval had the interval's mean."""
        rows, hours = done.rows, exposure(done.last, done.now, DAY_HOURS)
        # Two retrievals in one second: the mean rate of nothing is nothing, and no hour has moved.
        mean = done.new / np.maximum((done.now - done.last) / HOUR, 1 / HOUR)
        known = 1 + self.days[rows][:, None]
        moved = (self.hourly[rows] * known + hours * mean[:, None]) / (known + hours)
        self.hourly[rows] = moved
        self.days[rows] += np.maximum(done.now - done.last, 0.0) / DAY


def _placed(done: Retrievals, watched: Floats, profile: Floats32) -> Floats:
    """(m, 168) new articles, each in its hour of week.

    A published time in (last, now] places its article. The others (undated, back-dated, from the
    future) are spread over the hours since the last retrieval as the profile expects them.
    """
    m = len(done.rows)
    usable = (done.published > done.last[done.owner]) & (done.published <= done.now[done.owner])
    cells = done.owner[usable] * WEEK_HOURS + hour_of(done.published[usable], WEEK_HOURS)
    placed: Floats = np.bincount(cells, minlength=m * WEEK_HOURS).reshape(m, WEEK_HOURS).astype(np.float64)
    dated = placed.sum(axis=1)
    share = watched * profile
    total = share.sum(axis=1)
    # No time passed: all that is known of the hour is that it is this one.
    instant = np.flatnonzero(total <= 0)
    share[instant, hour_of(done.now[instant], WEEK_HOURS)] = 1.0
    total[instant] = 1.0
    rest = np.maximum(done.new - dated, 0.0)
    placed += share * (rest / total)[:, None]
    return placed


def pack(table: ArrayLike) -> list[bytes]:
    """Rows of an (n, 24) or (n, 168) table as the database keeps them: float32, little-endian."""
    return [row.tobytes() for row in np.asarray(table, dtype="<f4")]


def unpack(blobs: Sequence[bytes | memoryview], hours: int) -> Floats32:
    """(n, hours) table from n rows of `pack`. Raises ValueError when a row has another length."""
    for length in set(map(len, blobs)):
        if length != 4 * hours:
            raise ValueError(f"{length} bytes are not {hours} hours of float32")
    flat = np.frombuffer(bytearray().join(blobs), dtype="<f4")
    return flat.reshape(len(blobs), hours).astype(np.float32, copy=False)
