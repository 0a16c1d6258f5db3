"""Small invented traces."""

from __future__ import annotations

import numpy as np

from feeds.replay.trace import Trace

MONDAY = 1767571200.0
DAY = 86400.0


def invented(feeds: int = 30, days: float = 12, seed: int = 3) -> Trace:
    """Feeds of very different rates that post by day more than by night."""
    rng = np.random.default_rng(seed)
    posts: list[tuple[str, float]] = []
    for feed in range(feeds):
        rate = float(rng.lognormal(-1.5, 1.2))  # articles per hour
        times = MONDAY + rng.uniform(0, days * DAY, rng.poisson(rate * days * 24))
        by_day = 1 + 0.8 * np.sin((times - MONDAY) / DAY * 2 * np.pi)
        kept = times[rng.uniform(0, 1.8, len(times)) < by_day]
        posts += [(f"feed{feed}", time) for time in kept.tolist()]
    return Trace.of("invented", posts)
