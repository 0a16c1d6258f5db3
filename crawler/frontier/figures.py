"""Figures per minute, for the paper's figures 4 to 12: number, sum, minimum and maximum."""

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
    """Add counts and values to the minute of `now`. The caller has locked the crawl's row."""
    length = BUCKET.total_seconds()
    start = datetime.fromtimestamp(now.timestamp() // length * length, UTC)
    bucket, _ = CrawlBucket.objects.get_or_create(crawl_id=crawl, start=start)
    figures = dict(bucket.figures)
    for name, measured in values.items():
        if measured:
            number, total, smallest, largest = figures.get(name) or [0, 0.0, float("inf"), float("-inf")]
            figures[name] = [
                number + len(measured),
                total + sum(measured),
                min(smallest, *measured),
                max(largest, *measured),
            ]
    CrawlBucket.objects.filter(pk=bucket.pk).update(
        crawled=F("crawled") + crawled,
        dropped=F("dropped") + dropped,
        duplicates=F("duplicates") + duplicates,
        figures=figures,
    )
