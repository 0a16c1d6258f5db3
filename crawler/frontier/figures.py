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
    bucket, _ = CrawlBucket.objects.get_or_create(crawl_id=crawl, start=start_of(now))
    figures = dict(bucket.figures)
    for name, seen in values.items():
        if seen:
            figures[name] = _joined(figures.get(name), seen)
    CrawlBucket.objects.filter(pk=bucket.pk).update(
        crawled=F("crawled") + crawled,
        dropped=F("dropped") + dropped,
        duplicates=F("duplicates") + duplicates,
        figures=figures,
    )


def start_of(now: datetime) -> datetime:
    """The beginning of the bucket that holds this time."""
    length = BUCKET.total_seconds()
    return datetime.fromtimestamp(now.timestamp() // length * length, UTC)


def _joined(before: list[float] | None, seen: Sequence[float]) -> list[float]:
    number, total, least, most = before or [0, 0.0, float("inf"), float("-inf")]
    return [number + len(seen), total + sum(seen), min(least, *seen), max(most, *seen)]
