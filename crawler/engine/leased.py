"""Rows that are handed out under leases, and the rule for rows whose terminal never answered.

A row whose lease ends without an answer has lost it. One loss says little: when a terminal is killed, all
rows that it had lose their leases at once. So a row that has lost a lease is next handed out alone, after the
other rows of its host. A row that loses MAX_LOSSES leases in a row is the likely cause itself: it fails as
`lost`, like any other failure. On a host that always has other rows, every TURNS-th batch is for a row that
has lost a lease.

Every lease is taken by one rule, whether of a host, a document, a push or a message: `claimable` locks rows
that no other process is about to take, `lease_until` gives them a time, and `lease_ended` says when it is
over. Rows to fetch have no time of their own: they are out as long as their host (`lease_rows`).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self, TypeVar

from django.db import connection, models
from django.db.models import F, Q

from crawler.failures import Failure
from crawler.messages import Harvest, Kind

MAX_LOSSES = 3
TURNS = 4
Row = TypeVar("Row", bound="LeasedRow")
AnyRow = TypeVar("AnyRow", bound=models.Model)


def claimable(rows: models.QuerySet[AnyRow]) -> models.QuerySet[AnyRow]:
    """Lock the rows of a query. Leaves out those that another process is about to take or to release."""
    # SKIP LOCKED: two processes share the rows instead of waiting for each other.
    return rows.select_for_update(skip_locked=True, of=("self",))


def lease_until(rows: Sequence[AnyRow], until: datetime, *, counting: str = "", **changes: Any) -> None:
    """Lease rows that the caller has locked, and set `changes`, in the database and in the given objects.

    `counting` names the column that counts attempts, for rows that are given up after some.
    """
    if not rows:
        return
    changes["leased_until"] = until
    counted = {counting: F(counting) + 1} if counting else {}
    type(rows[0])._default_manager.filter(pk__in=[row.pk for row in rows]).update(**changes, **counted)
    for row in rows:
        attempts = {counting: getattr(row, counting) + 1} if counting else {}
        for name, value in (changes | attempts).items():
            setattr(row, name, value)


def lease_ended(now: datetime) -> Q:
    """Return the condition that a lease is over: its row may be claimed again, or is to be released."""
    return Q(leased_until__lte=now)


class LeasedQuerySet(models.QuerySet[Row]):
    """Queries for rows that are handed out under leases."""

    def free(self) -> Self:
        """Filter to rows that are not leased."""
        return self.filter(lease__isnull=True)

    def under(self, leases: Sequence[uuid.UUID]) -> Self:
        """Filter to rows leased under any of `leases`."""
        return self.filter(lease__in=leases)

    def due_at_free_hosts(self, now: datetime) -> Self:
        """Filter to rows whose pause has ended, at hosts that may be asked."""
        # Excluded by the host, whose pause all kinds of work share.
        host_rests = Q(host__lease__isnull=False) | Q(host__not_before__gt=now)
        return self.free().filter(not_before__lte=now).exclude(host_rests)

    def lose(self) -> Self:
        """Count one more loss for each row. Returns the rows that have reached MAX_LOSSES."""
        self.update(losses=F("losses") + 1)
        return self.filter(losses__gte=MAX_LOSSES).order_by("pk")


class LeasedRow(models.Model):
    """A row that is handed out under leases."""

    lease = models.UUIDField(null=True, blank=True, editable=False)
    losses = models.PositiveSmallIntegerField(default=0, editable=False, help_text="Leases lost in a row.")

    objects = LeasedQuerySet.as_manager()

    class Meta:
        abstract = True


@dataclass(frozen=True, slots=True)
class BatchSpace:
    """The space in a host's batch: the `capacity` in assignments, of which `used` are taken.

    `alone` is true when the batch holds a row that has lost a lease, so that nothing may be added. With
    `suspects_only` only rows that have lost a lease may be added.
    """

    capacity: int
    used: int = 0
    alone: bool = False
    suspects_only: bool = False

    @property
    def places(self) -> int:
        """The number of assignments that may be added."""
        return 0 if self.alone else max(self.capacity - self.used, 0)

    @property
    def empty(self) -> bool:
        """True when the batch holds no assignment."""
        return not self.used


def lease_rows(
    model: type[LeasedRow],
    leases: Mapping[int, uuid.UUID],
    space: Mapping[int, BatchSpace],
    now: datetime,
    *,
    returning: Sequence[str],
    where: str = "TRUE",
    order: str = "id",
    also_set: str = "",
) -> list[tuple[Any, ...]]:
    """Lease free rows that are past their `not_before`, under the leases of their hosts (by host id).

    The caller has claimed the hosts, so that their rows need no `claimable`, which cannot limit rows per
    host. Leases as many rows of each host as its `space` has places: of the rows that match `where`, the
    first in `order`. A row that has lost a lease is leased alone, and only when no other row of its host can
    be.
    `where`, `order`, `also_set` (further assignments of the UPDATE) and `returning` (columns) are SQL written
    in our own code. Returns the columns `returning` of the leased rows, for each host in `order`.
    """
    table, key = model._meta.db_table, model._meta.pk.column
    columns, answered = (", ".join(f'"{alias}".{name}' for name in returning) for alias in (table, "leased"))
    changes = f"lease = chosen.lease, {also_set}" if also_set else "lease = chosen.lease"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH chosen AS (
                SELECT batch.lease, first.key, first.place
                FROM unnest(%(hosts)s::bigint[], %(leases)s::uuid[], %(places)s::int[], %(empty)s::bool[],
                    %(suspects_only)s::bool[]) AS batch(host, lease, places, empty, suspects_only)
                CROSS JOIN LATERAL (
                    WITH fresh AS (
                        SELECT {key} AS key, row_number() OVER (ORDER BY {order}) AS place FROM "{table}"
                        WHERE host_id = batch.host AND lease IS NULL AND losses = 0 AND not_before <= %(now)s
                            AND {where} AND NOT batch.suspects_only
                        ORDER BY {order} LIMIT batch.places
                    ), suspect AS (
                        SELECT {key} AS key, 1 AS place FROM "{table}"
                        WHERE host_id = batch.host AND lease IS NULL AND losses > 0 AND not_before <= %(now)s
                            AND {where} AND batch.empty AND NOT EXISTS (SELECT FROM fresh)
                        ORDER BY {order} LIMIT least(batch.places, 1)
                    )
                    SELECT * FROM fresh UNION ALL SELECT * FROM suspect
                ) AS first
            ), leased AS (
                UPDATE "{table}" SET {changes} FROM chosen WHERE "{table}".{key} = chosen.key
                RETURNING chosen.place, {columns}
            )
            SELECT {answered} FROM leased ORDER BY place
            """,  # noqa: S608 - names of our own tables and columns
            {
                "hosts": list(leases),
                "leases": list(leases.values()),
                "places": [space[host].places for host in leases],
                "empty": [space[host].empty for host in leases],
                "suspects_only": [space[host].suspects_only for host in leases],
                "now": now,
            },
        )
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def without_suspects(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that have lost no lease, or the first row alone when all have lost one."""
    return [row for row in rows if not row.losses] or list(rows[:1])


def lost(kind: Kind, key: int, url: str, now: datetime) -> Harvest:
    """Return the failure to settle for a row that has lost too many leases."""
    detail = f"{MAX_LOSSES} terminals in a row did not come back from it"
    return Harvest(kind, key, now.timestamp(), url, failure=Failure.LOST, detail=detail)
