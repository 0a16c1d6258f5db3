"""Looks at the pages of new articles for edits: planned within a budget, and what they bring."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F

from articles.edits.deciding import Edit, is_emptied
from articles.edits.history import Sighting, Text, edit_between, record
from articles.edits.models import HostEdits, PageRecheck, RecheckHour
from articles.edits.pacing import LADDER, LATE, DueLook, allowed, chosen, learned
from articles.intake import fuller
from articles.models import Article, Page
from crawler.engine.chosen import chosen as chosen_setting
from crawler.messages import Harvest
from crawler.reading.documents import PageDocument
from crawler.text.characters import searchable
from feeds.models import Retrieval

MAX_DUE = 5_000
"""Looks that one planning considers, the ones that have waited longest."""
NEW = timedelta(days=2)
"""Articles that are older when their page is read first are no longer edited, as far as one pays for it."""
GONE = {"http-404", "http-410"}
GONE_LOOKS = 2
"""Looks in a row that find a page gone before its article is said to be taken back: servers are moved."""
DAY = timedelta(days=1)
KEPT_HOURS = timedelta(days=3)


def watch(harvests: Iterable[Harvest], stored: Sequence[int], now: datetime) -> None:
    """Plan the first look at pages of new articles that were just stored."""
    if not chosen_setting("FEED_ARTICLE_EDITS"):
        return
    new = Article.objects.filter(page__in=stored, published__gte=now - NEW).values("page")
    hosts = dict(Page.objects.filter(pk__in=new).exclude(text="").values_list("pk", "host"))
    PageRecheck.objects.bulk_create(
        [
            PageRecheck(
                page_id=harvest.id,
                host_id=hosts[harvest.id],
                since=now,
                due=_due(now, 0),
                not_before=now,
                etag=harvest.etag[:1000],
                last_modified=harvest.last_modified[:200],
            )
            for harvest in harvests
            if harvest.id in hosts
        ],
        ignore_conflicts=True,
    )


@transaction.atomic
def plan(now: datetime) -> int:
    """Choose the looks that the budget allows; leave out what comes too late. Returns the number chosen."""
    since = now - DAY
    others = Retrieval.objects.filter(at__gte=since, pushed=False).count()
    others += Page.objects.filter(fetched__gte=since).count()
    hours = dict(RecheckHour.objects.filter(hour__gte=since).values_list("hour", "looks"))
    number = allowed(others, sum(hours.values()) + PageRecheck.objects.filter(is_chosen=True).count())
    rows = list(
        PageRecheck.objects.filter(is_chosen=False, due__lte=now)
        .only("rung", "due", "since", "host_id")
        .order_by("due")[:MAX_DUE]
    )
    host_edits = HostEdits.objects.in_bulk({row.host_id for row in rows})
    none = HostEdits()
    looks = [
        DueLook(row.pk, row.rung, edits.looks, edits.edits)
        for row in rows
        for edits in [host_edits.get(row.host_id, none)]
    ]
    keys = chosen(looks, number)
    PageRecheck.objects.filter(pk__in=keys).update(is_chosen=True, not_before=now)
    picked = set(keys)
    _skip([row for row in rows if row.pk not in picked and _is_late(row, now)], now)
    RecheckHour.objects.filter(hour__lt=now - KEPT_HOURS).delete()
    return len(keys)


def settle(harvests: Sequence[Harvest], leases: Sequence[uuid.UUID], now: datetime) -> list[int]:
    """Store what looks have brought, inside the caller's transaction, which holds the articles.

    Returns the pages whose articles were edited.
    """
    by_page = {harvest.id: harvest for harvest in harvests}
    rows = PageRecheck.objects.under(leases).filter(page__in=by_page).select_related("page")
    edited = []
    for row in rows.select_for_update(of=("self",)).order_by("pk"):
        harvest = by_page[row.page_id]
        has_edit = _take(row, harvest)
        if has_edit:
            edited.append(row.page_id)
        row.failure = harvest.failure[:40]
        _learn(row, has_edit=has_edit)
        _next(row)
    _count(len(by_page), now)
    return edited


def _take(row: PageRecheck, harvest: Harvest) -> bool:
    """Compare a page with what is stored of it. Returns whether its articles were edited."""
    document = harvest.brought(PageDocument)
    page, at = row.page, datetime.fromtimestamp(harvest.at, UTC)
    old = Text(page.title, page.text)
    if document is not None and not document.text and not harvest.failure:
        document = None if harvest.unchanged else document
    is_gone = harvest.failure in GONE or (
        document is not None
        and not harvest.unchanged
        and is_emptied(old.standing, Text(document.title, document.text).standing)
    )
    if is_gone:
        row.gone += 1
        if row.gone == GONE_LOOKS:
            for article in _articles(page):
                before = _text_of(article, page)
                sighting = Sighting(Edit(kinds=["gone"]), "page", page.fetched or at, at)
                record(article.pk, before, Text(before.title, ""), sighting)
            return True
        return False
    if harvest.failure:
        return False
    row.gone = 0
    row.etag, row.last_modified = harvest.etag[:1000], harvest.last_modified[:200]
    if harvest.unchanged or document is None:
        return False
    return _renew(page, old, document, at)


def _renew(page: Page, old: Text, document: PageDocument, at: datetime) -> bool:
    """Store the new text of a page, and a version of each of its articles, if it was edited."""
    new = Text(document.title or page.title, searchable(document.text))
    edit = edit_between(old, new, page, (document.html, document.content_type))
    if edit is None:
        return False
    seen_at = page.fetched or at
    for article in _articles(page):
        before = _text_of(article, page)
        is_page_text = before.text == old.text
        title = new.title if article.title == old.title else article.title
        text = fuller(new.text, article.text) if is_page_text else article.text
        article_edit = edit if is_page_text or "headline" not in edit.kinds else None
        if article_edit and (title, text) != (before.title, before.text):
            record(article.pk, before, Text(title, text), Sighting(edit, "page", seen_at, at))
            Article.objects.filter(pk=article.pk).update(
                title=title, text=text, text_length=len(text), updated=at
            )
    page.title, page.text, page.content = new.title, new.text, document.content
    page.html, page.content_type = document.html, document.content_type or page.content_type
    page.fetched = at
    page.save(update_fields=["title", "text", "content", "html", "content_type", "fetched"])
    return True


def _articles(page: Page) -> list[Article]:
    rows = Article.objects.filter(page=page).order_by("pk")
    return list(rows.only("pk", "title", "text", "page_id"))


def _text_of(article: Article, page: Page) -> Text:
    return Text(article.title, article.text or page.text)


def _learn(row: PageRecheck, *, has_edit: bool) -> None:
    host_edits, _is_new = HostEdits.objects.select_for_update().get_or_create(host_id=row.host_id)
    host_edits.looks, host_edits.edits = learned(
        host_edits.looks, host_edits.edits, row.rung, has_edit=has_edit
    )
    host_edits.save(update_fields=["looks", "edits"])


def _next(row: PageRecheck) -> None:
    """Plan the next look, or end with the last."""
    row.rung += 1
    if row.rung >= len(LADDER) or row.gone >= GONE_LOOKS:
        row.delete()
        return
    row.lease, row.losses, row.is_chosen = None, 0, False
    row.due = _due(row.since, row.rung)
    row.save()


def _skip(rows: Sequence[PageRecheck], now: datetime) -> None:
    """Leave out the looks that would come too late."""
    ended = [row.pk for row in rows if row.rung + 1 >= len(LADDER)]
    PageRecheck.objects.filter(pk__in=ended, lease=None).delete()
    for row in rows:
        if row.rung + 1 < len(LADDER):
            due = _due(row.since, row.rung + 1)
            PageRecheck.objects.filter(pk=row.pk, lease=None).update(rung=F("rung") + 1, due=due)


def _due(since: datetime, rung: int) -> datetime:
    return since + timedelta(seconds=LADDER[rung])


def _is_late(row: PageRecheck, now: datetime) -> bool:
    return (now - row.since).total_seconds() > LATE * LADDER[row.rung]


def _count(looks: int, now: datetime) -> None:
    hour = now.replace(minute=0, second=0, microsecond=0)
    RecheckHour.objects.bulk_create([RecheckHour(hour=hour)], ignore_conflicts=True)
    RecheckHour.objects.filter(hour=hour).update(looks=F("looks") + looks)
