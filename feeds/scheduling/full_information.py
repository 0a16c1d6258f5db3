"""Full information: an upper bound for all predictors, because it knows the pending articles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crawler.text.reasons import Reason
from feeds.scheduling.advarss import audience
from feeds.scheduling.base import FeedStates, Policy
from feeds.scheduling.rates import Floats


@dataclass(frozen=True, slots=True)
class FullInformation(Policy):
    """A policy that ranks by the true number of pending articles, which only a replay knows."""

    name: ClassVar[str] = "full-information"
    reads: ClassVar[frozenset[str]] = frozenset({"pending"})
    c: float = 0.0

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Return the pending articles times the audience factor. Raises ValueError outside of a replay."""
        if feeds.pending is None:
            raise ValueError(f"policy {self.name!r} needs the true number of pending articles")
        return np.asarray(feeds.pending, dtype=np.float64) * audience(feeds, self.c)

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        return Reason("{0} articles are waiting", f"{float(self.keys(feeds, now)[i]):g}")
