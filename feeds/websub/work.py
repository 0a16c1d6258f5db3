"""Requests to hubs and the reading of pushes, as work of the engine."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.dispatch import receiver

from crawler.engine.leased import BatchSpace, claimable, lease_ended, lease_rows, lease_until
from crawler.engine.signals import settled
from crawler.engine.work import HostlessWork, Results, Stored, Work, register
from crawler.messages import Assignment, Batch, Harvest, Kind
from crawler.reading.inflate import inflated
from feeds.models import Feed
from feeds.orders import HubOrder, PushOrder
from feeds.websub.models import HubSubscription, Push
from feeds.websub.protocol import retry_after
from feeds.websub.subscriptions import request_form
from feeds.work import FeedWork

State = HubSubscription.State
MAX_AT_ONCE = 32
MAX_BYTES = 100_000_000
"""Maximum size of an unpacked push."""


@register
class HubWork(Work):
    """Requests to hubs; lost or unconfirmed requests are repeated."""

    kinds = ("hub",)
    order = 40
    model = HubSubscription

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Return requests that wait only for the hub's host to be free. Returns none without PUBLIC_URL."""
        rows = HubSubscription.objects.due(now)
        return rows if settings.PUBLIC_URL else rows.none()

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put due requests under the leases of the hubs' hosts.

        Sets the time of the next request, so that an unconfirmed request is repeated.
        """
        if not settings.PUBLIC_URL:
            return {}
        rows = lease_rows(
            HubSubscription,
            leases,
            space,
            now,
            where="EXISTS (SELECT FROM feeds_feed WHERE id = feed_id AND status = 'active')",
            order="not_before, feed_id",
            returning=("feed_id",),
        )
        order = [feed for (feed,) in rows]
        subscriptions = HubSubscription.objects.in_bulk(order)
        assignments: dict[int, list[Assignment]] = {}
        for subscription in (subscriptions[feed] for feed in order):
            subscription.asked = now
            subscription.attempts += 1
            subscription.not_before = now + timedelta(seconds=retry_after(subscription.attempts))
            subscription.state = subscription.state if subscription.state == State.ACTIVE else State.ASKED
            subscription.save(update_fields=["asked", "attempts", "not_before", "state"])
            form = request_form(subscription)
            assignments.setdefault(subscription.host_id, []).append(
                Assignment(
                    "hub",
                    subscription.feed_id,
                    subscription.hub,
                    suspect=subscription.losses > 0,
                    order=HubOrder(form),
                )
            )
        return assignments

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> None:
        """Store the hubs' responses. Confirmations arrive separately, before or after."""
        harvests_by_feed = {harvest.id: harvest for harvest in self.mine(results)}
        rows = HubSubscription.objects.under(leases).select_for_update().filter(feed__in=harvests_by_feed)
        for subscription in rows.order_by("feed_id"):
            harvest = harvests_by_feed[subscription.feed_id]
            subscription.lease, subscription.losses = None, 0
            subscription.detail = f"{harvest.failure}: {harvest.detail}"[:1000] if harvest.failure else ""
            if harvest.retry_after:
                wait = timedelta(seconds=min(harvest.retry_after, 30 * 86_400))
                subscription.not_before = max(
                    subscription.not_before, datetime.fromtimestamp(harvest.at, UTC) + wait
                )
            subscription.save(update_fields=["lease", "losses", "detail", "not_before"])

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """Make unsent requests due again without counting an attempt."""
        attempts = Greatest(F("attempts") - 1, 0)
        out = HubSubscription.objects.under(leases)
        return out.update(lease=None, not_before=datetime.now(UTC), attempts=attempts)

    def lose(self, leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
        """Make lost requests due again; the hub may have received them."""
        failures = super().lose(leases, now)
        out = HubSubscription.objects.under(leases).exclude(pk__in=[failure.id for failure in failures])
        out.update(lease=None, not_before=now)
        return failures

    def named(self, row: HubSubscription) -> tuple[Kind, int, str]:
        """Name the request by its feed and the hub's address."""
        return "hub", row.feed_id, row.hub


@register
class PushWork(HostlessWork):
    """Pushes: received by the web server, read by a terminal, settled with the visits of feeds."""

    model = Push

    @transaction.atomic
    def batches(self, until: datetime) -> list[Batch]:
        """Lease the oldest free push of each free feed, in a batch for each feed."""
        oldest = Push.objects.free().order_by("feed_id", "id").distinct("feed_id")
        pushes = {push.feed_id: push for push in oldest[:MAX_AT_ONCE]}
        if not pushes:
            return []
        feeds = claimable(Feed.objects.free().filter(id__in=pushes).order_by("id"))
        return [_batch(pushes[feed.id], feed, until) for feed in feeds]

    def held(self, leases: Sequence[uuid.UUID]) -> list[uuid.UUID]:
        """Lock the pushes under `leases`. Returns the leases that have a push."""
        rows = Push.objects.under(leases).select_for_update()
        return [lease for lease in rows.values_list("lease", flat=True) if lease]

    def expired(self, now: datetime) -> list[uuid.UUID]:
        """Lock and return the leases of pushes whose terminal did not answer in time."""
        late = claimable(Push.objects.only("lease").filter(lease_ended(now)).order_by("id"))
        return [push.lease for push in late if push.lease]

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """Release pushes for the next terminal. Returns their number."""
        return Push.objects.under(leases).update(lease=None, leased_until=None)

    def named(self, row: Push) -> tuple[Kind, int, str]:
        """Name the push by its feed."""
        return "push", row.feed_id, row.feed.url


@receiver(settled)
def forget_read(stored: Stored, **_: object) -> None:
    """Delete pushes that were read."""
    read = [visit.lease for visit in stored.get(FeedWork, ()) if visit.pushed]
    if read:
        Push.objects.filter(lease__in=read).delete()


def _batch(push: Push, feed: Feed, until: datetime) -> Batch:
    lease = uuid.uuid4()
    lease_until([push], until, lease=lease)
    Feed.objects.filter(pk=feed.pk).update(lease=lease)
    content = inflated(bytes(push.body), MAX_BYTES)
    order = PushOrder(bytes(feed.fingerprints), content, push.content_type)
    assignment = Assignment("push", feed.id, feed.url, suspect=push.losses > 0, order=order)
    return Batch("", str(lease), until.timestamp(), 0.0, (assignment,))
