"""Removal of feeds by people: hidden at once, deleted some minutes later, so that it can be undone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import QuerySet

from feeds.models import Feed

KEPT = timedelta(minutes=5)
"""Time for which a removed feed can be restored."""
MAX_DELETED = 50
"""Feeds deleted at once; the others follow a minute later."""


def remove(feeds: QuerySet[Feed], now: datetime) -> list[int]:
    """Hide feeds and cancel their waiting visits. Returns their primary keys, by which to restore them."""
    keys = list(feeds.values_list("pk", flat=True))
    feeds.filter(pk__in=keys).update(removed=now, selected_at=None, selected_because="")
    return keys


def restore(keys: Iterable[int]) -> int:
    """Bring back those of these feeds that are not deleted yet. Returns their number."""
    rows = Feed.with_removed.filter(pk__in=list(keys), removed__isnull=False)
    return int(rows.update(removed=None))


def delete_removed(now: datetime) -> int:
    """Delete feeds, with their articles, that were removed long enough ago. Returns their number."""
    old = Feed.with_removed.filter(removed__lt=now - KEPT).order_by("removed")
    keys = list(old.values_list("pk", flat=True)[:MAX_DELETED])
    if keys:
        Feed.with_removed.filter(pk__in=keys, removed__isnull=False).delete()
    return len(keys)
