"""Figures per half hour, as the paper reports them: number, sum, least and most."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db.models import F

from crawler.frontier.models import BUCKET, CrawlBucket


def note(
    crawl: int,
    now: datetime,
    *,
    crawled: int = 0,
    dropped: int = 0,
    duplicates: int = 0,
    **values: Sequence[float],
) -> None:
    """Add to the bucket of this time; the caller holds the crawl's row."""
    length = BUCKET.total_seconds()
    start = datetime.fromtimestamp(now.timestamp() // length * length, UTC)
    bucket, _ = CrawlBucket.objects.get_or_create(crawl_id=crawl, start=start)
    figures = dict(bucket.figures)
    for name, seen in values.items():
        if seen:
            number, total, least, most = figures.get(name) or [0, 0.0, float("inf"), float("-inf")]
            figures[name] = [number + len(seen), total + sum(seen), min(least, *seen), max(most, *seen)]
    CrawlBucket.objects.filter(pk=bucket.pk).update(
        crawled=F("crawled") + crawled,
        dropped=F("dropped") + dropped,
        duplicates=F("duplicates") + duplicates,
        figures=figures,
    )
