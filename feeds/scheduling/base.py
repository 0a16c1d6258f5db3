"""Interface of scheduling policies, shared by the live tick and the replay.

A policy computes a key for each feed from arrays and a time; it reads neither clock nor database. `select`
takes the first k feeds by key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import HOUR, Floats, Floats32, Integers, PeriodicRates

# The key of a feed that must not be retrieved now.
NEVER = -np.inf


@dataclass(frozen=True, slots=True)
class FeedStates:
    """The states of n feeds as a policy sees them; row i of every array is one feed.

    `id`; `last`, the last successful retrieval in epoch seconds, finite (for a feed never retrieved, when it
    was added); `hourly`, advaRSS's 24 posting rates; `weekly`, the forecast for 168 hours of week; `shape`
    (n, 168), the pending articles that make a retrieval worthwhile in each hour of the week
    (`feeds.scheduling.planning`), or only the hours from `shape_from` on that a tick needs; `subscribers`;
    `window`, the number of entries in the feed's document, 0 where unknown; `pending`, articles published and
    not retrieved, known only in a replay; `columns`, the per-feed memory of a policy (the result of its
    `start`, updated by its `after_retrieval`). A policy needs only the arrays it names.
    """

    id: Integers
    last: Floats
    hourly: PeriodicRates | None = None
    weekly: PeriodicRates | None = None
    shape: Floats32 | None = None
    shape_from: int = 0
    subscribers: Floats | None = None
    window: Floats | None = None
    pending: Integers | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.id)

    def rates(self, which: str) -> PeriodicRates:
        """Return the `hourly` or the `weekly` rates. Raises ValueError when they were not given."""
        rates_of_kind = self.hourly if which == "hourly" else self.weekly
        if rates_of_kind is None:
            raise ValueError(f"this policy ranks by {which} posting rates, and there are none")
        return rates_of_kind

    def column(self, name: str) -> NDArray[Any]:
        """Return a column that belongs to the policy. Raises ValueError when it was not given."""
        if name not in self.columns:
            raise ValueError(f"this policy keeps a column {name!r} for each feed, and there is none")
        return self.columns[name]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of a feed's key: `age` in seconds, `expected` new articles, and the rule in words."""

    key: float
    age: float
    formula: str
    expected: float | None = None
    audience: float = 1.0


class Policy:
    """A rule for which feeds to retrieve first.

    Rows do not influence each other, so a million feeds may be ranked in blocks. A policy with intervals
    keeps its memory in columns: `start` makes them, `after_retrieval` updates them.

    `name` is the public identifier; `reads` names the parts of a feed's state that the policy needs:
    "hourly", "weekly", "plan" (the shape), "training" (the columns m, t and due), "pending". The budget
    limits the retrievals of a `budgeted` policy; for other policies every due feed is retrieved.
    """

    __slots__ = ()
    name: ClassVar[str]
    reads: ClassVar[frozenset[str]] = frozenset()
    budgeted: ClassVar[bool] = True

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return the policy's own columns for n new feeds, each (n,)."""
        return {}

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Return (n,) keys at epoch seconds `now` (one time, or one per feed).

        Bigger keys go first; a feed with the key NEVER is not retrieved.
        """
        raise NotImplementedError

    def plan(self, feeds: FeedStates, now: float) -> Mapping[str, NDArray[Any]]:
        """Return the policy's own columns of all feeds that change with time, each (n, ...). Called once a
        day.
        """
        return {}

    def after_retrieval(self, feeds: FeedStates, retrievals: Retrievals) -> Mapping[str, NDArray[Any]]:
        """Return the policy's own columns of the feeds `retrievals.rows`, each (m,), after successful
        retrievals.
        """
        return {}

    def explain(self, feeds: FeedStates, i: int, now: float) -> Explanation:
        """Explain the key of feed i."""
        key, age = float(self.keys(feeds, now)[i]), now - float(feeds.last[i])
        return Explanation(key=key, age=age, formula=self.formula(feeds, i, now))

    def reason(self, key: float, age: float) -> str:
        """Return in words the number that ranked a feed: its key, and its age in seconds."""
        return Reason("its key is {0}", f"{key:.4g}")

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        """Return the rule in words, with the numbers of feed i."""
        raise NotImplementedError


class Punctual(Policy):
    """A policy that gives each feed a due time (column `due`) and ranks the most overdue first."""

    __slots__ = ()

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Return the seconds overdue, and NEVER for feeds that are not due."""
        # NEVER and not a negative key: a budget that is left over must not go to feeds that are not due.
        overdue = np.asarray(now - feeds.column("due"), dtype=np.float64)
        return np.where(overdue >= 0, overdue, NEVER)


def select(feeds: FeedStates, keys: Floats, allowed: NDArray[np.bool_], k: int) -> Integers:
    """Return the rows of the first k feeds, best first: bigger key, then older last retrieval, then smaller
    id.

    `allowed` (n,) says which feeds may be retrieved at all. Takes time O(n + k log k). The result does not
    depend on the order of the rows.
    """
    rows = np.flatnonzero(allowed & (keys > NEVER))
    if 0 < k < len(rows):
        # A partition instead of a sort: of a million feeds a tick takes some thousands.
        kth = np.partition(keys[rows], len(rows) - k)[len(rows) - k]
        above, level = rows[keys[rows] > kth], rows[keys[rows] == kth]
        level = level[np.lexsort((feeds.id[level], feeds.last[level]))]
        rows = np.concatenate([above, level[: k - len(above)]])
    order = np.lexsort((feeds.id[rows], feeds.last[rows], -keys[rows]))
    return rows[order][: max(k, 0)]


def next_visit(
    policy: Policy,
    feeds: FeedStates,
    now: float | Floats,
    cutoff: float,
    horizon: float,
    *,
    within: float = 1.0,
) -> Floats:
    """Compute when each feed's key first reaches the cut-off: hour by hour, then by bisection within the
    hour.

    `now` is the earliest time that counts, one for all or one per feed (its floor). Returns (n,) epoch
    seconds, not before `now` and accurate to `within` seconds. Returns inf where the key stays below the
    cut-off for `horizon` seconds.
    """
    begin = np.array(np.broadcast_to(np.asarray(now, dtype=np.float64), len(feeds)))
    early, late = begin.copy(), np.full(len(feeds), np.inf)
    late[policy.keys(feeds, begin) >= cutoff] = -np.inf
    for step in _steps(horizon):
        if not (late == np.inf).any():
            break
        reached = (late == np.inf) & (policy.keys(feeds, begin + step) >= cutoff)
        late[reached] = begin[reached] + step
        early[late == np.inf] = begin[late == np.inf] + step
    out_of_reach, ready = late == np.inf, late == -np.inf
    late[out_of_reach | ready] = early[out_of_reach | ready] = begin[out_of_reach | ready]
    while len(feeds) and (late - early).max() > within:
        middle = (early + late) / 2
        reached = policy.keys(feeds, middle) >= cutoff
        late, early = np.where(reached, middle, late), np.where(reached, early, middle)
    late[out_of_reach] = np.inf
    return late


def _steps(horizon: float) -> Iterator[float]:
    """Yield seconds from now: each hour for two days, then each quarter of a day, and the horizon itself."""
    passed = HOUR
    while passed < horizon:
        yield passed
        passed += HOUR if passed < 48 * HOUR else 6 * HOUR
    yield horizon


_UNITS = (
    (86400.0, gettext_noop("1 day"), gettext_noop("{0} days")),
    (3600.0, gettext_noop("1 hour"), gettext_noop("{0} hours")),
    (60.0, gettext_noop("1 minute"), gettext_noop("{0} minutes")),
)


def due_in_words(due: float, now: float) -> str:
    """Return a phrase that says when a feed is due."""
    return gettext_noop("due") if due <= now else Reason("due in {0}", in_words(due - now))


def in_words(seconds: float) -> str:
    """Format a duration for a sentence: its largest unit, with one decimal unless that is zero."""
    for length, singular, plural in _UNITS:
        if seconds >= length:
            number = f"{seconds / length:.1f}".removesuffix(".0")
            return singular if number == "1" else Reason(plural, number)
    return Reason("{0} seconds", f"{max(seconds, 0):.0f}")
