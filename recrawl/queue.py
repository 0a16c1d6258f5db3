"""What visits want to fetch: waiting, leased with its host, given back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import QuerySet

from crawler.losses import Room, lose_rows, lost
from crawler.messages import Assignment, Harvest
from crawler.rows import lease_rows
from recrawl.models import Wanted

MOST_ATTEMPTS = 4
LONG_COLUMNS = ("page__lines", "page__links", "visit__site__memory", "visit__site__template")


def waiting(now: datetime) -> QuerySet[Wanted]:
    """What may be fetched now."""
    return Wanted.objects.filter(lease__isnull=True, not_before__lte=now)


def lease_wanted(
    leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
) -> dict[int, list[Assignment]]:
    """Put what waits under the leases of its hosts: at most `room` of a host, what failed behind the rest."""
    keys = [key for (key,) in lease_rows(Wanted, leases, room, now, returning=("id",), order="attempts, id")]
    rows = Wanted.objects.filter(id__in=keys).select_related("page", "source", "visit__site")
    taken: dict[int, list[Assignment]] = {}
    for row in rows.defer(*LONG_COLUMNS).order_by("attempts", "id"):
        taken.setdefault(row.host_id, []).append(_assignment(row))
    return taken


def release_wanted(leases: Sequence[uuid.UUID]) -> int:
    """Free what was not answered; how many."""
    return Wanted.objects.filter(lease__in=leases).update(lease=None)


def lose_wanted(leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
    """Take back what lost its lease; failures of what lost too many."""
    rows = Wanted.objects.filter(id__in=lose_rows(Wanted, leases)).select_related(
        "page", "source", "visit__site"
    )
    assigned = [_assignment(row) for row in rows.defer(*LONG_COLUMNS)]
    return [lost(one.kind, one.id, one.url, now) for one in assigned]


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
    wanted = Assignment(
        "watch", row.pk, page.url, selectors=tuple(site.ignore_selectors), suspect=row.losses > 0
    )
    if page.raw is None or page.selectors != site.selectors_digest or page.state != page.State.LIVE:
        return wanted
    return replace(wanted, etag=page.etag, last_modified=page.last_modified, body_hash=page.raw.hex)
