"""People stop visits to feeds, and let them go on."""

from __future__ import annotations

from django.db.models import QuerySet

from feeds.models import Feed


def pause(feeds: QuerySet[Feed]) -> int:
    """Visit these feeds no more, beginning with the visits that wait; how many were active."""
    active = feeds.filter(status=Feed.Status.ACTIVE)
    return active.update(status=Feed.Status.PAUSED, selected_at=None, selected_because="")


def resume(feeds: QuerySet[Feed]) -> int:
    """Visit paused and gone feeds again, as their floors allow; how many there were."""
    return feeds.exclude(status=Feed.Status.ACTIVE).update(status=Feed.Status.ACTIVE)
