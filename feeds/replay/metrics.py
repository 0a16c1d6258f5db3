"""Measures of a replay: pending articles at every tick, and the delay of every retrieved article."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from feeds.scheduling.rates import DAY, HOUR, Floats, Integers

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Metrics:
    """Means over the measured ticks, before each tick's retrievals; delays in minutes.

    `total_pending` is the sum over feeds, `max_pending` the largest, `daily_max_pending` the mean over days
    of the day's largest; `lost` counts articles that left their document before a retrieval.
    """

    total_pending: float
    max_pending: float
    daily_max_pending: float
    delay_mean: float
    delay_p50: float
    delay_p95: float
    delay_p99: float
    retrievals: int
    new_per_retrieval: float
    lost: int


@dataclass(slots=True)
class Recorder:
    """A collector of one replay's measured part."""

    ticks: list[tuple[float, int, int]] = field(default_factory=list)
    delays: list[Floats] = field(default_factory=list)
    retrievals: int = 0
    lost: int = 0

    def tick(self, now: float, pending: Integers) -> None:
        """Record the (n,) pending articles before a tick's retrievals."""
        self.ticks.append((now, int(pending.sum()), int(pending.max(initial=0))))

    def retrieved(self, feeds: int, delays: Floats, lost: int) -> None:
        """Record the number of retrievals of one tick, the delays of their articles in seconds, and lost
        articles.
        """
        self.retrievals += feeds
        self.lost += lost
        self.delays.append(delays)

    def metrics(self) -> Metrics:
        """Compute the metrics. All are zero when nothing was measured."""
        minutes = self.all_delays()
        mean = float(minutes.mean()) if len(minutes) else 0.0
        p50, p95, p99 = np.percentile(minutes, [50, 95, 99]).tolist() if len(minutes) else (0.0, 0.0, 0.0)
        times, total, largest = self._columns()
        days = np.unique(times // DAY, return_inverse=True)[1]
        daily_max = np.zeros(days.max(initial=-1) + 1)
        np.maximum.at(daily_max, days, largest)
        return Metrics(
            total_pending=float(total.mean()) if len(total) else 0.0,
            max_pending=float(largest.mean()) if len(largest) else 0.0,
            daily_max_pending=float(daily_max.mean()) if len(daily_max) else 0.0,
            delay_mean=mean,
            delay_p50=p50,
            delay_p95=p95,
            delay_p99=p99,
            retrievals=self.retrievals,
            new_per_retrieval=len(minutes) / self.retrievals if self.retrievals else 0.0,
            lost=self.lost,
        )

    def all_delays(self) -> Floats:
        """Return the delay of each article in minutes."""
        return np.concatenate([np.zeros(0), *self.delays]) / MINUTE

    def by_hour(self) -> Floats:
        """Return the (24,) mean total pending articles by hour of day, UTC."""
        times, total, _ = self._columns()
        hours = (times // HOUR % 24).astype(np.int64)
        counted = np.bincount(hours, minlength=24)
        return np.bincount(hours, weights=total, minlength=24) / np.maximum(counted, 1)

    def _columns(self) -> tuple[Floats, Floats, Floats]:
        table = np.array(self.ticks, dtype=np.float64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]
