"""A feed's past as time series, in the form that charts.js draws."""

from __future__ import annotations

from typing import Any

from feeds.models import Feed, Retrieval

POINTS = 500


def training_series(feed: Feed) -> dict[str, Any]:
    """M, T and ToE after each visit of the training phase, the last POINTS of them."""
    rows = _last(feed, "m", "t", "toe", m__isnull=False)
    return {
        "x": [row[0].timestamp() for row in rows],
        "unit": "ticks",
        "series": [
            {"label": "ToE", "values": [row[3] for row in rows], "kind": "steps"},
            {"label": "M", "values": [_rounded(row[1]) for row in rows], "kind": "line"},
            {"label": "T", "values": [_rounded(row[2]) for row in rows], "kind": "line"},
        ],
    }


def forecast_series(feed: Feed) -> dict[str, Any]:
    """New articles that each visit found beside those that the posting history had predicted."""
    rows = _last(feed, "expected", "new", expected__isnull=False)
    return {
        "x": [row[0].timestamp() for row in rows],
        "unit": "new articles",
        "series": [
            {"label": "predicted", "values": [_rounded(row[1]) for row in rows], "kind": "line"},
            {"label": "found", "values": [row[2] for row in rows], "kind": "points"},
        ],
    }


def _last(feed: Feed, *columns: str, **known: bool) -> list[tuple[Any, ...]]:
    """Rows (at, *columns) of successful visits, oldest first."""
    visits = Retrieval.objects.filter(feed=feed, **known).exclude(outcome=Retrieval.Outcome.FAILED)
    return list(visits.order_by("-at", "-id").values_list("at", *columns)[:POINTS])[::-1]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
