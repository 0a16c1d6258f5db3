"""The deployment's feeds as the arrays that policies rank, in blocks so that a million of them fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Model, QuerySet
from django.db.models.functions import Coalesce, Extract
from numpy.typing import ArrayLike

from feeds.models import Feed, PostingHistory, PostingPlan
from feeds.posting import population
from feeds.scheduling.base import FeedStates, Policy
from feeds.scheduling.forecast import LEAST_RATE
from feeds.scheduling.history import LEAST_RATE as LEAST_HOURLY
from feeds.scheduling.history import START_RATE, Histories, unpack
from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats32, PeriodicRates
from feeds.scheduling.registry import make_policy
from feeds.scheduling.training import AdvarssTraining

BLOCK = 20_000
EVERYTHING = frozenset({"hourly", "weekly", "plan"})


def live_policy() -> Policy:
    """The policy that CRAWL_POLICY names, for feeds in the normal phase. Raises ValueError for others."""
    name = settings.CRAWL_POLICY
    if name == AdvarssTraining.name:
        return training_policy()
    weighs_audience = name in {"advarss", "freshness"}
    return make_policy(name, **({"c": settings.CRAWL_AUDIENCE_WEIGHT} if weighs_audience else {}))


def training_policy() -> AdvarssTraining:
    """ToE on the deployment's tick."""
    return AdvarssTraining(
        tick=float(settings.CRAWL_TICK_SECONDS), max_ticks=settings.CRAWL_TRAINING_MAX_TICKS
    )


def blocks(feeds: QuerySet[Feed], reads: Set[str] = EVERYTHING) -> Iterator[FeedStates]:
    """States of the feeds of a query, at most BLOCK at a time, ordered by id.

    `reads` names what the policy wants to see (`Policy.reads`): the rest is not fetched.
    """
    never = _unseen() if "weekly" in reads else None
    last_id = 0
    while True:
        rows = list(
            feeds.filter(id__gt=last_id)
            .order_by("id")
            .values_list(
                "id",
                Extract(Coalesce("last_success", "added"), "epoch"),
                "subscribers",
                "document_size",
                "training_m",
                "training_t",
                Extract("training_due", "epoch"),
            )[:BLOCK]
        )
        if not rows:
            return
        last_id = rows[-1][0]
        yield _states(rows, reads, never)


def _states(rows: Sequence[tuple[Any, ...]], reads: Set[str], never: Floats32 | None) -> FeedStates:
    ids, last, subscribers, window, m, t, due = zip(*rows, strict=True)
    hourly = np.full((1, DAY_HOURS), START_RATE, dtype=np.float32)
    return FeedStates(
        id=np.array(ids, dtype=np.int64),
        last=np.array(last, dtype=np.float64),
        hourly=_rates(ids, "hourly", hourly) if "hourly" in reads else None,
        weekly=None if never is None else _rates(ids, "rates", never),
        shape=_table(ids, PostingPlan, "shape", np.ones((1, WEEK_HOURS))) if "plan" in reads else None,
        subscribers=np.array(subscribers, dtype=np.float64),
        window=np.array(window, dtype=np.float64),
        columns={
            "m": np.array(m, dtype=np.float64),
            "t": np.array(t, dtype=np.float64),
            "due": np.array(due, dtype=np.float64),
        },
    )


def _unseen() -> Floats32:
    """(1, 168) rates of a feed without a history."""
    return Histories.start(1).forecast(population()).rates()


def _rates(ids: Sequence[int], column: str, default: Floats32) -> PeriodicRates:
    """Rates as the last visit left them, never below their minimum."""
    least = LEAST_HOURLY if column == "hourly" else LEAST_RATE
    return PeriodicRates.of(np.maximum(_table(ids, PostingHistory, column, default), np.float32(least)))


def _table(ids: Sequence[int], model: type[Model], column: str, default: ArrayLike) -> Floats32:
    """(n, ...) float32 blobs of these feeds, whose ids ascend; `default` where there is none."""
    rows = list(model._default_manager.filter(feed__in=ids).values_list("feed_id", column))
    first = np.asarray(default, dtype=np.float32)
    table = np.repeat(first, len(ids), axis=0)
    if rows:
        found, blobs = zip(*rows, strict=True)
        table[np.searchsorted(ids, found)] = unpack(blobs, first.shape[-1])
    return table
