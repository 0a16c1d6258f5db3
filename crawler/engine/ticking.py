"""The length of a tick, as beat's row has it, which administrators may change while everything runs."""

from __future__ import annotations

import threading
import time

from django_celery_beat.models import PeriodicTask

from crawler.engine.chosen import chosen

NAME = "tick"
"""The name of the row."""
KEPT_SECONDS = 5.0
"""For how long a process believes what it has read."""

_lock = threading.Lock()
_read: tuple[float, float | None] = (float("-inf"), None)
"""When the row was last read (monotonic seconds), and its seconds; None if it has no interval."""


def tick_seconds() -> float:
    """Return the seconds between two ticks: those of beat's row, else FEED_TICK_SECONDS.

    Planning went by the setting alone: of the ticks of a row that was set to a minute, most were dropped as
    repeated, and pages named times on the ten-minute grid (issue 58).
    """
    global _read  # noqa: PLW0603 - of the process, as the row is of all
    with _lock:
        at, seconds = _read
        if time.monotonic() - at > KEPT_SECONDS:
            seconds = _interval()
            _read = time.monotonic(), seconds
    return float(chosen("FEED_TICK_SECONDS")) if seconds is None else seconds


def forget() -> None:
    """Forget what was read, as after the row was changed in this process."""
    global _read  # noqa: PLW0603 - as above
    with _lock:
        _read = float("-inf"), None


def _interval() -> float | None:
    row = PeriodicTask.objects.filter(name=NAME, interval__isnull=False).select_related("interval").first()
    return row.interval.schedule.run_every.total_seconds() if row is not None and row.interval else None
