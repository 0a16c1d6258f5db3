"""Once a day: what all feeds together post, prices of the hours, and every feed's plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Q

from crawler.rows import upsert_rows
from feeds.models import Feed, PostingHistory, PostingPlan, PostingPopulation
from feeds.posting import histories, population, weekly_rates
from feeds.scheduling.history import pack
from feeds.scheduling.planning import PLAN_SECONDS, planned, todays_prices
from feeds.scheduling.rates import WEEK_HOURS, Floats, Floats32

PLAN_AGE = timedelta(seconds=PLAN_SECONDS)
SAMPLE = 2_000  # feeds on whose rates prices are found; the sums of more would say the same
BLOCK = 2_000


@dataclass(frozen=True, slots=True)
class _Plannable:
    """Some feeds and their rates, (n, 168)."""

    ids: list[int]
    rates: Floats32


def claim(now: datetime) -> bool:
    """Whether it is time to plan, and nobody else does."""
    PostingPopulation.objects.get_or_create(id=1, defaults=_nothing(now))
    due = Q(planned__isnull=True) | Q(planned__lte=now - PLAN_AGE)
    return PostingPopulation.objects.filter(due, id=1).update(planned=now) == 1


def plan(now: datetime) -> int:
    """Sum up what feeds post and plan all in the normal phase; how many. May run twice, or die in the middle.

    A feed without a plan, or with yesterday's, is ranked all the same.
    """
    _sum_up(now)
    sample = next(_blocks(SAMPLE), None)
    if sample is None:
        return 0
    prices = _prices(sample)
    done = 0
    for block in _blocks(BLOCK):
        shapes = pack(planned(block.rates, prices).shapes)
        rows = [PostingPlan(feed_id=feed, shape=shape) for feed, shape in zip(block.ids, shapes, strict=True)]
        with transaction.atomic():
            there = set(
                Feed.objects.filter(id__in=block.ids).select_for_update().values_list("id", flat=True)
            )
            upsert_rows(PostingPlan, [row for row in rows if row.feed_id in there])
        done += len(rows)
    return done


def _sum_up(now: datetime) -> None:
    counts, exposure = np.zeros(WEEK_HOURS), np.zeros(WEEK_HOURS)
    rows = PostingHistory.objects.values_list("week_counts", "week_exposure")
    for blobs in rows.iterator(chunk_size=2000):
        counts += np.frombuffer(blobs[0], "<f4")
        exposure += np.frombuffer(blobs[1], "<f4")
    PostingPopulation.objects.update_or_create(
        id=1,
        defaults={"week_counts": counts.tobytes(), "week_exposure": exposure.tobytes(), "updated": now},
        create_defaults={
            **_nothing(now),
            "week_counts": counts.tobytes(),
            "week_exposure": exposure.tobytes(),
        },
    )


def _nothing(now: datetime) -> dict[str, object]:
    empty = np.zeros(WEEK_HOURS).tobytes()
    return {"week_counts": empty, "week_exposure": empty, "updated": now}


def _prices(sample: _Plannable) -> Floats:
    """Today's prices; tomorrow's are kept."""
    row = PostingPopulation.objects.get(id=1)
    before = np.frombuffer(row.prices, "<f8") if row.prices else np.ones(WEEK_HOURS)
    # A retrieval an hour and feed at the budget; a budget of nothing leaves the prices without a meaning.
    per_hour = max(settings.CRAWL_BUDGET, 1e-6) * len(sample.ids)
    prices = todays_prices(before, sample.rates, per_hour)
    tomorrow = planned(sample.rates, prices).next_prices(prices)
    PostingPopulation.objects.filter(id=1).update(prices=tomorrow.tobytes())
    return prices


def _blocks(size: int) -> Iterator[_Plannable]:
    """All feeds of the normal phase that are visited, by id."""
    everyone, last = population(), 0
    feeds = Feed.objects.filter(phase=Feed.Phase.NORMAL, status=Feed.Status.ACTIVE)
    while ids := list(feeds.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:size]):
        last = ids[-1]
        yield _Plannable(ids, weekly_rates(histories(ids), everyone).rates)
