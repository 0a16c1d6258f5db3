"""Bursts of retrievals, in which work that can wait leaves the processors and the database to the news.

On two cores a thousand new feeds are read 1.15 to 1.4 times as fast while nothing is enriched or taken into
the graph (benchmarks/refresh.py). Niceness does not help: PostgreSQL's processes do not inherit it, and with
it they only hold their locks for longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from crawler.engine.models import Host

MIN_HOSTS = 50
"""The number of hosts with a lease from which on a burst is assumed."""
MAX_WAIT_SECONDS = 30.0
"""The longest wait in one burst, which silent hosts or a crawl may prolong for hours."""
LOOK_SECONDS = 1.0


class Burst:
    """The present burst as this process has seen it."""

    def __init__(self, is_on: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._is_on, self._clock = is_on, clock
        self._began: float | None = None
        self._look_again = 0.0

    def should_wait(self) -> bool:
        """Return whether deferrable work should wait: for at most MAX_WAIT_SECONDS in each burst.

        The caller must ask again later. Queries the database at most once every LOOK_SECONDS.
        """
        now = self._clock()
        if now >= self._look_again:
            self._look_again = now + LOOK_SECONDS
            if not self._is_on():
                self._began = None
            elif self._began is None:
                self._began = now
        return self._began is not None and now - self._began < MAX_WAIT_SECONDS


def many_hosts_are_leased() -> bool:
    """Return whether at least MIN_HOSTS hosts have a lease."""
    # Not count(): it would go on to count thousands of hosts whose number decides nothing.
    return len(Host.objects.filter(lease__isnull=False).order_by()[:MIN_HOSTS].values_list("id")) == MIN_HOSTS


burst = Burst(many_hosts_are_leased)
"""The burst as seen by this process."""
