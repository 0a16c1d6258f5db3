"""What every scheduling policy is: keys for feeds, the same for the live tick and for the replay.

A policy sees arrays and a time, never a clock or a database; `select` takes the first k by its keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import HOUR, Floats, Floats32, Integers, PeriodicRates

# The key of a feed that its policy does not want to be retrieved now.
NEVER = -np.inf


@dataclass(frozen=True, slots=True)
class FeedStates:
    """What a policy may know of n feeds; row i of every array is one feed.

    `id`; `last` retrieval that succeeded, epoch seconds, finite (a feed never retrieved: when it was
    added); `hourly`, advaRSS's 24 posting rates; `weekly`, the forecast for 168 hours of week;
    `shape` (n, 168), how many pending articles make a retrieval worth it in each hour of the week
    (`feeds.scheduling.planning`), or the hours from `shape_from` on that a tick needs; `subscribers`;
    `window`, the entries that its document holds, 0 where unknown; `pending`, articles published and not
    retrieved, which only a replay knows; `columns`, what a policy with a memory of its own keeps per feed
    (the answer of its `start`, kept current with that of its `after_retrieval`). A policy needs only the
    arrays it names.
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
        """The `hourly` or the `weekly` rates. Raises ValueError when they were not given."""
        found = self.hourly if which == "hourly" else self.weekly
        if found is None:
            raise ValueError(f"this policy ranks by {which} posting rates, and there are none")
        return found

    def column(self, name: str) -> NDArray[Any]:
        """A policy's own column. Raises ValueError when it was not given."""
        if name not in self.columns:
            raise ValueError(f"this policy keeps a column {name!r} for each feed, and there is none")
        return self.columns[name]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a feed has its key: `age` in seconds, `expected` new articles, and the rule in words."""

    key: float
    age: float
    formula: str
    expected: float | None = None
    audience: float = 1.0


class Policy:
    """A rule for which feeds to retrieve first.

    Rows do not influence each other, so a million feeds may be ranked in blocks. A policy with
    intervals keeps what it needs in columns: `start` makes them, `after_retrieval` renews them.
    `name` is the public identifier, `reads` what it needs of a feed's state: "hourly", "weekly", "plan" (the
    shape), "training" (the columns m, t and due), "pending". The budget bounds its
    retrievals unless it is not `budgeted`: then everything due is retrieved.
    """

    __slots__ = ()
    name: ClassVar[str]
    reads: ClassVar[frozenset[str]] = frozenset()
    budgeted: ClassVar[bool] = True

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """The policy's own columns for n new feeds, each (n,)."""
        return {}

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """(n,) keys at epoch seconds `now` (one time, or one per feed): bigger first, NEVER not at all."""
        raise NotImplementedError

    def plan(self, feeds: FeedStates, now: float) -> Mapping[str, NDArray[Any]]:
        """Own columns of all feeds that the clock makes anew, each (n, ...); asked once a day."""
        return {}

    def after_retrieval(self, feeds: FeedStates, done: Retrievals) -> Mapping[str, NDArray[Any]]:
        """The own columns of the feeds `done.rows`, each (m,), after retrievals that succeeded."""
        return {}

    def explain(self, feeds: FeedStates, i: int, now: float) -> Explanation:
        """Why feed i has its key."""
        key, age = float(self.keys(feeds, now)[i]), now - float(feeds.last[i])
        return Explanation(key=key, age=age, formula=self.formula(feeds, i, now))

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        """The rule in words, with the numbers of feed i."""
        raise NotImplementedError


class Punctual(Policy):
    """A policy that gives each feed a time at which it is due (column `due`), the most overdue first."""

    __slots__ = ()

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Seconds overdue."""
        overdue = np.asarray(now - feeds.column("due"), dtype=np.float64)
        return np.where(overdue >= 0, overdue, NEVER)


def select(feeds: FeedStates, keys: Floats, allowed: NDArray[np.bool_], k: int) -> Integers:
    """Rows of the first k feeds, best first: bigger key, then older last retrieval, then smaller id.

    `allowed` (n,) says which feeds may be retrieved at all. Time O(n + k log k), and the same answer
    for any order of the rows.
    """
    rows = np.flatnonzero(allowed & (keys > NEVER))
    if 0 < k < len(rows):
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
    """When each feed's key first reaches the cut-off: hour by hour, then by bisection within the hour.

    `now` is the earliest time that counts, one for all or one per feed (its floor). The answer is (n,)
    epoch seconds, not before that time and right to `within` seconds; inf where the key stays below
    for `horizon` seconds.
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
    """Seconds from now: each hour for two days, then each quarter of a day, and the horizon itself."""
    passed = HOUR
    while passed < horizon:
        yield passed
        passed += HOUR if passed < 48 * HOUR else 6 * HOUR
    yield horizon


def due_in_words(due: float, now: float) -> str:
    """When a feed is due, for a sentence."""
    return "due" if due <= now else f"due in {in_words(due - now)}"


def in_words(seconds: float) -> str:
    """A duration for a sentence: its largest unit, one decimal where it matters."""
    for unit, length in (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= length:
            number = f"{seconds / length:.1f}".removesuffix(".0")
            return f"{number} {unit}{'' if number == '1' else 's'}"
    return f"{max(seconds, 0):.0f} seconds"
