"""Celery's beat: what runs when. Django's tables hold it, and administrators may change it there."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from django.db import DatabaseError, close_old_connections
from django_celery_beat.schedulers import DatabaseScheduler

from crawler.engine.wake import under_way

TEND = "crawler.engine.tasks.tend"
LOOK_SECONDS = 30.0
"""A change of the schedule by an administrator is seen so much later at most."""
QUIET_SECONDS = 60.0
"""Tending is due at least so often, whether anything is under way or not."""

log = logging.getLogger(__name__)


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """The scheduler of django-celery-beat, which lets a deployment rest that has nothing to do.

    It looks at its tables less often than at every step, and sends no message about tending where nothing
    is under way: that would be three transactions on the disk every few seconds.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._look = 0.0
        self._tended = float("-inf")
        super().__init__(*arguments, **options)

    def schedule_changed(self) -> bool:
        """Whether an administrator changed it, as far as was looked."""
        if monotonic() < self._look:
            return False
        self._look = monotonic() + LOOK_SECONDS
        return bool(super().schedule_changed())

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send what is due, but for tending that would find nothing."""
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
