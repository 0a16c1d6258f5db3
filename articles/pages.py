"""Article pages harvested by terminals: stored, parsed again, or scheduled for another attempt."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.core.signing import BadSignature, TimestampSigner
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from articles.dating import believable
from articles.intake import fuller, lock_articles, web_address
from articles.messages import PAGE_READING, Reread, StoredPage
from articles.models import Article, Page
from articles.personal.versions import touch
from articles.pictures import first_picture
from crawler.database.transactions import passing, retried
from crawler.failures import Failure, Retry, retry_of
from crawler.messages import Harvest
from crawler.reading.documents import PageDocument
from crawler.text.characters import searchable

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 8
PERMITS = "articles.pages.reread"
PERMIT_AGE = timedelta(hours=1)


def check_in_pages(harvests: Iterable[Harvest], leases: Sequence[uuid.UUID], gap: float) -> list[int]:
    """Store downloaded pages and copy their text to their articles, inside the caller's transaction.

    Only pages still under one of the leases count, so a harvest that comes twice changes nothing. Returns the
    primary keys of the stored pages. A failed page waits `gap` seconds times 2, 4, 8 ... before the next
    attempt.
    """
    harvests_by_page = {harvest.id: harvest for harvest in harvests}
    rows = (
        Page.objects.under(leases)
        .select_for_update()
        .filter(id__in=harvests_by_page)
        .defer("html", "text", "content")
    )
    stored: dict[int, Page] = {}
    for page in rows.order_by("id"):
        harvest = harvests_by_page[page.id]
        page.lease, page.losses = None, 0
        page.attempts += 1
        if harvest.failure:
            _fail(page, harvest, gap)
        else:
            _store(page, harvest)
            stored[page.id] = page
    _give_text(stored)
    return list(stored)


def feeds_of(pages: Sequence[int]) -> list[int]:
    """Return the feeds with articles that have one of these pages."""
    return list(Article.objects.filter(page__in=pages).values_list("feed_id", flat=True).distinct())


def outdated(limit: int) -> list[StoredPage]:
    """Return stored pages that another version of the terminals' parser has read, newest first.

    Each has a permit of an hour, by which the controller recognises its own request in the result.
    """
    rows = Page.objects.filter(status=Page.Status.STORED).exclude(reading=PAGE_READING).exclude(html=b"")
    page_rows = rows.order_by("-id").values_list("pk", "url", "html", "content_type")[:limit]
    permits = TimestampSigner(salt=PERMITS)
    return [
        StoredPage(pk, url, bytes(html), content_type, permits.sign(str(pk)))
        for pk, url, html, content_type in page_rows
    ]


def take_again(again: Iterable[Reread]) -> int:
    """Store the texts of pages that were parsed again. Returns the number of pages changed.

    A page that cannot be parsed keeps its text. Results without a valid permit are ignored.
    """
    count = 0
    for reread in sorted(
        (reread for reread in again if _permitted(reread)), key=lambda reread: reread.harvest.id
    ):
        try:
            count += retried(_take_again, reread.harvest)
        except Exception as error:  # what cannot be stored must not be read again at every tick
            if passing(error):
                raise
            log.warning("page %d keeps what it had: %s: %s", reread.harvest.id, type(error).__name__, error)
            _stored(reread.harvest.id).update(reading=PAGE_READING)
    return count


@transaction.atomic
def _take_again(harvest: Harvest) -> int:
    lock_articles(pages=[harvest.id])
    page = _stored(harvest.id).select_for_update().defer("html").first()
    if page is None:
        return 0
    document = harvest.brought(PageDocument)
    page.reading = PAGE_READING
    if document is not None and document.text:
        page.title, page.text = document.title or page.title, searchable(document.text)
        page.content, page.image = document.content, document.image
        page.language, page.author = document.language, document.author
        page.canonical_url = web_address(document.canonical_url)
    page.save(
        update_fields=["reading", "title", "text", "content", "image", "language", "author", "canonical_url"]
    )
    if document is None or not document.text:
        return 0
    _give_text({page.pk: page})
    touch(feeds_of([page.pk]))
    return 1


def _stored(key: int) -> QuerySet[Page]:
    return Page.objects.filter(pk=key, status=Page.Status.STORED)


def _permitted(reread: Reread) -> bool:
    try:
        return TimestampSigner(salt=PERMITS).unsign(reread.permit, max_age=PERMIT_AGE) == str(
            reread.harvest.id
        )
    except BadSignature:
        return False


def _fail(page: Page, harvest: Harvest, gap: float) -> None:
    page.failure, page.failure_detail = harvest.failure, harvest.detail[:1000]
    if harvest.failure == Failure.ROBOTS and harvest.status < 500:
        page.status = Page.Status.REFUSED
    elif retry_of(harvest.failure, harvest.status) is Retry.NEVER or page.attempts >= MAX_ATTEMPTS:
        page.status = Page.Status.FAILED
    pause = max(harvest.retry_after or 0.0, gap * 2**page.attempts)
    page.not_before = datetime.fromtimestamp(harvest.at, UTC) + timedelta(seconds=pause)
    page.save(
        update_fields=["lease", "losses", "attempts", "failure", "failure_detail", "status", "not_before"]
    )


def _store(page: Page, harvest: Harvest) -> None:
    document = harvest.brought(PageDocument)
    if document is None:
        raise ValueError(f"page {page.id}: a harvest without failure has no document")
    published = believable(document.published, harvest.at)
    page.status = Page.Status.STORED
    page.failure = page.failure_detail = ""
    page.fetched = datetime.fromtimestamp(harvest.at, UTC)
    page.html, page.content_type, page.reading = document.html, document.content_type, PAGE_READING
    page.title, page.text = document.title, searchable(document.text)
    page.content, page.image = document.content, document.image
    page.language, page.author, page.canonical_url = (
        document.language,
        document.author,
        web_address(document.canonical_url),
    )
    page.published = datetime.fromtimestamp(published, UTC) if published else None
    page.save()


def _give_text(stored: Mapping[int, Page]) -> None:
    """Copy main text, language, author, and any missing title or date to the pages' articles."""
    if not stored:
        return
    articles = list(
        Article.objects.filter(page__in=list(stored)).only(
            "page_id",
            "text",
            "text_length",
            "language",
            "author",
            "published",
            "dating",
            "fetched",
            "title",
            "image",
        )
    )
    for article in articles:
        page = stored[article.page_id or 0]
        article.text = fuller(page.text, article.text)
        article.text_length = len(article.text)
        article.language = page.language or article.language
        article.author = article.author or page.author
        article.title = article.title or page.title
        article.image = article.image or first_picture(page.content) or web_address(page.image)
        if article.dating == Article.Dating.FETCHED and page.published and page.published <= article.fetched:
            article.published, article.dating = page.published, Article.Dating.PAGE
        article.updated = Now()
    Article.objects.bulk_update(
        articles,
        ["text", "text_length", "language", "author", "title", "image", "published", "dating", "updated"],
        batch_size=100,
    )
