"""Pushes on their way: received by the web server, read by a terminal, checked in like any harvest."""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from crawler.characters import one_line
from crawler.losses import lose_rows, lost
from crawler.messages import Assignment, Batch, Harvest, inflated
from feeds.models import Feed
from feeds.websub.models import Push

MOST_WAITING = 20  # of one feed; then a visit brings what further pushes would
MOST_AT_ONCE = 32
MOST_BYTES = 100_000_000
"""Of a push, unpacked."""


def keep(feed: Feed, body: bytes, content_type: str) -> bool:
    """Store a push until it is read; False where too many of this feed wait already."""
    if Push.objects.filter(feed=feed)[:MOST_WAITING].count() >= MOST_WAITING:
        return False
    Push.objects.create(feed=feed, body=zlib.compress(body, 1), content_type=one_line(content_type, 200))
    return True


def hand_out_pushes(until: datetime) -> list[Batch]:
    """Lease the oldest push of each feed that is not out, up to this time; a batch of its own for each."""
    with transaction.atomic():
        oldest = Push.objects.filter(lease__isnull=True).order_by("feed_id", "id").distinct("feed_id")
        pushes = {push.feed_id: push for push in oldest[:MOST_AT_ONCE]}
        if not pushes:
            return []
        feeds = Feed.objects.select_for_update(skip_locked=True).filter(id__in=pushes, lease__isnull=True)
        return [_batch(pushes[feed.id], feed, until) for feed in feeds.order_by("id")]


def held(leases: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Those of the leases under which a push is out."""
    rows = Push.objects.select_for_update().filter(lease__in=leases)
    return [lease for lease in rows.values_list("lease", flat=True) if lease]


def close(leases: Sequence[uuid.UUID], read: Collection[int]) -> None:
    """Forget the pushes of the feeds `read` under these leases; others wait for the next terminal."""
    out = Push.objects.filter(lease__in=leases)
    out.filter(feed__in=read).delete()
    out.update(lease=None, leased_until=None)


def expired(now: datetime) -> list[uuid.UUID]:
    """Leases of pushes whose terminal never answered, locked."""
    late = Push.objects.select_for_update(skip_locked=True).filter(leased_until__lt=now).order_by("id")
    return [lease for lease in late.values_list("lease", flat=True) if lease]


def lose_pushes(leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
    """Take back pushes whose lease was lost, and their feeds; failures of those that lost too many."""
    dead = lose_rows(Push, leases)
    Push.objects.filter(lease__isnull=True, leased_until__isnull=False).update(leased_until=None)
    feeds = Feed.objects.filter(pushes__in=dead).distinct()
    Feed.objects.filter(lease__in=leases).exclude(pk__in=feeds.values("pk")).update(lease=None)
    return [lost("push", feed.id, feed.url, now) for feed in feeds.only("id", "url")]


def _batch(push: Push, feed: Feed, until: datetime) -> Batch:
    lease = uuid.uuid4()
    Push.objects.filter(pk=push.pk).update(lease=lease, leased_until=until)
    Feed.objects.filter(pk=feed.pk).update(lease=lease)
    assignment = Assignment(
        "push",
        feed.id,
        feed.url,
        known=bytes(feed.fingerprints),
        content=inflated(bytes(push.body), MOST_BYTES),
        suspect=push.losses > 0,
        content_type=push.content_type,
    )
    return Batch("", str(lease), until.timestamp(), 0.0, (assignment,))
