"""An invented trace for trying policies if no recorded one is at hand: six weeks of sixty feeds."""

from __future__ import annotations

import numpy as np

from feeds.replay.trace import Trace
from feeds.scheduling.rates import DAY, DAY_HOURS, HOUR, WEEK_HOURS, Floats

SAMPLE_NAME = "invented"
FEEDS, WEEKS = 60, 6
_MONDAY = 1767571200.0  # 2026-01-05, UTC
_SEED = 11


def sample_trace() -> Trace:
    """Return the built-in sample trace.

    Rates are lognormal, from an article an hour to one a week. Each feed has its own busy hours and its own
    weekend; one post in five is followed by others within the next half hour.
    """
    rng = np.random.default_rng(_SEED)
    posts: list[tuple[str, float]] = []
    for number in range(FEEDS):
        a_day = float(np.clip(rng.lognormal(0.6, 1.3), 0.15, 60))
        # An inhomogeneous Poisson process.
        counts = rng.poisson(np.tile(_week(rng) * (a_day * 7 / 1.4), WEEKS))
        begin = _MONDAY + np.repeat(np.arange(WEEKS * WEEK_HOURS), counts) * HOUR
        starts = begin + rng.uniform(0, HOUR, len(begin))
        bursts = starts[rng.random(len(starts)) < 0.2]
        followers = np.repeat(bursts, rng.integers(1, 4, len(bursts)))
        followers += rng.uniform(60, 1800, len(followers))
        times = np.concatenate([starts, followers])
        times = times[times < _MONDAY + WEEKS * 7 * DAY]
        posts += [(f"feed-{number:02}", time) for time in np.floor(times).tolist()]
    return Trace.of(SAMPLE_NAME, posts)


def _week(rng: np.random.Generator) -> Floats:
    """Return (168,) shares of a week's posts by hour, Monday first."""
    hours = np.arange(DAY_HOURS)
    away = np.abs((hours - rng.normal(13, 4) + 12) % 24 - 12)
    day = np.exp(-((away / rng.uniform(2.5, 8)) ** 2)) + rng.uniform(0.01, 0.15)
    days = np.r_[rng.uniform(0.8, 1.2, 5), rng.uniform(0.1, 1.0, 2)]
    week = np.outer(days, day).ravel()
    shares: Floats = week / week.sum()
    return shares
