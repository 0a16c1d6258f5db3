"""Scheduling rules of other crawlers, after their source code.

Taken from the sources of Miniflux (internal/model/feed.go), CommaFeed (FeedRefreshIntervalCalculator.java),
NewsBlur (apps/rss_feeds/models.py) and Apache Nutch (AdaptiveFetchSchedule.java). `scale` multiplies every
interval, so that they can be compared at the same number of retrievals.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.text.reasons import Reason
from feeds.scheduling.base import FeedStates, Punctual, due_in_words, in_words
from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import DAY, HOUR

MINUTE = 60.0
_REMEMBERED = 30 * DAY


@dataclass(frozen=True, slots=True)
class Intervals(Punctual):
    """Base of policies with an interval for each feed, renewed at each retrieval."""

    scale: float = 1.0

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return the columns `due` (spread over the first hour), `interval` in seconds and `posts` (published
        times).
        """
        posts = np.empty(n, dtype=object)
        for i in range(n):
            posts[i] = []
        return {"due": now + rng.uniform(0, HOUR, n), "interval": np.full(n, HOUR), "posts": posts}

    def after_retrieval(self, feeds: FeedStates, retrievals: Retrievals) -> Mapping[str, NDArray[Any]]:
        """Return the new columns of the retrieved feeds."""
        posts = feeds.column("posts")[retrievals.rows]
        split = np.searchsorted(retrievals.owner, np.arange(len(retrievals.rows) + 1))
        for i, times in enumerate(posts):
            times.extend(sorted(retrievals.published[split[i] : split[i + 1]].tolist()))
            # The newest stays, however old it is.
            del times[: min(bisect_right(times, retrievals.now[i] - _REMEMBERED), len(times) - 1)]
        before = feeds.column("interval")[retrievals.rows]
        interval = np.array(
            [
                self.interval(times, now, float(old), bool(new))
                for times, now, old, new in zip(posts, retrievals.now, before, retrievals.new, strict=True)
            ]
        )
        return {"due": retrievals.now + self.scale * interval, "interval": interval, "posts": posts}

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """Return the seconds until the next retrieval.

        `posts` holds the sorted published times of the last month (and the newest), `before` is the previous
        interval, and `changed` says whether this retrieval brought anything new.
        """
        raise NotImplementedError

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        interval, due = float(feeds.column("interval")[i]), float(feeds.column("due")[i])
        return Reason("every {0}; {1}", in_words(self.scale * interval), due_in_words(due, now))


class Miniflux(Intervals):
    """Miniflux's entry_frequency: a week over last week's articles, between 5 minutes and 1 day."""

    name: ClassVar[str] = "miniflux"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """Estimate the week's articles from their mean gap, as Miniflux does. One counts as none."""
        week = posts[bisect_right(posts, now - 7 * DAY) :]
        if len(week) < 2:
            return DAY
        gap = (week[-1] - week[0]) / (len(week) - 1)
        weekly = np.ceil(7 * DAY / gap) if gap > 0 else np.inf
        return float(np.clip(7 * DAY / weekly, 5 * MINUTE, DAY))


class CommaFeed(Intervals):
    """CommaFeed's rule: by the age of the newest article, and half the mean gap for active feeds."""

    name: ClassVar[str] = "commafeed"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """Return an interval between 5 minutes and 4 hours."""
        max_seconds = 4 * HOUR
        silent = now - posts[-1] if posts else np.inf
        for days, share in ((30, 1), (14, 2), (7, 4)):
            if silent >= days * DAY:
                return max_seconds / share
        gap = (posts[-1] - posts[0]) / (len(posts) - 1) if len(posts) > 1 else np.inf
        return float(np.clip(gap / 2, 5 * MINUTE, max_seconds / 4))


class NewsBlur(Intervals):
    """NewsBlur's rule: by stories a day over the last month, as for feeds with a few subscribers, without its
    jitter.
    """

    name: ClassVar[str] = "newsblur"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """Return an interval of at most 4 hours, NewsBlur's maximum for feeds with subscribers."""
        stories = (len(posts) - bisect_right(posts, now - 30 * DAY)) / 30
        if stories >= 1:
            return 15 * MINUTE
        if stories > 0:
            # As it stands there: next to nothing for a feed with almost one story a day.
            return max(60 - 60 * stories, 1.0) * MINUTE
        return 4 * HOUR


class NutchAdaptive(Intervals):
    """Nutch's rule: multiply the interval by 0.8 after a change and by 1.2 otherwise, within a minute and a
    year.
    """

    name: ClassVar[str] = "nutch-adaptive"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """Return the previous interval, shortened or lengthened."""
        return float(np.clip(before * (0.8 if changed else 1.2), MINUTE, 365 * DAY))
