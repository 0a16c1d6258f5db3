"""The rule for work whose terminal never answered, the same for every kind of work.

Whatever is out under a lease that ends without an answer has lost it. One loss says little: a terminal was
killed, and all that it had was lost at once. So what has lost a lease goes out alone the next time, and what
loses MOST_LOSSES in a row is itself the likely cause: it fails as `lost`, as by any other failure.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, models

from crawler.http.failures import Failure
from crawler.messages import Harvest, Kind

MOST_LOSSES = 3


@dataclass(frozen=True, slots=True)
class Room:
    """Places left in a host's batch; what has lost a lease may only take one of an empty batch."""

    places: int
    empty: bool = True


def lose_rows(model: type[models.Model], leases: Sequence[uuid.UUID]) -> list[int]:
    """Count a loss for the rows out under these leases and free them, but for those with MOST_LOSSES.

    These stay under their lease until they are settled as failures; their primary keys.
    """
    meta = model._meta
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            UPDATE "{meta.db_table}" SET losses = losses + 1,
                lease = CASE WHEN losses + 1 < %s THEN NULL ELSE lease END
            WHERE lease = ANY(%s) RETURNING "{meta.pk.column}", losses
            """,  # noqa: S608 - names of our own tables and columns
            [MOST_LOSSES, list(leases)],
        )
        return sorted(key for key, losses in cursor.fetchall() if losses >= MOST_LOSSES)


def lost(kind: Kind, key: int, url: str, now: datetime) -> Harvest:
    """What is settled in the place of an answer."""
    detail = f"{MOST_LOSSES} terminals in a row did not come back from it"
    return Harvest(kind, key, now.timestamp(), url, failure=Failure.LOST, detail=detail)
