"""Full information: what no predictor can beat, since it sees what is pending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from feeds.scheduling.advarss import audience
from feeds.scheduling.base import FeedStates, Policy
from feeds.scheduling.rates import Floats


@dataclass(frozen=True, slots=True)
class FullInformation(Policy):
    """The feed with most articles waiting comes first; only a replay can say how many that are."""

    name: ClassVar[str] = "full-information"
    reads: ClassVar[frozenset[str]] = frozenset({"pending"})
    c: float = 0.0

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Pending articles times the audience factor. Raises ValueError outside of a replay."""
        if feeds.pending is None:
            raise ValueError(f"policy {self.name!r} needs the true number of pending articles")
        return np.asarray(feeds.pending, dtype=np.float64) * audience(feeds, self.c)

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        return f"{float(self.keys(feeds, now)[i]):g} articles are waiting"
