"""Queries of the health page: failing feeds and hosts, resting feeds, abandoned pages."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet

from articles.models import Page
from feeds.models import Feed
from feeds.visiting.explain import NextVisit, next_visits

ROWS = 8
"""Rows of a table: the table of feeds has all of them."""


def failing_feeds(now: datetime) -> list[tuple[Feed, NextVisit]]:
    """Return failing active feeds with their next visits, the longest failing first; at most ROWS."""
    failing = Feed.objects.failing().filter(status=Feed.Status.ACTIVE)
    feeds = list(failing.select_related("host").defer("fingerprints", "description")[:ROWS])
    visits = next_visits(feeds, now)
    return [(feed, visits[feed.id]) for feed in feeds]


def failing_hosts() -> list[dict[str, Any]]:
    """Return hosts with failing feeds: name, how many fail, since when, and the soonest next try."""
    rows = (
        Feed.objects.active()
        .filter(failure_streak__gt=0)
        .order_by()
        .values("host__name", "host__not_before")
        .annotate(
            failing=Count("id"),
            since=Min("failing_since"),
            next_try=Min("not_before"),
            example=Max("failure"),
            kinds=Count("failure", distinct=True),
        )
        .order_by("-failing", "since")[:ROWS]
    )
    return [dict(row) for row in rows]


def resting_feeds(status: str) -> QuerySet[Feed]:
    """Return feeds that nobody visits because they are gone or paused; at most ROWS."""
    resting = Feed.objects.filter(status=status).order_by("-last_attempt", "id")
    return resting.defer("fingerprints", "description")[:ROWS]


def page_troubles() -> list[Any]:
    """Count failures of article pages by kind, the most frequent first.

    Each has the keys `failure`, `given_up` (pages given up), `waiting` (pages to be retried) and `next_try`.
    """
    waits = Q(status=Page.Status.WAITING)
    rows = (
        Page.objects.exclude(failure="")
        .exclude(status=Page.Status.STORED)
        .values("failure")
        .annotate(
            pages=Count("id"),
            given_up=Count("id", filter=~waits),
            waiting=Count("id", filter=waits),
            next_try=Min("not_before", filter=waits),
        )
        .order_by("-pages", "failure")
    )
    return list(rows.values_list("failure", "given_up", "waiting", "next_try", named=True))
