"""Free disk space: one sample a day, and a forecast of when it runs out."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import connection

from crawler.operation.site.models import RoomSample

WINDOW_DAYS = 30
"""The forecast uses the samples of so many days."""
MIN_DAYS = 3
KEPT_DAYS = 400
MAX_DAYS_LEFT = 730
"""Longest forecast."""


def sample_disk_space(now: datetime) -> bool:
    """Store today's sample, once a day. Returns whether it was stored now."""
    day = now.date()
    if RoomSample.objects.filter(day=day).exists():
        return False
    values = {"database_bytes": database_bytes(), "free_bytes": shutil.disk_usage(settings.DATA_DIR).free}
    RoomSample.objects.get_or_create(day=day, defaults=values)
    RoomSample.objects.filter(day__lt=day - timedelta(days=KEPT_DAYS)).delete()
    return True


def database_bytes() -> int:
    """Return the size of the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def days_left(now: datetime, free_bytes: float) -> int | None:
    """Return in how many days the disk will be full. Returns None for never, or if it is not known yet."""
    since = now.date() - timedelta(days=WINDOW_DAYS)
    samples = RoomSample.objects.filter(day__gte=since).order_by("day").values_list("day", "database_bytes")
    daily = growth_a_day(list(samples))
    if daily is None or daily <= 0:
        return None
    days = int(free_bytes / daily)
    return days if days <= MAX_DAYS_LEFT else None


def growth_a_day(samples: Sequence[tuple[date, int]]) -> float | None:
    """Return by how many bytes a day the database grows (least squares), None for too short a time."""
    if not samples or (samples[-1][0] - samples[0][0]).days < MIN_DAYS:
        return None
    days = [(day - samples[0][0]).days for day, _ in samples]
    mean_day, mean_size = sum(days) / len(days), sum(size for _, size in samples) / len(samples)
    spread = sum((day - mean_day) ** 2 for day in days)
    together = sum(
        (day - mean_day) * (size - mean_size) for day, (_, size) in zip(days, samples, strict=True)
    )
    return together / spread
