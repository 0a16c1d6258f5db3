"""How other crawlers decide, as their sources say.

Read in the sources of Miniflux (internal/model/feed.go), CommaFeed (FeedRefreshIntervalCalculator.java),
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

from feeds.scheduling.base import FeedStates, Punctual, due_in_words, in_words
from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import DAY, HOUR

MINUTE = 60.0
_REMEMBERED = 30 * DAY


@dataclass(frozen=True, slots=True)
class Intervals(Punctual):
    """An interval for each feed, renewed at each retrieval."""

    scale: float = 1.0

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Columns `due` (spread over the first hour), `interval` in seconds, `posts` (published times)."""
        posts = np.empty(n, dtype=object)
        for i in range(n):
            posts[i] = []
        return {"due": now + rng.uniform(0, HOUR, n), "interval": np.full(n, HOUR), "posts": posts}

    def after_retrieval(self, feeds: FeedStates, done: Retrievals) -> Mapping[str, NDArray[Any]]:
        """New columns of the retrieved feeds."""
        posts = feeds.column("posts")[done.rows]
        split = np.searchsorted(done.owner, np.arange(len(done.rows) + 1))
        for i, known in enumerate(posts):
            known.extend(sorted(done.published[split[i] : split[i + 1]].tolist()))
            # The newest stays, however old it is.
            del known[: min(bisect_right(known, done.now[i] - _REMEMBERED), len(known) - 1)]
        before = feeds.column("interval")[done.rows]
        interval = np.array(
            [
                self.interval(known, now, float(old), bool(new))
                for known, now, old, new in zip(posts, done.now, before, done.new, strict=True)
            ]
        )
        return {"due": done.now + self.scale * interval, "interval": interval, "posts": posts}

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """Seconds until the next retrieval: from published times of the last month (and the newest), sorted,
        the interval before this one, and whether this one brought anything."""
        raise NotImplementedError

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        interval, due = float(feeds.column("interval")[i]), float(feeds.column("due")[i])
        return f"every {in_words(self.scale * interval)}; {due_in_words(due, now)}"


class Miniflux(Intervals):
    """entry_frequency: a week divided by the articles of the last week, within 5 minutes and a day."""

    name: ClassVar[str] = "miniflux"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """The week's articles are counted by their mean gap, as it does; fewer than two count as none."""
        week = posts[bisect_right(posts, now - 7 * DAY) :]
        if len(week) < 2:
            return DAY
        gap = (week[-1] - week[0]) / (len(week) - 1)
        weekly = np.ceil(7 * DAY / gap) if gap > 0 else np.inf
        return float(np.clip(7 * DAY / weekly, 5 * MINUTE, DAY))


class CommaFeed(Intervals):
    """By the age of the newest article, and half the mean gap for feeds that are alive."""

    name: ClassVar[str] = "commafeed"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """Between 5 minutes and 4 hours."""
        most = 4 * HOUR
        silent = now - posts[-1] if posts else np.inf
        for days, share in ((30, 1), (14, 2), (7, 4)):
            if silent >= days * DAY:
                return most / share
        gap = (posts[-1] - posts[0]) / (len(posts) - 1) if len(posts) > 1 else np.inf
        return float(np.clip(gap / 2, 5 * MINUTE, most / 4))


class NewsBlur(Intervals):
    """By stories a day over the last month, as for feeds with a few subscribers; without its jitter."""

    name: ClassVar[str] = "newsblur"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """At most 4 hours for a feed with subscribers, which silent ones always reach."""
        stories = (len(posts) - bisect_right(posts, now - 30 * DAY)) / 30
        if stories >= 1:
            return 15 * MINUTE
        if stories > 0:
            # As it stands there: next to nothing for a feed with almost one story a day.
            return max(60 - 60 * stories, 1.0) * MINUTE
        return 4 * HOUR


class NutchAdaptive(Intervals):
    """Multiplied by 0.8 when something changed and by 1.2 when nothing did, within a minute and a year."""

    name: ClassVar[str] = "nutch-adaptive"

    def interval(self, posts: list[float], now: float, before: float, changed: bool) -> float:
        """From the interval before."""
        return float(np.clip(before * (0.8 if changed else 1.2), MINUTE, 365 * DAY))
