"""Figures of the last 24 hours, which /api/stats/, /metrics and the overview show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count, Min, Q, Sum

from articles.models import Article
from feeds.models import Feed, Retrieval, Tick
from feeds.visiting.rules import rules

WINDOW = timedelta(hours=24)
COUNTED_ROWS = 200_000  # beyond this the planner's estimate is near enough, and counting takes a second


@dataclass(frozen=True, slots=True)
class Delay:
    """Percentiles and mean of the seconds from publication to retrieval; None while nothing was measured."""

    p50: float | None
    p95: float | None
    p99: float | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class Budget:
    """Retrievals that the budget allowed since `since`, those made, and their ratio."""

    allowed: float
    used: int
    share: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """Current totals, and counts of the last 24 hours.

    Current: `feeds`, `active`, `paused`, `gone`, `training`, `failing`, `waiting` (selected or out with a
    terminal) and `articles`. Of the last 24 hours: `new_articles`, `retrievals`, `not_modified` (304),
    `same_body`, `failures`, `bytes`, `delay` (seconds), `budget`.
    """

    feeds: int
    active: int
    paused: int
    gone: int
    training: int
    failing: int
    waiting: int
    articles: int
    new_articles: int
    retrievals: int
    not_modified: int
    same_body: int
    failures: int
    bytes: int
    delay: Delay
    budget: Budget


def statistics(now: datetime) -> Statistics:
    """Compute all figures in seven queries."""
    since = now - WINDOW
    active = Q(status=Feed.Status.ACTIVE)
    feeds = Feed.objects.aggregate(
        feeds=Count("id"),
        active=Count("id", filter=active),
        paused=Count("id", filter=Q(status=Feed.Status.PAUSED)),
        gone=Count("id", filter=Q(status=Feed.Status.GONE)),
        training=Count("id", filter=active & Q(phase=Feed.Phase.TRAINING)),
        failing=Count("id", filter=active & Q(failure_streak__gt=0)),
        waiting=Count("id", filter=active & Q(selected_at__isnull=False)),
    )
    log = Retrieval.objects.filter(at__gte=since, at__lte=now, pushed=False).aggregate(
        retrievals=Count("id"),
        not_modified=Count("id", filter=Q(outcome=Retrieval.Outcome.NOT_MODIFIED)),
        same_body=Count("id", filter=Q(outcome=Retrieval.Outcome.SAME_BODY)),
        failures=Count("id", filter=Q(outcome=Retrieval.Outcome.FAILED)),
        bytes=Sum("bytes", default=0),
    )
    return Statistics(
        **feeds,
        articles=count_articles(),
        new_articles=Article.objects.filter(fetched__gte=since).count(),
        **log,
        delay=delay_percentiles(since),
        budget=budget_used(feeds["active"], log["retrievals"], now),
    )


def count_articles() -> int:
    """Count stored articles: exactly in small tables, by PostgreSQL's estimate in big ones."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = 'articles_article'::regclass")
        estimate = int(cursor.fetchone()[0])
    return estimate if estimate > COUNTED_ROWS else Article.objects.count()


def delay_percentiles(since: datetime) -> Delay:
    """Measure the delays of articles retrieved since then whose time of publication is sure."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY delay), avg(delay)
            FROM articles_article WHERE fetched >= %s AND delay IS NOT NULL
            """,
            [since],
        )
        percentiles, mean = cursor.fetchone()
    p50, p95, p99 = percentiles or (None, None, None)
    return Delay(p50, p95, p99, mean)


def budget_used(active_feeds: int, retrievals: int, now: datetime) -> Budget:
    """Measure the use of the budget, which counts per feed and hour.

    A young deployment is measured from its first tick on.
    """
    first = Tick.objects.filter(started__gte=now - WINDOW).aggregate(at=Min("started"))["at"]
    hours = (now - first) / timedelta(hours=1) if first else 0.0
    allowed = rules().budget * active_feeds * hours
    return Budget(allowed, retrievals, retrievals / allowed if allowed else 0.0)
