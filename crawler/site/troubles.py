"""What does not work, for the health page: failing feeds and hosts, resting feeds, pages given up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, QuerySet

from articles.models import Page
from feeds.explain import NextVisit, next_visits
from feeds.models import Feed

ROWS = 100


@dataclass(frozen=True, slots=True)
class PageTrouble:
    """Article pages with one failure: how many are given up, how many will be tried again, the next try."""

    failure: str
    given_up: int
    waiting: int
    next_try: datetime | None


def feeds_in_trouble(now: datetime) -> list[tuple[Feed, NextVisit]]:
    """Active feeds that fail with their next visits, the longest failing first; at most ROWS."""
    failing = Feed.objects.failing().filter(status=Feed.Status.ACTIVE)
    feeds = list(failing.select_related("host").defer("fingerprints", "description")[:ROWS])
    visits = next_visits(feeds, now)
    return [(feed, visits[feed.id]) for feed in feeds]


def hosts_in_trouble() -> list[dict[str, Any]]:
    """Hosts with failing feeds: name, how many fail, since when, and the soonest next try."""
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
    """Feeds that nobody visits, because they are gone or paused; at most ROWS."""
    resting = Feed.objects.filter(status=status).order_by("-last_attempt", "id")
    return resting.defer("fingerprints", "description")[:ROWS]


def page_troubles() -> list[PageTrouble]:
    """Failures of article pages that are not stored, the most frequent first."""
    rows = (
        Page.objects.exclude(failure="")
        .exclude(status=Page.Status.STORED)
        .values("failure", "status")
        .annotate(pages=Count("id"), next_try=Min("not_before"))
        .order_by("failure")
    )
    found: dict[str, PageTrouble] = {}
    for row in rows:
        old = found.get(row["failure"], PageTrouble(row["failure"], 0, 0, None))
        waits = row["status"] == Page.Status.WAITING
        found[old.failure] = PageTrouble(
            failure=old.failure,
            given_up=old.given_up + (0 if waits else row["pages"]),
            waiting=old.waiting + (row["pages"] if waits else 0),
            next_try=row["next_try"] if waits else old.next_try,
        )
    return sorted(found.values(), key=lambda trouble: -(trouble.given_up + trouble.waiting))
