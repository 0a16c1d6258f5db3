"""Round robin: a queue of feeds, first in, first out; the baseline of both papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crawler.text.reasons import Reason
from feeds.scheduling.base import FeedStates, Policy, in_words
from feeds.scheduling.rates import Floats


@dataclass(frozen=True, slots=True)
class RoundRobin(Policy):
    """A policy that retrieves the feed with the oldest last retrieval first."""

    name: ClassVar[str] = "round-robin"

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Return the seconds since the last retrieval."""
        return np.maximum(now - feeds.last, 0.0)

    def reason(self, key: float, age: float) -> str:
        """Return the age, in words."""
        return Reason("last retrieved {0} ago", in_words(age))

    def formula(self, feeds: FeedStates, i: int, now: float) -> str:
        return Reason("last retrieved {0} ago", in_words(now - float(feeds.last[i])))
