"""Requests to hubs, and what hubs pushed, as work of the engine."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest, Least
from django.dispatch import receiver

from crawler.engine.leased import Room
from crawler.engine.signals import settled
from crawler.engine.work import HostlessWork, Results, Stored, Work, register
from crawler.messages import Assignment, Batch, Harvest, Kind
from crawler.reading.inflate import inflated
from feeds.models import Feed
from feeds.websub.models import HubSubscription, Push
from feeds.websub.protocol import retry_after
from feeds.websub.subscriptions import request_form
from feeds.work import FeedWork

State = HubSubscription.State
MOST_AT_ONCE = 32
MOST_BYTES = 100_000_000
"""Of a push, unpacked."""


@register
class HubWork(Work):
    """Requests to hubs; one that is lost, or never confirmed, is repeated."""

    kinds = ("hub",)
    order = 40
    model = HubSubscription

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Requests that wait only for the hub's host to be free; none where no hub could reach us."""
        rows = HubSubscription.objects.due(now)
        return rows if settings.PUBLIC_URL else rows.none()

    def lease(
        self, leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put due requests under the leases of the hubs' hosts.

        The next request is planned here, so that one that is never confirmed is repeated.
        """
        taken: dict[int, list[Assignment]] = {}
        due = self.waiting(now).filter(host__in=leases)
        due = due.order_by(Least("losses", 1), "not_before", "feed_id")
        for one in due.select_for_update(skip_locked=True, of=("self",)):
            assigned, left = taken.setdefault(one.host_id, []), room[one.host_id]
            suspect = one.losses > 0
            fits = (not assigned and left.empty) if suspect else left.fresh
            if len(assigned) >= left.places or not fits:
                continue
            one.lease, one.asked = leases[one.host_id], now
            one.attempts += 1
            one.not_before = now + timedelta(seconds=retry_after(one.attempts))
            one.state = one.state if one.state == State.ACTIVE else State.ASKED
            one.save(update_fields=["lease", "asked", "attempts", "not_before", "state"])
            form = request_form(one)
            assigned.append(Assignment("hub", one.feed_id, one.hub, content=form, suspect=suspect))
        return {host: assigned for host, assigned in taken.items() if assigned}

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> None:
        """Write down what hubs answered; the confirmation comes by itself, before or after."""
        brought = {harvest.id: harvest for harvest in self.mine(results)}
        rows = HubSubscription.objects.under(leases).select_for_update().filter(feed__in=brought)
        for one in rows.order_by("feed_id"):
            harvest = brought[one.feed_id]
            one.lease, one.losses = None, 0
            one.detail = f"{harvest.failure}: {harvest.detail}"[:1000] if harvest.failure else ""
            if harvest.retry_after:
                wait = timedelta(seconds=min(harvest.retry_after, 30 * 86_400))
                one.not_before = max(one.not_before, datetime.fromtimestamp(harvest.at, UTC) + wait)
            one.save(update_fields=["lease", "losses", "detail", "not_before"])

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """Requests that were not made are due again, and no attempt is counted."""
        attempts = Greatest(F("attempts") - 1, 0)
        out = HubSubscription.objects.under(leases)
        return out.update(lease=None, not_before=datetime.now(UTC), attempts=attempts)

    def lose(self, leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
        """Those that are lost are due again, too, but may have been made."""
        failures = super().lose(leases, now)
        out = HubSubscription.objects.under(leases).exclude(pk__in=[failure.id for failure in failures])
        out.update(lease=None, not_before=now)
        return failures

    def named(self, row: HubSubscription) -> tuple[Kind, int, str]:
        """By its feed, at the address of the hub."""
        return "hub", row.feed_id, row.hub


@register
class PushWork(HostlessWork):
    """Pushes: received by the web server, read by a terminal, settled with the visits of feeds."""

    model = Push

    @transaction.atomic
    def batches(self, until: datetime) -> list[Batch]:
        """Lease the oldest push of each feed that is not out; a batch of its own for each."""
        oldest = Push.objects.free().order_by("feed_id", "id").distinct("feed_id")
        pushes = {push.feed_id: push for push in oldest[:MOST_AT_ONCE]}
        if not pushes:
            return []
        feeds = Feed.objects.free().select_for_update(skip_locked=True).filter(id__in=pushes)
        return [_batch(pushes[feed.id], feed, until) for feed in feeds.order_by("id")]

    def held(self, leases: Sequence[uuid.UUID]) -> list[uuid.UUID]:
        """Those of the leases under which a push is out."""
        rows = Push.objects.under(leases).select_for_update()
        return [lease for lease in rows.values_list("lease", flat=True) if lease]

    def expired(self, now: datetime) -> list[uuid.UUID]:
        """Leases of pushes whose terminal never answered, locked."""
        late = Push.objects.select_for_update(skip_locked=True).filter(leased_until__lt=now).order_by("id")
        return [lease for lease in late.values_list("lease", flat=True) if lease]

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """Others wait for the next terminal."""
        return Push.objects.under(leases).update(lease=None, leased_until=None)

    def named(self, row: Push) -> tuple[Kind, int, str]:
        """By its feed."""
        return "push", row.feed_id, row.feed.url


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
