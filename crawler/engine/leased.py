"""Rows that go out under leases, and the rule for those whose terminal never answered: one for all kinds.

Whatever is out under a lease that ends without an answer has lost it. One loss says little: a terminal was
killed, and all that it had was lost at once. So what has lost a lease goes out alone the next time, after
others of its host, and what loses MOST_LOSSES in a row is itself the likely cause: it fails as `lost`, as by
any other failure. Where a host has others all the time, every TURNS-th batch is for what has lost a lease.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self, TypeVar

from django.db import connection, models
from django.db.models import F

from crawler.http.failures import Failure
from crawler.messages import Harvest, Kind

MOST_LOSSES = 3
TURNS = 4
Row = TypeVar("Row", bound="LeasedRow")


class LeasedQuerySet(models.QuerySet[Row]):
    """Rows that go out under leases, and what becomes of them there."""

    def free(self) -> Self:
        """Those that are not out."""
        return self.filter(lease__isnull=True)

    def under(self, leases: Sequence[uuid.UUID]) -> Self:
        """Those that are out under these leases."""
        return self.filter(lease__in=leases)

    def lose(self) -> Self:
        """Count a loss for all of them; those that have lost too many."""
        self.update(losses=F("losses") + 1)
        return self.filter(losses__gte=MOST_LOSSES).order_by("pk")


class LeasedRow(models.Model):
    """A row that goes out under leases."""

    lease = models.UUIDField(null=True, blank=True, editable=False)
    losses = models.PositiveSmallIntegerField(default=0, editable=False, help_text="Leases lost in a row.")

    objects = LeasedQuerySet.as_manager()

    class Meta:
        abstract = True


@dataclass(frozen=True, slots=True)
class Room:
    """A host's batch: how many it takes at `most`, and how many are `taken`.

    What has lost a lease may only be `alone` in it. Without `fresh` nothing else may be in it.
    """

    most: int
    taken: int = 0
    alone: bool = False
    fresh: bool = True

    @property
    def places(self) -> int:
        """How many more it takes."""
        return 0 if self.alone else max(self.most - self.taken, 0)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        return not self.taken


def lease_rows(
    model: type[LeasedRow],
    leases: Mapping[int, uuid.UUID],
    room: Mapping[int, Room],
    now: datetime,
    *,
    returning: Sequence[str],
    where: str = "TRUE",
    order: str = "id",
) -> list[tuple[Any, ...]]:
    """Put rows that are free and past their `not_before` under the leases of their hosts, by host's key.

    At most `room` of a host, those that `where` allows, first in `order`; answers with these columns, in
    `order` too.
    What has lost a lease goes when nothing else does, or may, alone.
    """
    table = model._meta.db_table
    columns, answered = (", ".join(f'"{one}".{name}' for name in returning) for one in (table, "leased"))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH chosen AS (
                SELECT asked.lease, first.id, first.place
                FROM unnest(%s::bigint[], %s::uuid[], %s::int[], %s::bool[], %s::bool[])
                    AS asked(host, lease, places, empty, fresh)
                CROSS JOIN LATERAL (
                    WITH fresh AS (
                        SELECT id, row_number() OVER (ORDER BY {order}) AS place FROM "{table}"
                        WHERE host_id = asked.host AND lease IS NULL AND losses = 0 AND not_before <= %s
                            AND {where} AND asked.fresh
                        ORDER BY place LIMIT asked.places
                    ), suspect AS (
                        SELECT id, 1 AS place FROM "{table}"
                        WHERE host_id = asked.host AND lease IS NULL AND losses > 0 AND not_before <= %s
                            AND {where} AND asked.empty AND NOT EXISTS (SELECT FROM fresh)
                        ORDER BY {order} LIMIT least(asked.places, 1)
                    )
                    SELECT * FROM fresh UNION ALL SELECT * FROM suspect
                ) AS first
            ), leased AS (
                UPDATE "{table}" SET lease = chosen.lease FROM chosen WHERE "{table}".id = chosen.id
                RETURNING chosen.place, {columns}
            )
            SELECT {answered} FROM leased ORDER BY place
            """,  # noqa: S608 - names of our own tables and columns
            [
                list(leases),
                list(leases.values()),
                [room[host].places for host in leases],
                [room[host].empty for host in leases],
                [room[host].fresh for host in leases],
                now,
                now,
            ],
        )
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def lost(kind: Kind, key: int, url: str, now: datetime) -> Harvest:
    """What is settled in the place of an answer."""
    detail = f"{MOST_LOSSES} terminals in a row did not come back from it"
    return Harvest(kind, key, now.timestamp(), url, failure=Failure.LOST, detail=detail)
