"""Requests to hubs, and what hubs pushed, as work of the engine."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.dispatch import receiver

from crawler.engine.leased import Room, lose_rows, lost
from crawler.engine.signals import settled
from crawler.engine.work import HostlessWork, Results, Stored, Work, register
from crawler.messages import Assignment, Batch, Harvest
from crawler.reading.inflate import inflated
from feeds.models import Feed
from feeds.websub import subscriptions
from feeds.websub.models import Push
from feeds.work import FeedWork

MOST_AT_ONCE = 32
MOST_BYTES = 100_000_000
"""Of a push, unpacked."""


@register
class HubWork(Work):
    """Requests to hubs; one that is lost, or never confirmed, is repeated."""

    kinds = ("hub",)
    order = 40

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Requests that wait only for the hub's host to be free."""
        return subscriptions.due(now)

    def lease(
        self, leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put due requests under the leases of the hubs' hosts."""
        return subscriptions.lease_hubs(leases, room, now)

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> None:
        """Write down what hubs answered; the confirmation comes by itself, before or after."""
        subscriptions.check_in_hubs(self.mine(results), leases)

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """Requests that were not made are due again, and no attempt is counted."""
        return subscriptions.release_hubs(leases)

    def lose(self, leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
        """Take back requests whose lease was lost, due again."""
        return subscriptions.lose_hubs(leases, now)


@register
class PushWork(HostlessWork):
    """Pushes: received by the web server, read by a terminal, settled with the visits of feeds."""

    @transaction.atomic
    def batches(self, until: datetime) -> list[Batch]:
        """Lease the oldest push of each feed that is not out; a batch of its own for each."""
        oldest = Push.objects.filter(lease__isnull=True).order_by("feed_id", "id").distinct("feed_id")
        pushes = {push.feed_id: push for push in oldest[:MOST_AT_ONCE]}
        if not pushes:
            return []
        feeds = Feed.objects.select_for_update(skip_locked=True).filter(id__in=pushes, lease__isnull=True)
        return [_batch(pushes[feed.id], feed, until) for feed in feeds.order_by("id")]

    def held(self, leases: Sequence[uuid.UUID]) -> list[uuid.UUID]:
        """Those of the leases under which a push is out."""
        rows = Push.objects.select_for_update().filter(lease__in=leases)
        return [lease for lease in rows.values_list("lease", flat=True) if lease]

    def expired(self, now: datetime) -> list[uuid.UUID]:
        """Leases of pushes whose terminal never answered, locked."""
        late = Push.objects.select_for_update(skip_locked=True).filter(leased_until__lt=now).order_by("id")
        return [lease for lease in late.values_list("lease", flat=True) if lease]

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """Others wait for the next terminal."""
        return Push.objects.filter(lease__in=leases).update(lease=None, leased_until=None)

    def lose(self, leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
        """Take back pushes whose lease was lost, and their feeds."""
        dead = lose_rows(Push, leases)
        Push.objects.filter(lease__isnull=True, leased_until__isnull=False).update(leased_until=None)
        feeds = Feed.objects.filter(pushes__in=dead).distinct()
        Feed.objects.filter(lease__in=leases).exclude(pk__in=feeds.values("pk")).update(lease=None)
        return [lost("push", feed.id, feed.url, now) for feed in feeds.only("id", "url")]


@receiver(settled)
def forget_read(stored: Stored, **_: object) -> None:
    """What was read is no longer kept."""
    read = [visit.lease for visit in stored.get(FeedWork, ()) if visit.pushed]
    if read:
        Push.objects.filter(lease__in=read).delete()


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
