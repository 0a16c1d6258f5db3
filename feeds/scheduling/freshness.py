"""The default policy: rank by the waiting that a retrieval would end (Whittle index for article delay).

By Little's law, pending articles summed over time equal the total article delay. For one feed with a price
per retrieval and a flat rate the optimal stopping key is W = w * rate * age^2 / 2 = w * n^2 / (2 * rate), n
the expected new articles since the last retrieval, which leads to the square-root allocation of Sia, Cho and
Cho 2007. Where the rate changes with the hours, the n at which a retrieval is worth its price changes, too:
`feeds.scheduling.planning` computes it, and the key is w * (n / shape(now))^2 / (2 * mean rate).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from feeds.scheduling.advarss import audience
from feeds.scheduling.base import Explanation, FeedStates, Policy, in_words
from feeds.scheduling.forecast import MIN_RATE
from feeds.scheduling.rates import HOUR, Floats, between_hours

# A factor above every key that waiting can reach (an age of centuries to the power of MAX_BETA). A factor
# keeps the order of the values that it multiplies.
OVERFLOW = 1e200
MAX_BETA = 20.0


@dataclass(frozen=True, slots=True)
class Freshness(Policy):
    """A policy that ranks feeds about to lose articles first, then by the planned W.

    `c` weighs subscribers (0: not at all). `beta` chooses a member of the unplanned family key = w * n *
    age^beta, n expected new articles and age in hours: 0 is advaRSS's rule, 1 is W where rates are flat, and
    values up to 20 approach round robin; None is the planned W. A feed goes first when the expected new
    articles reach the share `overflow` of the entries in its document.
    """

    name: ClassVar[str] = "freshness"
    reads: ClassVar[frozenset[str]] = frozenset({"weekly", "plan"})
    c: float = 0.0
    beta: float | None = None
    # At half of the document there is still time for a missed tick or two before articles fall out at its
    # end.
    overflow: float = 0.5

    def __post_init__(self) -> None:
        if self.beta is not None and not 0 <= self.beta <= MAX_BETA:
            raise ValueError(f"beta is a number from 0 to {MAX_BETA:g}, not {self.beta}")

    def keys(self, feeds: FeedStates, now: float | Floats) -> Floats:
        """Return W in article-hours (or the family's key); for a nearly full window, its fill, far above any
        W.

        A key may fall during hours in which a retrieval is worth less.
        """
        expected, keys = self._waiting(feeds, now)
        fill = self._fill(feeds, expected)
        # A lost article cannot be had later; a late one can.
        return np.where(fill >= self.overflow, OVERFLOW * fill, keys)

    def reason(self, key: float, age: float) -> str:
        """Return the delay index, in words, or that articles are about to be lost."""
        if key >= OVERFLOW * self.overflow:
            return gettext_noop("its document is nearly full")
        return (
            Reason("delay index {0} article-hours", f"{key:.2f}")
            if self.beta is None
            else super().reason(key, age)
        )

    def explain(self, feeds: FeedStates, i: int, now: float) -> Explanation:
        """Explain the key of feed i."""
        state = _row(feeds, i)
        expected = float(self._waiting(state, now)[0][0])
        factor = float(audience(state, self.c)[0])
        age = now - float(state.last[0])
        key = float(self.keys(state, now)[0])
        news = Reason("{0} new articles expected in {1}", f"{expected:.2f}", in_words(age))
        if key >= OVERFLOW * self.overflow and state.window is not None:
            formula = Reason(
                "goes first: {0}, and its document holds only {1}", news, f"{state.window[0]:.0f}"
            )
        elif self.beta is None:
            formula = Reason(
                "{0}, delay index {1} article-hours x audience {2}",
                news,
                f"{key / factor:.2f}",
                f"{factor:.2f}",
            )
        else:
            formula = Reason("{0} x age in hours^{1} x audience {2}", news, f"{self.beta:g}", f"{factor:.2f}")
        return Explanation(key=key, age=age, expected=expected, audience=factor, formula=formula)

    def _waiting(self, feeds: FeedStates, now: float | Floats) -> tuple[Floats, Floats]:
        """Return the expected new articles, and the keys before the window is considered."""
        rates, weight = feeds.rates("weekly"), audience(feeds, self.c)
        expected = rates.expected(feeds.last, now)
        if self.beta is None:
            shape = 1.0 if feeds.shape is None else between_hours(feeds.shape, now, feeds.shape_from)
            # The mean rate alone is in the divisor: the hours are in the shape already.
            return expected, weight * (expected / shape) ** 2 / (2 * np.maximum(rates.mean(), MIN_RATE))
        age = np.maximum(now - feeds.last, 0.0) / HOUR
        return expected, weight * expected * age**self.beta

    def _fill(self, feeds: FeedStates, expected: Floats) -> Floats:
        """Return the (n,) expected new articles as a share of the document; 0 where its size is unknown."""
        if feeds.window is None:
            return np.zeros(len(feeds))
        size = np.asarray(feeds.window, dtype=np.float64)
        return np.where(size > 0, expected / np.maximum(size, 1.0), 0.0)


def _row(feeds: FeedStates, i: int) -> FeedStates:
    """Return the state of feed i alone, with the arrays that this policy reads."""
    at = np.array([i])
    return FeedStates(
        id=feeds.id[at],
        last=feeds.last[at],
        weekly=feeds.rates("weekly").take(at),
        shape=None if feeds.shape is None else feeds.shape[at],
        shape_from=feeds.shape_from,
        subscribers=None if feeds.subscribers is None else feeds.subscribers[at],
        window=None if feeds.window is None else feeds.window[at],
    )
