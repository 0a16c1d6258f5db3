"""The deployment's feeds as the arrays that policies rank, in blocks so that a million of them fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Extract

from feeds.models import Feed, PostingPlan
from feeds.posting import histories, population, weekly_rates
from feeds.scheduling.base import FeedStates, Policy
from feeds.scheduling.rates import WEEK_HOURS, Floats32, PeriodicRates
from feeds.scheduling.registry import make_policy
from feeds.scheduling.training import AdvarssTraining

BLOCK = 20_000


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


def blocks(feeds: QuerySet[Feed]) -> Iterator[FeedStates]:
    """States of the feeds of a query, at most BLOCK at a time, ordered by id."""
    everyone = population()
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
        yield _states(rows, everyone)


def _states(rows: Sequence[tuple[Any, ...]], everyone: Any) -> FeedStates:
    ids, last, subscribers, window, m, t, due = zip(*rows, strict=True)
    tables = histories(ids)
    return FeedStates(
        id=np.array(ids, dtype=np.int64),
        last=np.array(last, dtype=np.float64),
        hourly=PeriodicRates.of(tables.hourly_rates()),
        weekly=weekly_rates(tables, everyone),
        shape=_shapes(ids),
        subscribers=np.array(subscribers, dtype=np.float64),
        window=np.array(window, dtype=np.float64),
        columns={
            "m": np.array(m, dtype=np.float64),
            "t": np.array(t, dtype=np.float64),
            "due": np.array(due, dtype=np.float64),
        },
    )


def _shapes(ids: Sequence[int]) -> Floats32:
    """Plans of the given feeds; a flat one where there is none yet."""
    found = np.ones((len(ids), WEEK_HOURS), dtype=np.float32)
    row = {feed: i for i, feed in enumerate(ids)}
    for feed, shape in PostingPlan.objects.filter(feed__in=ids).values_list("feed_id", "shape"):
        found[row[feed]] = np.frombuffer(shape, "<f4")
    return found
