"""Training phase of advaRSS: M, T and ToE (section 3.1 of Adam, Bouras and Poulopoulos 2010).

A new feed is visited every M ticks; M grows while nothing is new and falls when something is. The
database holds the time at which the paper's counter ToE reaches zero, so a tick that runs twice counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crawler.text.reasons import Reason
from feeds.scheduling.base import FeedStates, Punctual, due_in_words
from feeds.scheduling.history import Retrievals
from feeds.scheduling.rates import Floats, Integers

START_M = 4.0
START_T = 1.0
M_LEAST, M_MOST = 1.0, 80.0


def start(n: int, rng: np.random.Generator) -> tuple[Floats, Floats, Integers]:
    """Return M, T and ToE of n new feeds. ToE is random in 0..3, so that they are not all due at once."""
    return np.full(n, START_M), np.full(n, START_T), rng.integers(0, 4, size=n)


def after_retrieval(m: ArrayLike, t: ArrayLike, new: ArrayLike) -> tuple[Floats, Floats, Integers]:
    """Return M, T and ToE after a successful retrieval; `new` says whether it brought new articles.

    Nothing new: Temp = T + M, M = M + 0.3 T, T = Temp (the old T in the second step). Something new: T = 1, M
    = 0.2 M + 0.8 T. Always 1 <= M <= 80 and ToE = ceil(M). Arrays or scalars; a feed's first successful
    retrieval that brings articles gives M = 1.6 and ToE = 2.
    """
    old_m, old_t = np.asarray(m, dtype=np.float64), np.asarray(t, dtype=np.float64)
    changed = np.asarray(new, dtype=bool)
    next_t = np.where(changed, 1.0, old_t + old_m)
    next_m = np.where(changed, 0.2 * old_m + 0.8 * next_t, old_m + 0.3 * old_t)
    next_m = np.clip(next_m, M_LEAST, M_MOST)
    return next_m, next_t, np.ceil(next_m).astype(np.int64)


def due_at(last: ArrayLike, toe: ArrayLike, tick: float, max_ticks: int | None = None) -> Floats:
    """Return when ToE reaches zero: the epoch seconds from which on a tick may retrieve the feed.

    `last` is when the feed was retrieved (or added), `tick` the seconds between ticks. Half a tick is
    subtracted: a retrieval happens some seconds after its tick, and must be due at the ToE-th tick after it,
    not at the one that follows. `max_ticks` limits ToE where feeds must be visited more often than the
    paper's 80 ticks.
    """
    ticks = np.asarray(toe, dtype=np.float64)
    if max_ticks is not None:
        ticks = np.minimum(ticks, max_ticks)
    return np.asarray(last, dtype=np.float64) + (ticks - 0.5) * tick


@dataclass(frozen=True, slots=True)
class AdvarssTraining(Punctual):
    """The training phase as a policy of its own: every feed by its ToE, for ever, the most overdue first."""

    name: ClassVar[str] = "advarss-training"
    reads: ClassVar[frozenset[str]] = frozenset({"training"})
    budgeted: ClassVar[bool] = False
    tick: float = 600.0
    max_ticks: int | None = None

    def start(self, n: int, now: float, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return the columns m, t and due of n new feeds."""
        m, t, toe = start(n, rng)
        return {"m": m, "t": t, "due": due_at(now, toe, self.tick, self.max_ticks)}

    def after_retrieval(self, feeds: FeedStates, retrievals: Retrievals) -> Mapping[str, NDArray[Any]]:
        """Return the new m, t and due of the retrieved feeds."""
        m, t, toe = after_retrieval(
            feeds.column("m")[retrievals.rows],
            feeds.column("t")[retrievals.rows],
            np.asarray(retrievals.new) > 0,
        )
        return {"m": m, "t": t, "due": due_at(retrievals.now, toe, self.tick, self.max_ticks)}

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        m, due = float(feeds.column("m")[i]), due_in_words(float(feeds.column("due")[i]), now)
        return Reason(
            "training: looked at every {0} ticks as long as M is {1}; {2}",
            f"{np.ceil(m):.0f}",
            f"{m:.2f}",
            due,
        )
