"""The fetches of visits to watched sites, as work of the engine."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import QuerySet
from django.dispatch import receiver
from msgspec.structs import replace

from crawler.engine.leased import BatchSpace, lease_rows
from crawler.engine.signals import settled
from crawler.engine.work import Results, Stored, Work, register
from crawler.frontier.orders import PageOrder
from crawler.frontier.work import UrlWork
from crawler.messages import Assignment, Kind
from recrawl.models import LONG_COLUMNS, Site, Wanted
from recrawl.visiting.check_in import check_in_watched
from recrawl.visiting.mapping import take_mapped

DEFERRED = (
    *(f"page__{name}" for name in LONG_COLUMNS),
    "visit__site__memory",
    "visit__site__template",
)


@register
class WantedWork(Work):
    """Pages of watched sites, and the sitemaps and feeds that announce their news."""

    kinds = ("watch", "source", "document", "look")
    order = 50
    model = Wanted

    def waiting(self, now: datetime) -> QuerySet[Wanted]:
        """Filter to rows that may be fetched now."""
        return Wanted.objects.free().filter(not_before__lte=now)

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Lease waiting rows under the leases of their hosts, retries after first attempts."""
        rows = lease_rows(Wanted, leases, space, now, returning=("id",), order="attempts, id")
        assignments: dict[int, list[Assignment]] = {}
        leased_rows = Wanted.objects.filter(id__in=[key for (key,) in rows]).defer(*DEFERRED)
        for row in leased_rows.select_related("page", "source", "visit__site").order_by("attempts", "id"):
            assignments.setdefault(row.host_id, []).append(_assignment(row))
        return assignments

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> None:
        """Store the results of fetches."""
        check_in_watched(self.mine(results), leases)

    def named(self, row: Wanted) -> tuple[Kind, int, str]:
        """Return kind, row id and URL of the fetch."""
        assignment = _assignment(row)
        return assignment.kind, assignment.id, assignment.url


@receiver(settled)
def keep_mapped(stored: Stored, **_: object) -> None:
    """Store the pages that a mapping crawl has fetched as pages of its site."""
    if UrlWork in stored:
        take_mapped(stored[UrlWork].mapped)


def _assignment(row: Wanted) -> Assignment:
    if row.source is not None:
        source = row.source
        return Assignment(
            "source",
            row.pk,
            source.url,
            etag=source.etag,
            last_modified=source.last_modified,
            body_hash=source.body_hash,
            suspect=row.losses > 0,
        )
    if row.page is None:
        raise ValueError(f"row {row.pk} wants nothing")
    page, site = row.page, row.visit.site
    order = PageOrder(
        selectors=tuple(site.ignore_selectors),
        parts=tuple(site.parts),
        compared=site.compared,
        keeps_body=site.keep_copies,
        steps=json.dumps(site.steps) if site.browser else "",
    )
    assignment = Assignment(_kind(site), row.pk, page.url, suspect=row.losses > 0, order=order)
    if page.raw is None or page.selectors != site.selectors_digest or page.state != page.State.LIVE:
        return assignment
    return replace(assignment, etag=page.etag, last_modified=page.last_modified, body_hash=page.raw.hex)


def _kind(site: Site) -> Kind:
    """Return the kind of the fetches of a site's or a list's pages."""
    if site.browser:
        return "look"
    return "document" if site.is_list else "watch"
