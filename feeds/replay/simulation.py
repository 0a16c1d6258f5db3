"""The replay of one policy on one trace: tick, measure, select, retrieve, learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from feeds.replay.learning import Learner
from feeds.replay.metrics import Recorder
from feeds.replay.setup import Setup
from feeds.replay.trace import Trace
from feeds.scheduling.base import Policy, select
from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import DAY, HOUR, Floats, Integers

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """The retrievals of a tick: epoch seconds and feeds, best first."""

    at: float
    rows: Integers


class Posts:
    """The published and pending posts of a trace, for a crawler with this tick."""

    def __init__(self, trace: Trace, tick: float) -> None:
        self.feeds = len(trace.feeds)
        self._owner = trace.owner
        # A post is there at the first tick at or after its time.
        first = np.ceil((trace.published - trace.start) / tick - 1e-9).astype(np.int64)
        self.ticks = int(first[-1]) + 1
        self._until = np.searchsorted(first, np.arange(self.ticks), side="right")
        order = np.lexsort((trace.published, trace.owner))
        self._times = trace.published[order]
        self._taken = np.searchsorted(trace.owner[order], np.arange(self.feeds))
        self._seen = 0
        self.pending = np.zeros(self.feeds, dtype=np.int64)

    def publish(self, tick: int) -> None:
        """Add the posts published by this tick to the pending posts. Ticks must be called in order."""
        new_owners = self._owner[self._seen : self._until[tick]]
        self.pending += np.bincount(new_owners, minlength=self.feeds)
        self._seen = self._until[tick]

    def retrieve(self, rows: Integers, last: Floats, now: float, window: int) -> tuple[Retrievals, int]:
        """Retrieve these feeds. Returns the retrievals and the number of articles that had left their
        documents.
        """
        waiting = self.pending[rows]
        served = np.minimum(waiting, window) if window else waiting
        owner = np.repeat(np.arange(len(rows)), served)
        # The newest stay in the document.
        first = self._taken[rows] + waiting - served
        place = np.arange(len(owner)) - np.repeat(np.cumsum(served) - served, served)
        published = self._times[first[owner] + place]
        self._taken[rows] += waiting
        self.pending[rows] = 0
        retrievals = Retrievals(rows, last[rows], np.full(len(rows), now), served, owner, published)
        return retrievals, int((waiting - served).sum())


def flat_optimum(trace: Trace, setup: Setup) -> float:
    """Return the least total pending that constant intervals allow: (sum of sqrt(lambda))^2 / (2 K).

    lambda are the true mean rates of the measured part, K the retrievals per hour. Returns 0 when there is no
    measured part or no budget.
    """
    posts = Posts(trace, setup.tick)
    begin = trace.start + setup.train_days * DAY
    hours = (trace.start + posts.ticks * setup.tick - begin) / HOUR
    measured = np.bincount(trace.owner[trace.published >= begin], minlength=posts.feeds)
    if hours <= 0 or setup.budget <= 0:
        return 0.0
    return float(np.sqrt(measured / hours).sum() ** 2 / (2 * setup.budget * posts.feeds))


def simulate(
    trace: Trace,
    policy: Policy,
    setup: Setup,
    progress: Progress | None = None,
    *,
    selected: Callable[[Selection], None] | None = None,
    learner_class: type[Learner] = Learner,
) -> Recorder:
    """Replay the trace.

    Calls `progress` with the completed share, and `selected` with every tick's selection. `learner_class`
    makes what the crawler knows.
    """
    posts, record = Posts(trace, setup.tick), Recorder()
    learner = learner_class(policy, posts.feeds, trace.start, setup)
    tokens, worth = 0.0, setup.budget * posts.feeds * setup.tick / HOUR
    allowed = np.ones(posts.feeds, dtype=bool)
    for tick in range(posts.ticks):
        now = trace.start + tick * setup.tick
        posts.publish(tick)
        measured = tick * setup.tick >= setup.train_days * DAY
        if measured:
            record.tick(now, posts.pending)
        learner.tick(now)
        tokens += worth
        k = int(tokens + 1e-9)
        tokens -= k
        states = learner.states(posts.pending)
        rows = select(states, policy.keys(states, now), allowed, k if policy.budgeted else posts.feeds)
        retrievals, lost = posts.retrieve(rows, learner.last, now, setup.window)
        if measured:
            record.retrieved(len(rows), now - retrievals.published, lost)
        if len(rows):
            learner.learn(retrievals)
        if selected is not None:
            selected(Selection(now, rows))
        if progress is not None and tick % 500 == 0:
            progress(tick / posts.ticks)
    return record
