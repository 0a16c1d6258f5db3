"""Articles' pages as work of the engine, and articles of the feeds that were read."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.dispatch import receiver

from articles.intake import Arrival, lock_articles, store_arrivals
from articles.models import Page
from articles.pages import check_in_pages, feeds_of
from articles.personal.versions import touch
from crawler.engine.leased import Room, lease_rows
from crawler.engine.signals import settled
from crawler.engine.work import Results, Stored, Work, register
from crawler.messages import Assignment
from crawler.pipeline.documents import take_pages
from crawler.reading.documents import RetrievedFeed
from feeds.signals import arrived
from feeds.visits import FeedVisit
from feeds.work import FeedWork


@register
class PageWork(Work):
    """Pages that articles name, downloaded for their text."""

    kinds = ("page",)
    order = 30
    model = Page

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Pages that may be downloaded now."""
        return Page.objects.free().filter(status=Page.Status.WAITING, not_before__lte=now)

    def lease(
        self, leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put waiting pages under the leases of their hosts, first found first.

        Those that failed come behind the others, so that a slow one does not hold its host.
        """
        rows = lease_rows(
            Page,
            leases,
            room,
            now,
            where="status = 'waiting'",
            order="attempts, id",
            returning=("id", "host_id", "url", "losses"),
        )
        taken: dict[int, list[Assignment]] = {}
        for page, host, url, losses in rows:
            taken.setdefault(host, []).append(Assignment("page", page, url, suspect=losses > 0))
        return taken

    def lock(self, results: Results, leases: Sequence[uuid.UUID]) -> None:
        """The articles of these pages, and those that entries of feeds edit."""
        documents = [
            (result.id, found.document)
            for some in results.values()
            for result in some
            if (found := result.brought(RetrievedFeed)) and found.document
        ]
        edited = [(feed, entry.identity) for feed, document in documents for entry in document.edited]
        lock_articles(edited, [result.id for result in self.mine(results) if not result.failure])

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> list[int]:
        """Store what was downloaded; primary keys of these pages."""
        return check_in_pages(self.mine(results), leases, float(settings.CRAWL_MIN_GAP_SECONDS))


@receiver(arrived)
def keep_entries(visits: Sequence[FeedVisit], **_: object) -> None:
    """Store the entries of feeds that were read."""
    stored = store_arrivals([_arrival(visit) for visit in visits], pages=settings.CRAWL_ARTICLE_PAGES)
    for visit in visits:
        brought = stored[visit.feed.id]
        visit.new, visit.edited, visit.published = brought.new, brought.edited, brought.published


@receiver(settled)
def go_on(stored: Stored, **_: object) -> None:
    """Pages go into the graph, and readers of the feeds see that something is new or has changed."""
    pages = stored.get(PageWork, ())
    if pages and settings.PIPELINE_STORED:
        take_pages(dict(Page.objects.filter(id__in=pages).values_list("id", "url")))
    changed = [visit.feed.id for visit in stored.get(FeedWork, ()) if visit.new or visit.edited]
    touch([*changed, *(feeds_of(pages) if pages else ())])


def _arrival(visit: FeedVisit) -> Arrival:
    document = visit.found.document
    return Arrival(
        feed_id=visit.feed.id,
        at=visit.harvest.at,
        previous=visit.previous,
        language=document.language if document else "",
        entries=document.entries if document else (),
        edited=document.edited if document else (),
    )
