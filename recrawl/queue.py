"""What visits want to fetch: waiting, leased with its host, given back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import connection
from django.db.models import F, QuerySet

from crawler.keys import digest
from crawler.messages import Assignment
from recrawl.models import Site, Wanted

MOST_ATTEMPTS = 4


def waiting(now: datetime) -> QuerySet[Wanted]:
    """What may be fetched now."""
    return Wanted.objects.filter(lease__isnull=True, not_before__lte=now)


def lease_wanted(
    leases: Mapping[int, uuid.UUID], room: Mapping[int, int], now: datetime
) -> dict[int, list[Assignment]]:
    """Put what waits under the leases of its hosts: at most `room` of a host, first wanted first."""
    taken: dict[int, list[Assignment]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE recrawl_wanted SET lease = chosen.lease
            FROM (
                SELECT asked.lease, first.id
                FROM unnest(%s::bigint[], %s::uuid[], %s::int[]) AS asked(host, lease, room)
                CROSS JOIN LATERAL (
                    SELECT id FROM recrawl_wanted
                    WHERE host_id = asked.host AND lease IS NULL AND not_before <= %s
                    ORDER BY id LIMIT asked.room
                ) AS first
            ) AS chosen
            WHERE recrawl_wanted.id = chosen.id
            RETURNING recrawl_wanted.id
            """,
            [list(leases), list(leases.values()), [room[host] for host in leases], now],
        )
        keys = [key for (key,) in cursor.fetchall()]
    rows = Wanted.objects.filter(id__in=keys).select_related("page", "source", "visit__site")
    for row in rows.defer("page__lines", "page__links", "visit__site__memory").order_by("id"):
        taken.setdefault(row.host_id, []).append(_assignment(row))
    return taken


def release_wanted(leases: Sequence[uuid.UUID]) -> int:
    """Free what was not answered; how many."""
    return Wanted.objects.filter(lease__in=leases).update(lease=None)


def postpone_wanted(leases: Sequence[uuid.UUID], until: datetime) -> int:
    """Free what could not be stored, for a later attempt; after too many it is given up."""
    rows = Wanted.objects.filter(lease__in=leases)
    rows.filter(attempts__gte=MOST_ATTEMPTS - 1).delete()
    return rows.update(lease=None, attempts=F("attempts") + 1, not_before=until)


def selectors_digest(site: Site) -> uuid.UUID:
    """Tells apart what lines were read with."""
    return digest("\n".join(site.ignore_selectors))


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
        )
    if row.page is None:
        raise ValueError(f"row {row.pk} wants nothing")
    page, site = row.page, row.visit.site
    selectors = tuple(site.ignore_selectors)
    if page.raw is None or page.selectors != selectors_digest(site) or page.state != page.State.LIVE:
        return Assignment("watch", row.pk, page.url, selectors=selectors)
    return Assignment(
        "watch",
        row.pk,
        page.url,
        etag=page.etag,
        last_modified=page.last_modified,
        body_hash=page.raw.hex,
        selectors=selectors,
    )
