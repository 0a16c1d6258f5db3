"""Scheduling rules of other crawlers, after their source code.

Taken from the sources of Miniflux 2.3.3 (internal/model/feed.go), CommaFeed 7.3.2
(FeedRefreshIntervalCalculator.java), NewsBlur (apps/rss_feeds/models.py), Apache Nutch
(AdaptiveFetchSchedule.java), FreshRSS 1.25.0-dev at 6c58b905 (app/Controllers/feedController.php,
Docker/Dockerfile), reader 3.27.dev0 at fb77ceee (src/reader/_update/__init__.py) and Media Cloud's
rss-fetcher 1.0.1 (fetcher/tasks.py, fetcher/config.py). What they take from HTTP headers or from the document
(Cache-Control, Retry-After, ttl, sy:updatePeriod) is left out, because traces hold none of it. `scale`
multiplies every interval, so that they can be compared at the same number of retrievals.
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
from feeds.scheduling.rates import DAY, HOUR, Floats

MINUTE = 60.0
_REMEMBERED = 30 * DAY
_A_MONDAY = 4 * DAY  # 1970-01-05


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
                self.interval(times, now, float(old), int(new))
                for times, now, old, new in zip(posts, retrievals.now, before, retrievals.new, strict=True)
            ]
        )
        return {"due": self.due(retrievals.now, interval), "interval": interval, "posts": posts}

    def interval(self, posts: list[float], now: float, before: float, new: int) -> float:
        """Return the seconds until the next retrieval.

        `posts` holds the sorted published times of the last month (and the newest), `before` is the previous
        interval, and `new` counts the new articles of this retrieval.
        """
        raise NotImplementedError

    def due(self, now: Floats, interval: Floats) -> Floats:
        """Return when feeds retrieved at `now` are due again, each (m,)."""
        return now + self.scale * interval

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        interval, due = float(feeds.column("interval")[i]), float(feeds.column("due")[i])
        return Reason("every {0}; {1}", in_words(self.scale * interval), due_in_words(due, now))


class Miniflux(Intervals):
    """Miniflux's entry_frequency: a week over last week's articles, between 5 minutes and 1 day."""

    name: ClassVar[str] = "miniflux"

    def interval(self, posts: list[float], now: float, before: float, new: int) -> float:
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

    def interval(self, posts: list[float], now: float, before: float, new: int) -> float:
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

    def interval(self, posts: list[float], now: float, before: float, new: int) -> float:
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

    def interval(self, posts: list[float], now: float, before: float, new: int) -> float:
        """Return the previous interval, shortened or lengthened."""
        return float(np.clip(before * (0.8 if new else 1.2), MINUTE, 365 * DAY))


class FixedRounds(Intervals):
    """Base of policies that visit all feeds in rounds at fixed times, not each feed at its own.

    `every` seconds there is a round, the first of them `offset` seconds after a Monday's midnight (UTC); a
    feed takes part in each `skip`-th.
    """

    every: ClassVar[float] = HOUR
    offset: ClassVar[float] = 0.0
    skip: ClassVar[int] = 1

    def interval(self, posts: list[float], now: float, before: float, new: int) -> float:
        """Return the same for every feed."""
        return self.every * self.skip

    def due(self, now: Floats, interval: Floats) -> Floats:
        """Return the time of the feed's next round, however late in its round the feed was retrieved."""
        every, first = self.scale * self.every, _A_MONDAY + self.scale * self.offset
        return first + (np.floor((now - first) / every) + self.skip) * every


class Reader(FixedRounds):
    """lemon24/reader's update_feeds(scheduled=True): every feed at each full hour.

    Miniflux's default, round_robin, comes to the same: an hour for every feed, in rounds of an hour.
    """

    name: ClassVar[str] = "reader"


class FreshRss(FixedRounds):
    """FreshRSS's rule: rounds at 7 and 37 minutes past the hour, and a feed again after one hour.

    A feed that its round finds a few seconds too early waits for the next one there; here it does not.
    """

    name: ClassVar[str] = "freshrss"
    every: ClassVar[float] = 30 * MINUTE
    offset: ClassVar[float] = 7 * MINUTE
    skip: ClassVar[int] = 2


class MediaCloud(Intervals):
    """Media Cloud's rule: 6 hours at first, longer while most of the document is known, and shorter when most
    of it is new, between 10 minutes and 1 day.

    Traces do not hold documents; each is taken to have the newest ten articles, as WordPress has by default.
    """

    name: ClassVar[str] = "media-cloud"
    document: ClassVar[int] = 10

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return the columns, with the interval that feeds have before it was ever adjusted."""
        return {**Intervals.start(self, n, now, rng), "interval": np.full(n, 6 * HOUR)}

    def interval(self, posts: list[float], now: float, before: float, new: int) -> float:
        """Lengthen by 10 minutes (by an hour after a month without news), shorten by an hour.

        An interval of more than 6 hours falls back to 6.
        """
        known_share = 1 - min(new, self.document) / self.document
        if known_share >= 0.67:
            silent = now - posts[-1] if posts else np.inf
            step = HOUR if new == 0 and silent >= 32 * DAY else 10 * MINUTE
            return min(before + step, DAY)
        if known_share < 0.33:
            return 6 * HOUR if before > 6 * HOUR else max(before - HOUR, 10 * MINUTE)
        return before
