"""Celery beat's scheduler. The schedule is in Django's tables, where administrators may change it."""

from __future__ import annotations

import logging
import math
from datetime import UTC, datetime, timedelta
from time import monotonic, time
from typing import Any, Self

from django.db import DatabaseError, close_old_connections
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

from crawler.engine.chosen import Origin, chosen, origin_of
from crawler.engine.wake import under_way

TEND = "crawler.engine.tasks.tend"
LOOK_SECONDS = 30.0
"""Maximum delay before an administrator's change of the schedule is noticed."""
QUIET_SECONDS = 60.0
"""Maximum time between two tend tasks, even when nothing is under way."""
STEP_BACK_SECONDS = 1.0
"""A clock that goes back by more than this between two steps of beat was turned back."""

GIVEN = "As the settings say; a change made here stays. The settings: "
"""How the description of a row begins whose schedule is the settings'."""

CHOSEN_SECONDS = {"tick": "FEED_TICK_SECONDS", "tend": "FRONTIER_TEND_SECONDS"}
"""Entries whose interval operators may choose, and the variable it stands in for."""

log = logging.getLogger(__name__)


class ClockedEntry(ModelEntry):  # type: ignore[misc]
    """An entry of the schedule whose last run never lies ahead of the clock."""

    last_run_at: datetime

    @classmethod
    def from_entry(cls, name: str, app: Any = None, **entry: Any) -> Self:
        """Return the entry of a task that the settings name, and bring its row up to date.

        A schedule that an administrator has changed stays as it is. The settings' was written over it at each
        start.
        """
        row = PeriodicTask.objects.filter(name=name).first()
        # The description says whose schedule it is: a person's change has made the two differ.
        if row is not None and row.description.startswith(GIVEN) and row.description != _given(row):
            return cls(row, app=app)
        super().from_entry(name, app=app, **_as_chosen(name, entry))
        row = PeriodicTask.objects.get(name=name)
        row.description = _given(row)
        row.save()
        return cls(row, app=app)

    def is_due(self) -> Any:
        """Return whether the entry is due, and the seconds until the next look.

        An entry whose last run was noted before the clock was turned back is due when it runs at intervals,
        and counts as run now when it runs at an hour. Otherwise it would rest until the clock has caught up,
        also after a restart, for the row in the database says the same.
        """
        now: datetime = self._default_now()
        if self.last_run_at > now:
            # A second of tolerance: clocks are slewed by NTP all the time.
            is_back = self.last_run_at - now > timedelta(seconds=STEP_BACK_SECONDS)
            interval = getattr(self.schedule, "run_every", timedelta()) if is_back else timedelta()
            self.last_run_at = self.model.last_run_at = now - interval
        return super().is_due()


def _as_chosen(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the interval that an operator chose for it, and as it is where nobody did."""
    variable = CHOSEN_SECONDS.get(name, "")
    if not variable or origin_of(variable) is not Origin.CHOSEN:
        return entry
    seconds = float(chosen(variable))
    # Three lengths of patience: behind a longer queue each tick was dropped in its turn.
    options = entry.get("options", {}) | {"expire_seconds": math.ceil(3 * seconds)}
    return entry | {"schedule": seconds, "options": options}


def _given(row: PeriodicTask) -> str:
    return f"{GIVEN}{row.interval or row.crontab or row.schedule}"


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """The scheduler of django-celery-beat, changed so that an idle deployment does almost nothing.

    It reads its tables less often than at every step, and sends no tend task while nothing is under way: each
    would cost three transactions on disk every few seconds. It goes on when the clock is turned back.
    """

    Entry = ClockedEntry

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._look = 0.0
        self._tended = float("-inf")
        self._clock_minus_monotonic = time() - monotonic()
        super().__init__(*arguments, **options)

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send what is due. Returns the seconds to sleep until the next step.

        Beat keeps a heap of times and does not look at an entry before the first of them has come, so the
        heap is built anew after the clock was turned back. A broker that notes times is told.
        """
        if self._was_turned_back():
            log.warning("the clock was turned back: the schedule is read anew")
            # Entries behind the first are not looked at, and the first lies ahead.
            self._heap = None
            self._last_full_sync = datetime.min  # noqa: DTZ901 - naive, as django-celery-beat compares it
            self._tell_broker()
        seconds: float = super().tick(*arguments, **options)
        close_old_connections()  # which goes back to the pool of this process
        return seconds

    def _was_turned_back(self) -> bool:
        before, self._clock_minus_monotonic = self._clock_minus_monotonic, time() - monotonic()
        return self._clock_minus_monotonic < before - STEP_BACK_SECONDS

    def _tell_broker(self) -> None:
        try:
            with self.app.connection_or_acquire() as connection:
                tell = getattr(connection.transport, "turn_back", None)
                if tell is not None:
                    tell()
        except Exception as error:  # every transport has errors of its own
            log.warning("the broker does not answer, so messages may be late: %s", error)

    def schedule_changed(self) -> bool:
        """Return whether an administrator has changed the schedule, checked every LOOK_SECONDS at most."""
        if monotonic() < self._look:
            return False
        self._look = monotonic() + LOOK_SECONDS
        return bool(super().schedule_changed())

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
            # Tending is sent then: what it would do is more than asking whether to do it.
            except DatabaseError as error:
                log.warning("the database does not tell whether anything is under way: %s", error)
                close_old_connections()
        self._tended = monotonic()
        return True
