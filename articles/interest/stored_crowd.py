"""The crowd of a deployment: learned from the newest events of all subscribers, and kept in one row."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from django.db import connection, transaction

from articles.interest.crowd import Crowd
from articles.interest.model import LoggedEvent
from articles.interest.models import CrowdState, Event
from articles.interest.ranking import InterestRanking
from articles.interest.stored import described
from crawler.database.prepared import rows_of

MAX_EVENTS = 100_000
"""The newest events of all subscribers that are learned from: twenty seconds."""
MIN_NEW_EVENTS = 200
AT_ONCE = 5_000
_LOCK = 0x43524F57
"""The advisory lock of the one who learns."""


def is_due() -> bool:
    """Return whether enough has happened since the crowd was learned."""
    learned = CrowdState.objects.order_by("pk").values_list("event", flat=True).first() or 0
    new = Event.objects.filter(pk__gt=learned).order_by("pk")[MIN_NEW_EVENTS - 1 : MIN_NEW_EVENTS]
    return new.exists()


def learn_anew(now: datetime) -> int:
    """Learn from the newest events of all subscribers, in their order. Returns the number of opened lists.

    Two at a time would do the same: the second one leaves it.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        if not cursor.fetchone()[0]:
            return 0
        rows = Event.objects.valid().order_by("-pk")
        events = list(rows.values_list("pk", "subscriber", "article", "kind", "at")[:MAX_EVENTS])
        events.reverse()
        ranker = InterestRanking()
        for start in range(0, len(events), AT_ONCE):
            part = events[start : start + AT_ONCE]
            descriptions = described({article for _, _, article, _, _ in part})
            for _, subscriber, article, kind, at in part:
                if (about := descriptions.get(article)) is not None:
                    ranker.learn(
                        str(subscriber),
                        LoggedEvent(about.features, kind, at.timestamp(), about.published, str(article)),
                    )
        crowd = ranker.crowd
        values = {
            "packed": crowd.packed(now.timestamp()),
            "event": events[-1][0] if events else 0,
            "lists": crowd.lists,
            "changed": now,
        }
        CrowdState.objects.update_or_create(pk=1, defaults=values)
    return crowd.lists


def crowd_of_all() -> Crowd:
    """Return what all subscribers open. It is read again only after it was learned anew."""
    rows = rows_of(CrowdState.objects.filter(pk=1).values_list("changed", "event", "lists"))
    return _crowd(*rows[0]) if rows else Crowd()


@lru_cache(maxsize=1)
def _crowd(changed: datetime, event: int, lists: int) -> Crowd:
    """Read the crowd that was learned at a time, from events up to one, and from so many lists."""
    row = CrowdState.objects.filter(pk=1, changed=changed).first()
    return Crowd.unpacked(bytes(row.packed)) if row else Crowd()
