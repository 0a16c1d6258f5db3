"""The number of retrievals that a tick may spend, from the budget per feed and hour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The remaining budget of earlier ticks (`tokens`, in retrievals), credited up to `at`."""

    at: float
    tokens: float = 0.0

    def grant(self, now: float, *, feeds: int, per_hour: float, tick: float) -> tuple[int, TokenBudget]:
        """Return the retrievals granted to the tick at `now`, and the budget that remains.

        `feeds` times `per_hour` retrievals accrue every hour; a remaining fraction is kept for the next tick.
        After a pause at most two ticks' worth is granted, so that missed ticks are not caught up in a burst.
        A tick that runs twice at one time gets nothing the second time. After the clock went back, nothing is
        granted until it has caught up.
        """
        hourly = max(0.0, feeds * per_hour)
        worth = hourly * tick / 3600
        earned = hourly * max(0.0, now - self.at) / 3600
        # Below one retrieval per tick the fraction has to survive until it is a whole one.
        tokens = min(self.tokens + earned, max(2 * worth, 1 + worth))
        # Tolerates rounding errors of fractions that add up to a whole.
        k = int(tokens + 1e-9)
        return k, TokenBudget(max(self.at, now), max(0.0, tokens - k))
