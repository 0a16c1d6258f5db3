"""Delay as the advaRSS papers give it: the feeds whose news comes latest, beside the mean of all."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Avg, Count

from feeds.models import Feed

WORST = 10


def latest_feeds(since: datetime) -> list[dict[str, Any]]:
    """Return the ten feeds with the longest mean delay of articles retrieved since then, the longest first.

    Each as `id`, `title`, `url`, `mean` (seconds from publication to retrieval) and `count` of articles. Only
    articles count whose time of publication is sure.
    """
    counted = Feed.objects.filter(articles__fetched__gte=since, articles__delay__isnull=False)
    means = counted.annotate(mean=Avg("articles__delay"), count=Count("articles__id"))
    rows = means.order_by("-mean", "id").values("id", "title", "url", "mean", "count")[:WORST]
    return [dict(row) for row in rows]
