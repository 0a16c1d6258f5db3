"""Visits of feeds as work of the engine: which go out, and what comes back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.dispatch import receiver

from crawler.engine.leased import Room, lease_rows
from crawler.engine.signals import settled
from crawler.engine.work import Results, Stored, Work, register
from crawler.messages import Assignment
from crawler.pipeline.documents import take_feeds
from feeds.models import Feed
from feeds.outage import outage
from feeds.signals import arrived
from feeds.visits import FeedVisit, open_visits, settle_visits


@register
class FeedWork(Work):
    """Feeds that a tick has selected, until they were visited; what a hub pushed counts as a visit, too."""

    kinds = ("feed", "push")
    order = 10
    model = Feed

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Feeds that wait only for their host to be free."""
        return Feed.objects.active().free().filter(selected_at__isnull=False, not_before__lte=now)

    def lease(
        self, leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put selected feeds under the leases of their hosts, first selected first."""
        rows = lease_rows(
            Feed,
            leases,
            room,
            now,
            where="status = 'active' AND selected_at IS NOT NULL",
            order="selected_at, id",
            returning=(
                "host_id", "id", "url", "etag", "last_modified", "body_hash", "fingerprints", "subscribers",
                "losses",
            ),
        )  # fmt: skip
        taken: dict[int, list[Assignment]] = {}
        for host, feed, url, etag, modified, body_hash, known, subscribers, losses in rows:
            said = (etag, modified, body_hash, bytes(known), subscribers)
            taken.setdefault(host, []).append(Assignment("feed", feed, url, *said, suspect=losses > 0))
        return taken

    def lock(self, results: Results, leases: Sequence[uuid.UUID]) -> None:
        """The feeds that were visited and are still out."""
        feeds = Feed.objects.under(leases).filter(id__in=[result.id for result in self.mine(results)])
        list(feeds.select_for_update().order_by("id").values_list("id"))

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> list[FeedVisit]:
        """Let whoever keeps articles have the entries, then write the visits down."""
        mine = self.mine(results)
        visits = open_visits(mine, leases)
        arrived.send(sender=FeedVisit, visits=visits)
        settle_visits(visits, ours=outage(mine))
        return visits


@receiver(settled)
def into_graph(stored: Stored, **_: object) -> None:
    """Documents that are not as they were go into the graph."""
    if settings.PIPELINE_STORED:
        take_feeds([(visit.feed.host_id, visit.harvest) for visit in stored.get(FeedWork, ())])
