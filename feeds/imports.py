"""Imports: addresses added together, the progress of their first visits, and mending of those that fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from feeds.adding import Added, WantedFeed, add_feeds, checked_address, known_feeds
from feeds.addresses import move_to
from feeds.categories import category_at, path_of
from feeds.models import Feed, FeedImport, ImportLine
from feeds.opml import Outline
from feeds.selection import retrieve_now
from feeds.signals import added

KEPT = timedelta(days=30)
State = Literal["read", "known", "merged", "reading", "waiting", "failed", "refused"]

_ADDED = Q(outcome=ImportLine.Outcome.ADDED)
_READ = _ADDED & Q(feed__last_success__isnull=False)
_FAILED = _ADDED & Q(
    feed__last_success__isnull=True,
    feed__failure_streak__gt=0,
    feed__selected_at__isnull=True,
    feed__lease__isnull=True,
)
_MERGED = _ADDED & Q(feed__isnull=True)


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of an import's lines, in total and by state.

    `articles` is the number of entries in the documents of the read feeds.
    """

    total: int
    read: int
    failed: int
    merged: int
    known: int
    refused: int
    articles: int

    @property
    def over(self) -> int:
        """Number of lines after their first visit, or without need of one."""
        return self.read + self.failed + self.merged + self.known + self.refused

    @property
    def open(self) -> int:
        """Number of lines before their first visit."""
        return self.total - self.over

    @property
    def fine(self) -> int:
        """Number of lines with a readable feed."""
        return self.read + self.merged


def state_of_line(line: ImportLine) -> State:
    """Return the state of a line, whose feed is loaded."""
    feed = line.feed
    if line.outcome == ImportLine.Outcome.REFUSED:
        return "refused"
    if line.outcome == ImportLine.Outcome.DUPLICATE:
        return "known"
    if feed is None:
        return "merged"
    if feed.last_success is not None:
        return "read"
    if feed.lease is not None:
        return "reading"
    return "failed" if feed.failure_streak and feed.selected_at is None else "waiting"


@transaction.atomic
def start_import(
    user: User, outlines: Sequence[Outline], *, name: str = "", folder: str = "", follows: bool = True
) -> FeedImport:
    """Add the feeds of outlines below a folder, and remember each with its outcome."""
    base = path_of(folder)
    paths = [(*base, *outline.folder) for outline in outlines]
    keys = {path: category.pk if (category := category_at(path)) else None for path in set(paths)}
    outcomes = add_feeds(
        [
            WantedFeed(outline.url, outline.title, keys[path])
            for outline, path in zip(outlines, paths, strict=True)
        ]
    )
    feed_import = FeedImport.objects.create(user=user, name=name[:200], follows=follows)
    ImportLine.objects.bulk_create(
        [
            ImportLine(
                source=feed_import,
                text=outline.url[:2100],
                title=outline.title,
                folder="/".join(path),
                **_result(outcome),
            )
            for outline, path, outcome in zip(outlines, paths, outcomes, strict=True)
        ],
        batch_size=2000,
    )
    _follow(feed_import, [outcome.feed for outcome in outcomes if outcome.feed is not None])
    return feed_import


def progress_of(feed_import: FeedImport) -> Progress:
    """Count the lines of an import by their states."""
    counts = feed_import.lines.aggregate(
        total=Count("id"),
        read=Count("id", filter=_READ),
        failed=Count("id", filter=_FAILED),
        merged=Count("id", filter=_MERGED),
        known=Count("id", filter=Q(outcome=ImportLine.Outcome.DUPLICATE)),
        refused=Count("id", filter=Q(outcome=ImportLine.Outcome.REFUSED)),
    )
    articles = Feed.objects.filter(pk__in=feed_import.lines.filter(_READ).values("feed"))
    held = articles.aggregate(held=Sum("document_size", default=0))["held"]
    return Progress(**counts, articles=held)


def failing_lines(feed_import: FeedImport) -> QuerySet[ImportLine]:
    """Return the lines that need a person: refused addresses, and feeds whose first visit failed."""
    rows = feed_import.lines.filter(_FAILED | Q(outcome=ImportLine.Outcome.REFUSED))
    return rows.select_related("feed").defer("feed__fingerprints")


def retry(line: ImportLine, because: str) -> None:
    """Select the feed of a line for a visit at once."""
    if line.feed is not None:
        retrieve_now(Feed.objects.filter(pk=line.feed.pk), because)


@transaction.atomic
def correct(line: ImportLine, text: str) -> None:
    """Change the address of a line, and move its feed there. Raises BadUrl.

    Adds a feed instead if the line has none, its feed was read before, or another feed has the address.
    """
    address = checked_address(text)
    category = category_at(path_of(line.folder))
    if line.feed is None or line.feed.last_success is not None or known_feeds(address.variants):
        (outcome,) = add_feeds([WantedFeed(text, line.title, category.pk if category else None)])
        _drop_feed(line)
        for name, value in _result(outcome).items():
            setattr(line, name, value)
    else:
        line.feed = move_to(line.feed, address.url)
    line.text = text[:2100]
    line.save()
    if line.feed is not None:
        _follow(line.source, [line.feed])


@transaction.atomic
def drop(line: ImportLine) -> None:
    """Forget a line, and its feed where it was added by this import and never read."""
    _drop_feed(line)
    line.delete()


def forget_old(now: datetime) -> None:
    """Delete imports that are older than a month. Their feeds stay."""
    FeedImport.objects.filter(created__lt=now - KEPT).delete()


def _drop_feed(line: ImportLine) -> None:
    feed = line.feed
    if feed is not None and line.outcome == ImportLine.Outcome.ADDED and feed.last_success is None:
        line.feed = None
        feed.delete()


def _result(outcome: Added) -> dict[str, object]:
    reason = outcome.message.partition(": ")[2] if outcome.outcome == "refused" else ""
    return {"feed": outcome.feed, "outcome": outcome.outcome, "message": reason}


def _follow(feed_import: FeedImport, feeds: Sequence[Feed]) -> None:
    if feeds and feed_import.follows:
        added.send(Feed, user=feed_import.user, feeds=feeds)


def recent_imports(user: User) -> list[FeedImport]:
    """Return the person's imports of the last day, newest first."""
    since = datetime.now(UTC) - timedelta(days=1)
    return list(FeedImport.objects.filter(user=user, created__gte=since)[:3])
