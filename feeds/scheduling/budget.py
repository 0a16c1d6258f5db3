"""How many retrievals a tick may spend, from the budget per feed and hour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """What is left of earlier ticks (`tokens`, a fraction of a retrieval) and until when was paid (`at`)."""

    at: float
    tokens: float = 0.0

    def grant(self, now: float, *, feeds: int, per_hour: float, tick: float) -> tuple[int, TokenBudget]:
        """Retrievals for the tick at `now`, and the budget that follows.

        `feeds` retrievals times `per_hour` accrue every hour; the fraction that is left waits for the
        next tick. After a pause no more than two ticks' worth is granted: what was missed is not
        caught up in a burst. A tick that runs twice at one time gets nothing the second time, and a
        clock that went back gives nothing until it has caught up.
        """
        hourly = max(0.0, feeds * per_hour)
        worth = hourly * tick / 3600
        earned = hourly * max(0.0, now - self.at) / 3600
        # Below one retrieval per tick the fraction has to survive until it is a whole one.
        tokens = min(self.tokens + earned, max(2 * worth, 1 + worth))
        # Tenths that are summed up to a whole must count as one.
        k = int(tokens + 1e-9)
        return k, TokenBudget(max(self.at, now), max(0.0, tokens - k))
