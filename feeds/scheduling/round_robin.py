"""Round robin: a queue of feeds, first in, first out; the baseline of both papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from feeds.scheduling.base import Explanation, FeedStates, Ranking, in_words
from feeds.scheduling.rates import Floats


@dataclass(frozen=True, slots=True)
class RoundRobin(Ranking):
    """The feed whose last retrieval is oldest comes first."""

    name: ClassVar[str] = "round-robin"
    reads: ClassVar[frozenset[str]] = frozenset()

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Seconds since the last retrieval."""
        return np.maximum(now - feeds.last, 0.0)

    def explain(self, feeds: FeedStates, i: int, now: float) -> Explanation:
        """Why feed i has its key."""
        age = now - float(feeds.last[i])
        return Explanation(key=max(age, 0.0), age=age, formula=f"last retrieved {in_words(age)} ago")
