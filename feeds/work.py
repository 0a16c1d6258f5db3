"""Visits of feeds as work of the engine: leasing selected feeds and storing their harvests."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, cast

from django.db.models import QuerySet
from django.dispatch import receiver
from msgspec.structs import replace

from crawler.engine.chosen import chosen
from crawler.engine.leased import BatchSpace, lease_rows
from crawler.engine.signals import settled
from crawler.engine.work import Refusal, Results, Stored, Work, register
from crawler.messages import Assignment, Harvest
from crawler.pipeline.documents import take_feeds
from crawler.reading.documents import Entry, RetrievedFeed
from feeds.models import Feed
from feeds.orders import FeedOrder
from feeds.rules import rules_in
from feeds.signals import arrived
from feeds.visiting.outage import outage
from feeds.visiting.visits import FeedVisit, StoredEntries, open_visits, settle_visits

LOST_AFTER = timedelta(days=7)
"""Time of failures after which a feed is looked for on its site."""
MAX_TRIALS = 500
"""Trials with parts of a document that cannot be stored: enough to find dozens of entries in a thousand."""


class TooManyTrialsError(Exception):
    """Too many entries of a document cannot be stored."""


@register
class FeedWork(Work):
    """Feeds selected by a tick, until they have been visited. A hub's push counts as a visit, too."""

    kinds = ("feed", "push")
    order = 10
    model = Feed

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Return feeds that wait only for their host to be free."""
        return Feed.objects.active().fetched().free().filter(selected_at__isnull=False, not_before__lte=now)

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put selected feeds under the leases of their hosts, first selected first."""
        rows = lease_rows(
            Feed,
            leases,
            space,
            now,
            where="status = 'active' AND kind <> 'mail' AND selected_at IS NOT NULL",
            order="selected_at, id",
            returning=(
                "host_id", "id", "url", "etag", "last_modified", "body_hash", "fingerprints", "subscribers",
                "losses", "last_attempt", "opinion_at", "kind", "rules",
                "owner_id", "site_url", "failing_since",
            ),
        )  # fmt: skip
        assignments: dict[int, list[Assignment]] = {}
        for row in rows:
            host, feed, url, etag, modified, body_hash, fingerprints, subscribers, losses, *further = row
            attempted, opinion_at, kind, rules, owner, site, failing = further
            order = FeedOrder(
                known=bytes(fingerprints),
                subscribers=subscribers,
                is_first=attempted is None,
                wants_opinion=opinion_at is None,
                source=kind,
                rules=rules_in(json.loads(rules)),
                site=site,
                is_lost=failing is not None and now - failing >= LOST_AFTER,
            )
            assignments.setdefault(host, []).append(
                Assignment("feed", feed, url, etag, modified, body_hash, losses > 0, order, owner or 0)
            )
        return assignments

    def lock(self, results: Results, leases: Sequence[uuid.UUID]) -> None:
        """Lock the visited feeds that are still leased."""
        feeds = Feed.objects.under(leases).filter(id__in=[result.id for result in self.mine(results)])
        list(feeds.select_for_update().order_by("id").values_list("id"))

    def mended(self, harvest: Harvest, refusal: Refusal) -> Harvest | None:
        """Return the harvest without the entries that cannot be stored.

        Returns None when it has another fault, or more such entries than MAX_TRIALS can identify. Omitted
        entries stay in the fingerprints, so that they are not sent again until the feed changes them.
        """
        retrieved = harvest.brought(RetrievedFeed)
        if retrieved is None or retrieved.document is None:
            return None
        document = retrieved.document
        trials = count()

        def part_with(entries: Sequence[Entry], edited: Sequence[Entry]) -> Harvest:
            part = replace(document, entries=tuple(entries), edited=tuple(edited))
            return replace(harvest, payload=replace(retrieved, document=part))

        def storable(entries: Sequence[Entry], *, edited: bool) -> list[Entry]:
            """Bisect until each refused entry stands alone."""
            if not entries:
                return []
            if next(trials) >= MAX_TRIALS:
                raise TooManyTrialsError
            if refusal(part_with((), entries) if edited else part_with(entries, ())) is None:
                return list(entries)
            if len(entries) == 1:
                return []
            middle = len(entries) // 2
            return [
                *storable(entries[:middle], edited=edited),
                *storable(entries[middle:], edited=edited),
            ]

        if refusal(part_with((), ())) is not None:
            return None
        try:
            entries = storable(document.entries, edited=False)
            edited = storable(document.edited, edited=True)
        except TooManyTrialsError:
            return None
        lost = len(document.entries) + len(document.edited) - len(entries) - len(edited)
        words = f"{lost} of its entries cannot be stored and {'is' if lost == 1 else 'are'} left out"
        part = replace(part_with(entries, edited), detail=words)
        return part if lost and refusal(part) is None else None

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> list[FeedVisit]:
        """Let receivers of `arrived` keep the entries, then write down the visits with what was stored."""
        mine = self.mine(results)
        visits = open_visits(mine, leases)
        stored: dict[int, StoredEntries] = {}
        for _, entries in arrived.send(sender=FeedVisit, visits=visits):
            stored |= cast(dict[int, StoredEntries], entries)
        for visit in visits:
            visit.stored = stored[visit.feed.id]
        settle_visits(visits, ours=outage(mine))
        return visits


@receiver(settled)
def into_graph(stored: Stored, **_: object) -> None:
    """Add changed documents to the graph."""
    if chosen("PIPELINE_STORED"):
        visits = [visit for visit in stored.get(FeedWork, ()) if visit.feed.owner_id is None]
        take_feeds([(visit.feed.host_id, visit.harvest) for visit in visits])
