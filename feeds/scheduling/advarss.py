"""Normal phase of advaRSS: rank by expected new articles and audience (Adam, Bouras and Poulopoulos 2010).

Equations 5 and 6 of section 3.2: rank = articles * (1 + c * subscribers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from feeds.scheduling.base import Explanation, FeedStates, Policy, in_words
from feeds.scheduling.rates import Floats


def audience(feeds: FeedStates, c: float) -> Floats:
    """Return the (n,) factors 1 + c * subscribers. Returns ones where subscribers were not counted."""
    if feeds.subscribers is None:
        return np.ones(len(feeds))
    return 1 + c * np.asarray(feeds.subscribers, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Advarss(Policy):
    """The paper's ranking: hourly rates integrated since the last retrieval; c = 0 ignores audience."""

    name: ClassVar[str] = "advarss"
    reads: ClassVar[frozenset[str]] = frozenset({"hourly"})
    c: float = 0.0

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Return the expected new articles times the audience factor."""
        return feeds.rates("hourly").expected(feeds.last, now) * audience(feeds, self.c)

    def reason(self, key: float, age: float) -> str:
        """Return the expected new articles, in words."""
        weighted = gettext_noop("{0} new articles expected, weighted by audience")
        news = Reason("{0} new articles expected", f"{key:.2f}")
        return Reason(weighted, *news.arguments) if self.c else news

    def explain(self, feeds: FeedStates, i: int, now: float) -> Explanation:
        """Explain the key of feed i."""
        rates = feeds.rates("hourly").take(np.array([i]))
        expected = float(rates.expected(feeds.last[i], now)[0])
        factor = float(audience(feeds, self.c)[i])
        age = now - float(feeds.last[i])
        return Explanation(
            key=expected * factor,
            age=age,
            expected=expected,
            audience=factor,
            formula=Reason(
                "{0} new articles expected in {1} x audience {2}",
                f"{expected:.2f}",
                in_words(age),
                f"{factor:.2f}",
            ),
        )
