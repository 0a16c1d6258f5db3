"""Progress of new feeds' first visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import Count, Q

from feeds.models import Feed

State = Literal["waiting", "reading", "read", "failed", "merged"]


@dataclass(frozen=True, slots=True)
class FirstVisit:
    """A feed and the state of its first visit; `feed` is None when it was merged into a known feed."""

    feed: Feed | None
    state: State
    articles: int = 0

    @property
    def open(self) -> bool:
        """True while the visit is not over."""
        return self.state in {"waiting", "reading"}


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of the first visits of all feeds added since a moment."""

    added: int
    read: int
    failed: int

    @property
    def heard(self) -> int:
        """Number of feeds whose first visit is over."""
        return self.read + self.failed

    @property
    def open(self) -> int:
        """Number of feeds whose first visit is not over."""
        return self.added - self.heard


def first_visits(ids: Sequence[int]) -> list[FirstVisit]:
    """Return the first visit of each id, in the order of `ids`."""
    counted = Feed.objects.filter(id__in=ids).defer("fingerprints").annotate(stored=Count("articles"))
    feeds = {feed.id: feed for feed in counted}
    return [_first_visit(feeds.get(key)) for key in ids]


def _first_visit(feed: Feed | None) -> FirstVisit:
    if feed is None:
        return FirstVisit(None, "merged")
    if feed.last_success is not None:
        return FirstVisit(feed, "read", articles=feed.stored)  # type: ignore[attr-defined]
    if feed.lease is not None:
        return FirstVisit(feed, "reading")
    if feed.failure_streak and feed.selected_at is None:
        return FirstVisit(feed, "failed")
    return FirstVisit(feed, "waiting")


def progress_since(moment: datetime) -> Progress:
    """Count the first visits of feeds added since `moment`."""
    read = Q(last_success__isnull=False)
    failed = Q(last_success__isnull=True, failure_streak__gt=0, selected_at__isnull=True)
    counts = Feed.objects.filter(added__gte=moment).aggregate(
        added=Count("id"), read=Count("id", filter=read), failed=Count("id", filter=failed)
    )
    return Progress(**counts)
