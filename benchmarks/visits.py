"""Every visit of a replay, and how long each article waited for one: for what the metrics leave out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from feeds.replay.setup import Setup
from feeds.replay.simulation import Selection, simulate
from feeds.replay.trace import Trace
from feeds.scheduling.base import Policy
from feeds.scheduling.rates import DAY, Floats, Integers


@dataclass(frozen=True, slots=True)
class Visits:
    """`feed` and `at` (v,) of all visits in order; `owner` and `delay` (p,) of articles, in minutes.

    Articles and visits of the days that are not measured are left out, as are articles never retrieved.
    """

    feed: Integers
    at: Floats
    owner: Integers
    delay: Floats
    days: float

    def a_day(self, feeds: int) -> Floats:
        """(n,) visits of each feed a day."""
        return np.bincount(self.feed, minlength=feeds) / self.days


def visits_of(trace: Trace, policy: Policy, setup: Setup) -> Visits:
    """Replay the trace and keep every visit."""
    told: list[Selection] = []
    simulate(trace, policy, setup, selected=told.append)
    feed = np.concatenate([selection.rows for selection in told])
    at = np.concatenate([np.full(len(selection.rows), selection.at) for selection in told])
    # One line of time for all feeds, a feed after another: the next visit of an article is one search.
    span = float(at.max()) - trace.start + DAY
    order = np.lexsort((at, feed))
    line = feed[order] * span + (at[order] - trace.start)
    posts = trace.owner * span + (trace.published - trace.start)
    following = np.searchsorted(line, posts)
    delay = line[np.minimum(following, len(line) - 1)] - posts
    begin = trace.start + setup.train_days * DAY
    kept = (following < len(line)) & (delay < span) & (delay >= 0) & (trace.published >= begin)
    late = at >= begin
    return Visits(feed[late], at[late], trace.owner[kept], delay[kept] / 60, float(at.max() - begin) / DAY)
