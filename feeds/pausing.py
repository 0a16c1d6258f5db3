"""Pausing and resuming of visits on request."""

from __future__ import annotations

from django.db.models import QuerySet

from feeds.models import Feed


def pause(feeds: QuerySet[Feed]) -> int:
    """Pause these feeds and cancel their waiting visits. Returns the number that were active."""
    active = feeds.filter(status=Feed.Status.ACTIVE)
    return active.update(status=Feed.Status.PAUSED, selected_at=None, selected_because="")


def resume(feeds: QuerySet[Feed]) -> int:
    """Resume paused and gone feeds, within their floors. Returns their number."""
    return feeds.exclude(status=Feed.Status.ACTIVE).update(status=Feed.Status.ACTIVE)
