"""Settings of a replay."""

from __future__ import annotations

from dataclasses import dataclass, field

from feeds.scheduling.forecast import Population
from feeds.scheduling.rates import Floats


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings of a replay: `budget` retrievals per feed and hour, `tick` seconds, `train_days` not measured.

    A document holds at most `window` entries (0: no limit); `subscribers` (n,) or None. `prior` is what is
    expected of feeds before any was observed.
    """

    budget: float = 0.15
    tick: float = 600.0
    train_days: float = 28.0
    window: int = 0
    subscribers: Floats | None = None
    seed: int = 1
    prior: Population = field(default_factory=Population)
