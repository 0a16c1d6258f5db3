"""Times of messages: quiet hours, and the slots of digests. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

HOUR = timedelta(hours=1)
RETRIES = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))
"""Waits after the first, second, third and fourth failure; the fifth is the last."""


def after_quiet_hours(
    at: datetime, quiet_from: int | None, quiet_until: int | None, zone: tzinfo
) -> datetime:
    """Return the first time from `at` on that is not within the quiet hours, which may reach over midnight.

    Without both hours, or with the same hour twice, no hour is quiet.
    """
    if quiet_from is None or quiet_until is None or quiet_from == quiet_until:
        return at
    local = at.astimezone(zone)
    if (local.hour - quiet_from) % 24 >= (quiet_until - quiet_from) % 24:
        return at
    hours = (quiet_until - local.hour) % 24
    end = local.replace(minute=0, second=0, microsecond=0, fold=0) + timedelta(hours=hours)
    return max(end.astimezone(at.tzinfo), at)


def last_slot(now: datetime, hour: int, weekday: int | None, zone: tzinfo) -> datetime:
    """Return the last time of a digest up to now: at an hour of each day, or of one weekday (0: Monday)."""
    local = now.astimezone(zone)
    slot = local.replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
    if slot > local:
        slot -= timedelta(days=1)
    if weekday is not None:
        slot -= timedelta(days=(slot.weekday() - weekday) % 7)
    return slot.astimezone(now.tzinfo)


def next_try(now: datetime, attempts: int, wait: float | None = None) -> datetime:
    """Return when a message is tried again after so many attempts; not before the target's own wait (s)."""
    pause = RETRIES[min(attempts, len(RETRIES)) - 1]
    if wait is not None:
        pause = max(pause, timedelta(seconds=min(wait, 86_400.0)))
    return now + pause
