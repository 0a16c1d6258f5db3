"""Figures of the overview beyond those of `site.statistics`: the hours of a day, and the next visits."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncHour
from django.utils.translation import gettext as _

from feeds.models import Feed, Retrieval
from feeds.visiting.explain import NextVisit, next_visits

DAY = timedelta(hours=24)
CANDIDATES = 40
"""Feeds of each kind whose next visits are worked out to find the soonest: more would slow the page."""


def failing_by_kind() -> list[dict[str, Any]]:
    """Count active failing feeds by their last failure, the most frequent first: `failure` and `feeds`."""
    failing = Feed.objects.active().filter(failure_streak__gt=0).values("failure")
    return [dict(row) for row in failing.annotate(feeds=Count("id")).order_by("-feeds", "failure")]


def retrieved_within(now: datetime) -> dict[str, int]:
    """Count feeds retrieved successfully within the last hour and the last day."""
    counts: dict[str, int] = Feed.objects.active().aggregate(
        hour=Count("id", filter=Q(last_success__gte=now - timedelta(hours=1))),
        day=Count("id", filter=Q(last_success__gte=now - DAY)),
    )
    return counts


def soonest_visits(now: datetime, limit: int = 10) -> list[tuple[Feed, NextVisit]]:
    """Return the deployment's next visits, the soonest first."""
    lean = Feed.objects.active().fetched().select_related("host").defer("fingerprints", "description")
    training = lean.filter(phase=Feed.Phase.TRAINING, selected_at__isnull=True)
    ranked = lean.filter(phase=Feed.Phase.NORMAL, selected_at__isnull=True)
    candidates = [
        *lean.filter(selected_at__isnull=False).order_by("selected_at")[:limit],
        *training.order_by("training_due")[:CANDIDATES],
        # Those that waited longest: their keys have grown longest, too.
        *ranked.filter(not_before__lte=now + DAY).order_by("last_success")[:CANDIDATES],
    ]
    visits = next_visits(candidates, now)
    planned = [(feed, visits[feed.id]) for feed in candidates if visits[feed.id].at is not None]
    planned.sort(key=lambda pair: (pair[1].at or now, pair[0].id))
    return planned[:limit]


def hourly_series(now: datetime) -> dict[str, Any]:
    """Return retrievals, failures and new articles of each of the last 24 hours, for charts.js."""
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=23)
    rows = (
        Retrieval.objects.filter(at__gte=first, at__lte=now)
        .annotate(hour=TruncHour("at"))
        .values("hour")
        .annotate(
            made=Count("id", filter=Q(pushed=False)),
            failed=Count("id", filter=Q(outcome=Retrieval.Outcome.FAILED)),
            articles=Sum("new", default=0),
        )
        .order_by("hour")
    )
    by_hour: dict[datetime, dict[str, Any]] = {row["hour"]: dict(row) for row in rows}
    hours = [first + timedelta(hours=i) for i in range(24)] if by_hour else []

    def values(name: str) -> list[int]:
        return [by_hour[hour][name] if hour in by_hour else 0 for hour in hours]

    return {
        "x": [hour.timestamp() for hour in hours],
        "unit": _("an hour"),
        "step": 3600,
        "series": [
            {"label": _("retrievals"), "values": values("made"), "kind": "steps"},
            {"label": _("new articles"), "values": values("articles"), "kind": "bars"},
            {"label": _("failures"), "values": values("failed"), "kind": "steps"},
        ],
    }
