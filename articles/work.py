"""Article pages as work of the engine, and storage of the entries of retrieved feeds."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.dispatch import receiver

from articles.edits import rechecks
from articles.edits.models import PageRecheck
from articles.intake import Arrival, lock_articles, store_arrivals
from articles.models import Article, Page
from articles.pages import check_in_pages, feeds_of
from articles.personal.versions import touch
from crawler.engine.chosen import chosen
from crawler.engine.leased import BatchSpace, lease_rows
from crawler.engine.signals import settled, ticked
from crawler.engine.work import Results, Stored, Work, register
from crawler.messages import Assignment
from crawler.pipeline.documents import StoredDocument, take_stored
from crawler.pipeline.models import Document
from crawler.reading.documents import RetrievedFeed
from crawler.reading.sources.kinds import MAIL
from feeds.signals import arrived, mailed
from feeds.visiting.visits import FeedVisit, StoredEntries
from feeds.work import FeedWork


@register
class PageWork(Work):
    """Pages linked by articles, downloaded for their text; and those that people save."""

    kinds = ("page", "saved-page")
    order = 30
    model = Page

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Return pages that may be downloaded now."""
        return Page.objects.free().filter(status=Page.Status.WAITING, not_before__lte=now)

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put waiting pages under the leases of their hosts, lowest id first.

        Pages that failed come after the others, so that a slow page does not hold up its host; and those that
        came with a file after those that somebody waits for.
        """
        rows = lease_rows(
            Page,
            leases,
            space,
            now,
            where="status = 'waiting'",
            order="attempts, imported, id",
            returning=("id", "host_id", "url", "losses", "owner_id", "requested"),
        )
        assignments: dict[int, list[Assignment]] = {}
        for page, host, url, losses, owner, is_requested in rows:
            kind = "saved-page" if is_requested else "page"
            assignment = Assignment(kind, page, url, suspect=losses > 0, owner=owner or 0)
            assignments.setdefault(host, []).append(assignment)
        return assignments

    def lock(self, results: Results, leases: Sequence[uuid.UUID]) -> None:
        """Lock the articles of these pages, of those looked at again, and those edited by feeds."""
        documents = [
            (result.id, retrieved.document)
            for batch in results.values()
            for result in batch
            if (retrieved := result.brought(RetrievedFeed)) and retrieved.document
        ]
        edited = [(feed, entry.identity) for feed, document in documents for entry in document.edited]
        looked_at = [result.id for result in results.get("recheck", ()) if not result.unchanged]
        pages = [result.id for result in self.mine(results) if not result.failure]
        lock_articles(edited, [*pages, *looked_at])

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> list[int]:
        """Store downloaded pages. Returns their primary keys."""
        stored = check_in_pages(self.mine(results), leases, float(chosen("FEED_MIN_GAP_SECONDS")))
        rechecks.watch(self.mine(results), stored, now)
        return stored


@register
class RecheckWork(Work):
    """Pages of new articles that are looked at again for edits."""

    kinds = ("recheck",)
    order = 60
    model = PageRecheck

    def waiting(self, now: datetime) -> QuerySet[Any]:
        """Return the looks that the budget allows."""
        return PageRecheck.objects.free().filter(is_chosen=True, not_before__lte=now)

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put chosen looks under the leases of their hosts."""
        columns = ("page_id", "host_id", "losses", "etag", "last_modified")
        rows = lease_rows(PageRecheck, leases, space, now, where="is_chosen", returning=columns)
        pages = Page.objects.only("url", "owner_id").in_bulk([row[0] for row in rows])
        assignments: dict[int, list[Assignment]] = {}
        for page, host, losses, etag, modified in rows:
            assignment = Assignment(
                "recheck", page, pages[page].url, etag, modified, suspect=losses > 0,
                owner=pages[page].owner_id or 0,
            )  # fmt: skip
            assignments.setdefault(host, []).append(assignment)
        return assignments

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> list[int]:
        """Store what the looks have brought. Returns the pages whose articles were edited."""
        return rechecks.settle(self.mine(results), leases, now)

    def named(self, row: Any) -> tuple[str, int, str]:
        """Return the kind, the page's key and its URL."""
        return self.kinds[0], row.page_id, row.page.url


@receiver(ticked)
def plan_looks(now: datetime, **_: object) -> None:
    """Choose the pages of new articles that are looked at again for edits."""
    rechecks.plan(now)


@receiver(arrived)
def keep_entries(visits: Sequence[FeedVisit], **_: object) -> dict[int, StoredEntries]:
    """Store the entries of retrieved feeds. Returns what was stored, by feed id.

    Articles of newsletters get no page: nothing is asked of their senders before a person presses a link.
    """
    mails = [_arrival(visit) for visit in visits if visit.feed.kind == MAIL]
    others = [_arrival(visit) for visit in visits if visit.feed.kind != MAIL]
    stored = store_arrivals(mails, pages=False, pictures=False)
    return stored | store_arrivals(others, pages=chosen("FEED_ARTICLE_PAGES"))


@receiver(mailed)
def raise_versions(stored: Mapping[int, StoredEntries], **_: object) -> None:
    """Raise the versions of feeds that have new articles from mail."""
    touch(list(stored))


@receiver(settled)
def go_on(stored: Stored, **_: object) -> None:
    """Send stored pages to the graph, and raise the versions of feeds whose articles changed."""
    pages = [*stored.get(PageWork, ()), *stored.get(RecheckWork, ())]
    if pages and chosen("PIPELINE_STORED"):
        take_stored(_documents(pages))
    changed = [visit.feed.id for visit in stored.get(FeedWork, ()) if visit.stored.new or visit.stored.edited]
    touch([*changed, *(feeds_of(pages) if pages else ())])


def _documents(pages: Sequence[int]) -> list[StoredDocument]:
    public = Article.objects.public().filter(page__in=pages)  # what is one person's is no part of the graph
    rows = Page.objects.filter(id__in=public.values("page")).values_list("id", "url", "host", "fetched")
    return [
        StoredDocument(url, host, Document.Source.ARTICLE, "text/html", fetched, page=key)
        for key, url, host, fetched in rows
        if fetched
    ]


def _arrival(visit: FeedVisit) -> Arrival:
    document = visit.found.document
    return Arrival(
        feed_id=visit.feed.id,
        at=visit.harvest.at,
        previous=visit.previous,
        language=document.language if document else "",
        entries=document.entries if document else (),
        edited=document.edited if document else (),
        owner=visit.feed.owner_id,
    )
