"""Posting histories of feeds: articles by hour of day and by hour of week (UTC).

The 24 hourly rates are advaRSS's (section 3.2 of Adam, Bouras and Poulopoulos 2010: the new articles are
spread over the hours since the last retrieval). The 168 counts and exposures also use the published times,
which that spreading loses; `feeds.scheduling.forecast` turns them into rates.
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
MIN_RATE = 1e-3
# Half-lives of the profile, of the level over weeks and of the level over days. On publishers' and
# communities' traces half or twice as long moves total pending by less than 1 %.
HALF_LIFE = 112 * DAY
LEVEL_HALF_LIVES = (28 * DAY, 3 * DAY)


@dataclass(frozen=True, slots=True)
class Retrievals:
    """Successful retrievals of m feeds, each feed at most once.

    `rows` (m,) places the feeds in the caller's arrays; `last` and `now` (m,) are epoch seconds of the
    previous retrieval and of this one; `new` (m,) counts the new articles. `published` (p,) holds the
    published times of the new articles, `owner` (p,) the position 0..m-1 that each time belongs to.
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
        """Build from sequences; `published` gives a list of times per feed, of any length.

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
        """Return empty histories of n feeds."""
        return cls(
            hourly=np.full((n, DAY_HOURS), START_RATE, dtype=np.float32),
            days=np.zeros(n, dtype=np.float32),
            counts=np.zeros((n, WEEK_HOURS), dtype=np.float32),
            exposure=np.zeros((n, WEEK_HOURS), dtype=np.float32),
            levels=np.zeros((n, 4), dtype=np.float32),
        )

    def hourly_rates(self, rows: Integers | slice = slice(None)) -> Floats32:
        """Return the (m, 24) advaRSS rates of these feeds, at least MIN_RATE each."""
        return np.maximum(self.hourly[rows], np.float32(MIN_RATE))

    def forecast(self, population: Population, rows: Integers | slice = slice(None)) -> Forecast:
        """Return the forecast for these feeds."""
        return forecast(self.counts[rows], self.exposure[rows], self.levels[rows], population)

    def observe(
        self, retrievals: Retrievals, population: Population, half_life: float = HALF_LIFE
    ) -> Forecast:
        """Enter m retrievals. Returns the forecast that was made for these feeds before.

        Undated articles are spread by `population` together with the feed's own profile; `half_life` is in
        seconds of the feed's time. The first retrieval of a feed has no `last`: the caller may use the oldest
        published time in its document.
        """
        self.observe_hours(retrievals)
        rows = retrievals.rows
        passed = np.maximum(retrievals.now - retrievals.last, 0.0)
        fade = np.exp2(-passed / half_life).astype(np.float32)[:, None]
        before = self.forecast(population, rows)
        watched = exposure(retrievals.last, retrievals.now, WEEK_HOURS)
        self.counts[rows] = self.counts[rows] * fade + _placed(retrievals, watched, before.profile)
        self.exposure[rows] = self.exposure[rows] * fade + watched
        lately = np.stack([retrievals.new, (watched * before.profile).sum(axis=1)], axis=1)
        fades = np.exp2(-passed[:, None] / np.repeat(LEVEL_HALF_LIVES, 2)).astype(np.float32)
        self.levels[rows] = self.levels[rows] * fades + np.tile(lately, 2)
        return before

    def observe_hours(self, retrievals: Retrievals) -> None:
        """Enter retrievals in advaRSS's rates alone: each hour since the last retrieval had the interval's
        mean.
        """
        rows, hours = retrievals.rows, exposure(retrievals.last, retrievals.now, DAY_HOURS)
        # Avoids a division by zero for two retrievals in one second, which change no hour.
        mean = retrievals.new / np.maximum((retrievals.now - retrievals.last) / HOUR, 1 / HOUR)
        weight = 1 + self.days[rows][:, None]
        moved = (self.hourly[rows] * weight + hours * mean[:, None]) / (weight + hours)
        self.hourly[rows] = moved
        self.days[rows] += np.maximum(retrievals.now - retrievals.last, 0.0) / DAY


def _placed(retrievals: Retrievals, watched: Floats, profile: Floats32) -> Floats:
    """Distribute the new articles over the hours of the week. Returns (m, 168) articles.

    A published time in (last, now] places its article. The others (undated, back-dated, from the future) are
    spread over the hours since the last retrieval as the profile expects them.
    """
    m = len(retrievals.rows)
    # Back-dated articles and those of the future say nothing of the hour in which they appeared.
    usable = (retrievals.published > retrievals.last[retrievals.owner]) & (
        retrievals.published <= retrievals.now[retrievals.owner]
    )
    cells = retrievals.owner[usable] * WEEK_HOURS + hour_of(retrievals.published[usable], WEEK_HOURS)
    placed: Floats = np.bincount(cells, minlength=m * WEEK_HOURS).reshape(m, WEEK_HOURS).astype(np.float64)
    dated = placed.sum(axis=1)
    share = watched * profile
    total = share.sum(axis=1)
    # No time passed, so the articles count in the current hour.
    instant = np.flatnonzero(total <= 0)
    share[instant, hour_of(retrievals.now[instant], WEEK_HOURS)] = 1.0
    total[instant] = 1.0
    undated = np.maximum(retrievals.new - dated, 0.0)
    placed += share * (undated / total)[:, None]
    return placed


def pack(table: ArrayLike) -> list[bytes]:
    """Encode the rows of an (n, 24) or (n, 168) table for the database: float32, little-endian."""
    return [row.tobytes() for row in np.asarray(table, dtype="<f4")]


def unpack(blobs: Sequence[bytes | memoryview], hours: int) -> Floats32:
    """Decode n rows of `pack` into an (n, hours) table. Raises ValueError when a row has another length."""
    # A row of another length would shift all that follow.
    for length in set(map(len, blobs)):
        if length != 4 * hours:
            raise ValueError(f"{length} bytes are not {hours} hours of float32")
    flat = np.frombuffer(bytearray().join(blobs), dtype="<f4")
    return flat.reshape(len(blobs), hours).astype(np.float32, copy=False)
