"""Harvests as terminals would bring them, without a terminal: for tests of the controller's side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out
from crawler.messages import Assignment, Batch, Harvest, Report
from crawler.reading.documents import Entry, FeedDocument, PageDocument, RetrievedFeed
from crawler.reading.feeds import compare, fingerprints
from feeds.models import Feed
from feeds.orders import FeedOrder


def entry(number: int, **fields: Any) -> Entry:
    """Entry `number` of some feed, published a minute ago."""
    values = {
        "identity": f"tag:{number}",
        "url": f"https://news.example/{number}",
        "title": f"Entry {number}",
        "published": time.time() - 60,
        "text": "Some words from the feed.",
    }
    return Entry(**(values | fields))


def found(assignment: Assignment, *entries: Entry, at: float | None = None, **fields: Any) -> Harvest:
    """A 200 with these entries, compared with what the assignment knows, as a terminal does."""
    whole = FeedDocument(
        "rss20", "A feed", entries=entries, fingerprints=fingerprints(entries), size=len(entries)
    )
    document = compare(whole, assignment.ordered(FeedOrder).known)
    values = {"status": 200, "etag": '"1"', "body_hash": "0" * 64, "payload": RetrievedFeed(document)}
    return Harvest("feed", assignment.id, at or time.time(), assignment.url, **(values | fields))


def unchanged(assignment: Assignment, at: float | None = None, **fields: Any) -> Harvest:
    """A 304."""
    values = {"status": 304, "unchanged": True, "conditional": True, "etag": '"1"'}
    return Harvest("feed", assignment.id, at or time.time(), assignment.url, **(values | fields))


def failed(
    assignment: Assignment, failure: str, status: int = 0, at: float | None = None, **fields: Any
) -> Harvest:
    """A failure of the taxonomy."""
    now = at or time.time()
    return Harvest(
        assignment.kind, assignment.id, now, assignment.url, failure=failure, status=status, **fields
    )


def page(
    assignment: Assignment, text: str = "The main text of the page, longer than the feed's.", **fields: Any
) -> Harvest:
    """A downloaded article page."""
    document = PageDocument(html=b"x", title="Page", text=text, language="en", **fields)
    return Harvest("page", assignment.id, time.time(), assignment.url, status=200, payload=document)


def select(*feeds: Feed) -> None:
    """Select feeds as a tick does."""
    now = datetime.now(UTC)
    Feed.objects.filter(id__in=[feed.id for feed in feeds]).update(
        selected_at=now, selected_because="a test", not_before=now
    )


def lease(*feeds: Feed) -> list[Batch]:
    """Select feeds and hand them out."""
    select(*feeds)
    return hand_out(datetime.now(UTC))


def report(batch: Batch, *harvests: Harvest, **fields: Any) -> Report:
    """All that a terminal brings for a batch."""
    return Report(batch.host, batch.lease, harvests, **fields)


def visit(feed: Feed, *entries: Entry, **fields: Any) -> Batch:
    """One successful visit that finds these entries in the document."""
    batch, assigned = _lease_one(feed)
    check_in([report(batch, found(assigned, *entries, **fields))])
    feed.refresh_from_db()
    return batch


def visit_failing(feed: Feed, failure: str, status: int = 0, **fields: Any) -> None:
    """One visit that fails."""
    batch, assigned = _lease_one(feed)
    check_in([report(batch, failed(assigned, failure, status, **fields))])
    feed.refresh_from_db()


def _lease_one(feed: Feed) -> tuple[Batch, Assignment]:
    """The feed's batch and assignment, among what else goes out."""
    return next((b, a) for b in lease(feed) for a in b.assignments if (a.kind, a.id) == ("feed", feed.id))


def feed_assignments(batches: Sequence[Batch]) -> list[int]:
    """Ids of the feeds in these batches."""
    return [a.id for batch in batches for a in batch.assignments if a.kind == "feed"]
