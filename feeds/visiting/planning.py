"""The daily plan: the posting of all feeds together, prices of the hours, and every feed's plan."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.db.models import Count, F, Q

from crawler.database.bulk import update_rows, upsert_rows
from feeds.models import Feed, PostingHistory, PostingPlan, PostingPopulation
from feeds.scheduling.history import pack
from feeds.scheduling.planning import PLAN_SECONDS, planned, todays_prices
from feeds.scheduling.rates import WEEK_HOURS, Floats, Floats32
from feeds.visiting.posting import NOTHING_POSTED, histories, population
from feeds.visiting.rules import rules

PLAN_AGE = timedelta(seconds=PLAN_SECONDS)
# A subscriber counts as active in a feed for so long after reading an article of it.
ACTIVE = timedelta(days=30)
# Feeds sampled for the population, and for the prices; larger samples give the same results.
POPULATION_SAMPLE, PRICE_SAMPLE = 20_000, 2_000
BLOCK = 2_000


def claim(now: datetime) -> bool:
    """Claim the daily planning. Returns False when it is not due or another process has claimed it."""
    PostingPopulation.objects.get_or_create(id=1, defaults={**NOTHING_POSTED, "updated": now})
    # A guarded update: of two controllers one plans.
    due = Q(planned__isnull=True) | Q(planned__lte=now - PLAN_AGE)
    return PostingPopulation.objects.filter(due, id=1).update(planned=now) == 1


def plan(now: datetime) -> int:
    """Forecast postings and plan all feeds in the normal phase. Returns their number. Safe to repeat.

    A feed without a plan or with yesterday's plan is still ranked.
    """
    _sum_up(now)
    _count_active(now)
    sample = _next_ids(0, PRICE_SAMPLE)
    if not sample:
        return 0
    prices = _prices(_rates(sample))
    count = last = 0
    while ids := _next_ids(last, BLOCK):
        last = ids[-1]
        with transaction.atomic():
            # A feed that is locked is just being checked in: its rates are new, and yesterday's plan will do.
            unlocked = Feed.objects.filter(id__in=ids).select_for_update(skip_locked=True)
            free = sorted(unlocked.values_list("id", flat=True))
            rates = _rates(free)
            plans = zip(free, pack(planned(rates, prices).shapes), strict=True)
            upsert_rows(PostingPlan, [PostingPlan(feed_id=feed, shape=shape) for feed, shape in plans])
            # Store the forecasts with the updated population.
            rows = [
                PostingHistory(feed_id=feed, rates=row) for feed, row in zip(free, pack(rates), strict=True)
            ]
            update_rows(PostingHistory, rows, ["rates"])
            count += len(free)
    return count


def _sum_up(now: datetime) -> None:
    counts, exposure = np.zeros(WEEK_HOURS), np.zeros(WEEK_HOURS)
    rows = PostingHistory.objects.order_by("-updated").values_list("week_counts", "week_exposure")
    for blobs in rows[:POPULATION_SAMPLE].iterator(chunk_size=2000):
        counts += np.frombuffer(blobs[0], "<f4")
        exposure += np.frombuffer(blobs[1], "<f4")
    PostingPopulation.objects.update_or_create(
        id=1, defaults={"week_counts": counts.tobytes(), "week_exposure": exposure.tobytes(), "updated": now}
    )


def _count_active(now: datetime) -> None:
    """Count for each feed the subscribers who read an article of it lately."""
    read = Feed.objects.filter(
        articles__marks__read__gte=now - ACTIVE, articles__marks__subscriber__subscriptions__feed=F("id")
    )
    counted = read.annotate(active=Count("articles__marks__subscriber", distinct=True))
    counts = dict(counted.values_list("id", "active"))
    Feed.objects.filter(active_subscribers__gt=0).exclude(id__in=counts).update(active_subscribers=0)
    changed = Feed.objects.filter(id__in=counts).values_list("id", "active_subscribers")
    # Only changed rows: most feeds keep their readers from day to day, and each write is a new row version.
    rows = [Feed(id=feed, active_subscribers=counts[feed]) for feed, was in changed if was != counts[feed]]
    update_rows(Feed, rows, ["active_subscribers"])


def _prices(sample: Floats32) -> Floats:
    """Return today's prices from the (n, 168) rates of a sample of feeds. Stores tomorrow's prices."""
    row = PostingPopulation.objects.get(id=1)
    before = np.frombuffer(row.prices, "<f8") if row.prices else np.ones(WEEK_HOURS)
    # A retrieval an hour and feed at the budget; a budget of nothing leaves the prices without a meaning.
    per_hour = max(rules().budget, 1e-6) * len(sample)
    prices = todays_prices(before, sample, per_hour)
    tomorrow = planned(sample, prices).next_prices(prices)
    PostingPopulation.objects.filter(id=1).update(prices=tomorrow.tobytes())
    return prices


def _next_ids(last: int, limit: int) -> list[int]:
    """Return the ids after `last` of active feeds in the normal phase, at most `limit`."""
    feeds = Feed.objects.active().fetched().filter(phase=Feed.Phase.NORMAL, id__gt=last)
    return list(feeds.order_by("id").values_list("id", flat=True)[:limit])


def _rates(ids: list[int]) -> Floats32:
    """Return the (n, 168) rates expected of these feeds."""
    return histories(ids).forecast(population()).rates()
