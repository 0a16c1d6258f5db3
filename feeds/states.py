"""The deployment's feeds as the arrays that policies rank, in blocks so that a million of them fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from django.db.models import FloatField, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, Extract

from crawler.database.bulk import select_blocks
from feeds.models import Feed
from feeds.posting import population
from feeds.scheduling.base import FeedStates, Policy
from feeds.scheduling.forecast import LEAST_RATE
from feeds.scheduling.history import LEAST_RATE as LEAST_HOURLY
from feeds.scheduling.history import START_RATE, Histories, unpack
from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats32, PeriodicRates
from feeds.scheduling.registry import make_policy, weighs_audience
from feeds.scheduling.training import AdvarssTraining

BLOCK = 20_000
EVERYTHING = frozenset({"hourly", "weekly", "plan"})


def _epoch(moment: str | Combinable) -> Combinable:
    """Epoch seconds as a double, not as the numeric that PostgreSQL makes."""
    return Cast(Extract(moment, "epoch"), FloatField())


_COLUMNS: tuple[str | Combinable, ...] = (
    "id",
    _epoch(Coalesce("last_success", "added")),
    "subscribers",
    "document_size",
    "training_m",
    "training_t",
    _epoch("training_due"),
)


def live_policy() -> Policy:
    """The policy that CRAWL_POLICY names, for feeds in the normal phase. Raises ValueError for others."""
    name = settings.CRAWL_POLICY
    if name == AdvarssTraining.name:
        return training_policy()
    return make_policy(name, **({"c": settings.CRAWL_AUDIENCE_WEIGHT} if weighs_audience(name) else {}))


def training_policy() -> AdvarssTraining:
    """ToE on the deployment's tick."""
    return AdvarssTraining(
        tick=float(settings.CRAWL_TICK_SECONDS), max_ticks=settings.CRAWL_TRAINING_MAX_TICKS
    )


def blocks(feeds: QuerySet[Feed], reads: Set[str] = EVERYTHING) -> Iterator[FeedStates]:
    """States of the feeds of a query, at most BLOCK at a time, ordered by id.

    `reads` names what the policy wants to see (`Policy.reads`): the rest is not fetched.
    """
    tables = _tables(reads)
    columns = (*_COLUMNS, *(table.column for table in tables))
    for rows in select_blocks(feeds.order_by("id").values_list(*columns), BLOCK):
        ids, last, subscribers, window, m, t, due, *blobs = zip(*rows, strict=True)
        found = {table.name: table.of(blob) for table, blob in zip(tables, blobs, strict=True)}
        yield FeedStates(
            id=np.array(ids, dtype=np.int64),
            last=np.array(last, dtype=np.float64),
            hourly=PeriodicRates.of(found["hourly"]) if "hourly" in found else None,
            weekly=PeriodicRates.of(found["weekly"]) if "weekly" in found else None,
            shape=found.get("plan"),
            subscribers=np.array(subscribers, dtype=np.float64),
            window=np.array(window, dtype=np.float64),
            columns={
                "m": np.array(m, dtype=np.float64),
                "t": np.array(t, dtype=np.float64),
                "due": np.array(due, dtype=np.float64),
            },
        )


@dataclass(frozen=True, slots=True)
class _Table:
    """What a policy may read of a feed: where it is, what stands for it where it is not, and its minimum."""

    name: str
    column: str
    default: Floats32
    least: float = 0.0

    def of(self, blobs: Sequence[bytes | memoryview | None]) -> Floats32:
        """(n, hours) float32."""
        default = self.default.astype("<f4").tobytes()
        table = unpack([default if blob is None else blob for blob in blobs], len(self.default))
        return np.maximum(table, np.float32(self.least), out=table)


def _tables(reads: Set[str]) -> list[_Table]:
    """Those that are read; only what stands for missing forecasts asks the database."""
    tables = []
    if "hourly" in reads:
        hourly = np.full(DAY_HOURS, START_RATE, dtype=np.float32)
        tables.append(_Table("hourly", "history__hourly", hourly, LEAST_HOURLY))
    if "weekly" in reads:
        weekly = Histories.start(1).forecast(population()).rates()[0]
        tables.append(_Table("weekly", "history__rates", weekly, LEAST_RATE))
    if "plan" in reads:
        tables.append(_Table("plan", "plan__shape", np.ones(WEEK_HOURS, dtype=np.float32)))
    return tables
