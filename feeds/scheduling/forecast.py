"""Posting rates from counts: Gamma-Poisson shrinkage, level by level, for hour-of-week profiles.

A feed's profile is the population's hours of the week, corrected by the feed's own hours of the day; its
level is its mean over the last weeks, corrected by its articles of the last days. Each correction is the
posterior mean of a factor with a Gamma(a, a) prior: (articles + a) / (articles expected without it + a). Most
feeds post a handful of articles a week, so finer corrections (days, single hours of the week, bursts within a
day) add more noise than information; docs/notes/scheduling.md has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats, Floats32

# One article in eleven years: a rate of zero would end the visits for ever.
MIN_RATE = 1e-5
# The a of each prior: the articles that a feed needs for its own data to weigh as much as the prior.
# Chosen on half of the feeds of two traces and judged on the other: docs/notes/scheduling.md.
_LEVEL, _HOURS, _RECENT = 1.2, 5.0, 6.0
# The articles of all feeds together that weigh as much as the prior's hours of the week.
PRIOR_ARTICLES = 1000.0
# Standard deviations, in hours, of the kernels that smooth neighbouring hours.
_WEEK_WIDTH, _DAY_WIDTH = 0.7, 1.0
# Rows computed at once, so that they fit a processor's cache.
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Population:
    """The expectations for a feed that has not been observed yet.

    `mean` articles per hour, and `profile` (168,) the hours of the week relative to it (mean 1). Without
    arguments: an article in 20 hours, at any hour alike.
    """

    mean: float = 0.05
    profile: Floats = field(default_factory=lambda: np.ones(WEEK_HOURS))

    @classmethod
    def of(
        cls,
        counts: ArrayLike,
        exposure: ArrayLike,
        prior: Population | None = None,
        articles: float = PRIOR_ARTICLES,
    ) -> Population:
        """Estimate the population from counts and exposures summed over many feeds, both (168,).

        `articles` is the number of articles that the measured profile needs to weigh as much as that of
        `prior`. Returns the prior when nothing was counted or there is no exposure.
        """
        before = prior or cls()
        posted, hours = np.asarray(counts, dtype=np.float64), np.asarray(exposure, dtype=np.float64)
        if hours.sum() <= 0 or posted.sum() <= 0:
            return before
        mean = posted.sum() / hours.sum()
        usual = articles / WEEK_HOURS
        profile = (posted + usual * before.profile) / (hours * mean + usual)
        profile = smoothed(profile, _WEEK_WIDTH)
        return cls(mean=float(mean), profile=profile / profile.mean())


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected posts of n feeds: `level` (n,) articles per hour, `profile` (n, 168) with mean 1."""

    level: Floats
    profile: Floats32

    def rates(self) -> Floats32:
        """Return (n, 168) articles per hour."""
        return np.maximum(self.level[:, None] * self.profile, MIN_RATE).astype(np.float32)


def forecast(counts: ArrayLike, exposure: ArrayLike, levels: ArrayLike, population: Population) -> Forecast:
    """Forecast posts from (n, 168) counts and hours of exposure, and `levels` (n, 4).

    `levels` holds the articles of the last weeks and the hours watched in them, then both for the last days;
    each hour is weighted with the feed's profile.
    """
    counted, hours, lately = np.atleast_2d(counts), np.atleast_2d(exposure), np.atleast_2d(levels)
    profile = np.empty(counted.shape, dtype=np.float32)
    for begin in range(0, len(counted), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        profile[rows] = _profile(counted[rows], hours[rows], population)
    articles, watched, new_articles, newly_watched = lately.astype(np.float64).T
    mean = (articles + _LEVEL) / (watched + _LEVEL / population.mean)
    return Forecast(mean * (new_articles + _RECENT) / (mean * newly_watched + _RECENT), profile)


def _profile(counts: ArrayLike, exposure: ArrayLike, population: Population) -> Floats:
    """Compute the profiles of a block of feeds."""
    articles = np.asarray(counts, dtype=np.float64).reshape(-1, 7, DAY_HOURS)
    hours = np.asarray(exposure, dtype=np.float64).reshape(-1, 7, DAY_HOURS)
    week = population.profile.reshape(1, 7, DAY_HOURS)
    usual = hours * week
    mean = (articles.sum(axis=(1, 2)) + _LEVEL) / (usual.sum(axis=(1, 2)) + _LEVEL / population.mean)
    smoothed_days = smoothed(articles.sum(axis=1), _DAY_WIDTH)
    foreseen = smoothed(usual.sum(axis=1) * mean[:, None], _DAY_WIDTH)
    profile = week * ((smoothed_days + _HOURS) / (foreseen + _HOURS))[:, None, :]
    # A profile is relative: its level is estimated apart.
    profile /= profile.mean(axis=(1, 2), keepdims=True)
    return profile.reshape(-1, WEEK_HOURS)


def smoothed(table: Floats, width: float) -> Floats:
    """Spread each value over its neighbours on a circle (last axis) by a Gaussian `width` hours wide."""
    spread: Floats = table @ _spread(table.shape[-1], width)
    return spread


@cache
def _spread(size: int, width: float) -> Floats:
    """Return the (size, size) smoothing weights; each row sums to 1."""
    places = np.arange(size)
    apart = np.abs(places[:, None] - places)
    weights: Floats = np.exp(-0.5 * (np.minimum(apart, size - apart) / width) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
