"""Celery beat's scheduler. The schedule is in Django's tables, where administrators may change it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from django.db import DatabaseError, close_old_connections
from django_celery_beat.schedulers import DatabaseScheduler

from crawler.engine.clock import TOLERANCE
from crawler.engine.wake import under_way

TEND = "crawler.engine.tasks.tend"
LOOK_SECONDS = 30.0
"""Maximum delay before an administrator's change of the schedule is noticed."""
QUIET_SECONDS = 60.0
"""Maximum time between two tend tasks, even when nothing is under way."""

log = logging.getLogger(__name__)


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """The scheduler of django-celery-beat, changed so that an idle deployment does almost nothing.

    It reads its tables less often than at every step, and sends no tend task while nothing is under way: each
    would cost three transactions on disk every few seconds.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._look = 0.0
        self._tended = float("-inf")
        super().__init__(*arguments, **options)

    def schedule_changed(self) -> bool:
        """Return whether an administrator has changed the schedule, checked every LOOK_SECONDS at most."""
        if monotonic() < self._look:
            return False
        self._look = monotonic() + LOOK_SECONDS
        return bool(super().schedule_changed())

    def is_due(self, entry: Any) -> Any:
        """Return whether an entry is due. One that was last sent ahead of a clock that was turned back is."""
        last = getattr(entry, "last_run_at", None)
        if last is not None and last > datetime.now(UTC) + TOLERANCE:
            entry.last_run_at = datetime.fromtimestamp(0, UTC)
        return super().is_due(entry)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a task that is due, unless it is a tend task that would find nothing to do."""
        if entry.task == TEND and not self._worth_tending():
            return
        super().apply_entry(entry, producer)

    def _worth_tending(self) -> bool:
        if monotonic() - self._tended < QUIET_SECONDS:
            try:
                if not under_way(datetime.now(UTC)):
                    return False
            except DatabaseError as error:
                log.warning("the database does not tell whether anything is under way: %s", error)
                close_old_connections()
        self._tended = monotonic()
        return True
