"""Article pages that came back from terminals: stored, read again, or tried once more later."""

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
from crawler.database.transactions import passing, retried
from crawler.http.failures import Failure
from crawler.messages import Harvest
from crawler.reading.documents import PageDocument

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 8
PERMITS = "articles.pages.reread"
PERMIT_AGE = timedelta(hours=1)
# Failures that another attempt will not mend.
FINAL = {
    Failure.GONE, Failure.BAD_URL, Failure.BAD_SCHEME, Failure.BLOCKED_ADDRESS, Failure.BLOCKED_PORT,
    Failure.UNSUPPORTED_TYPE, Failure.TOO_LARGE, Failure.TOO_DEEP, Failure.REDIRECT, Failure.UNSTORABLE,
}  # fmt: skip
FINAL_STATUS = {400, 401, 402, 404, 405, 406, 451}


def check_in_pages(harvests: Iterable[Harvest], leases: Sequence[uuid.UUID], gap: float) -> list[int]:
    """Store downloaded pages and give their text to their articles; inside the caller's transaction.

    Only pages still under one of the leases count, so a harvest that comes twice changes nothing; the
    primary keys of those stored. A page that failed waits `gap` seconds twofold, fourfold ... before the
    next attempt.
    """
    brought = {harvest.id: harvest for harvest in harvests}
    rows = Page.objects.under(leases).select_for_update().filter(id__in=brought).defer("html", "text")
    stored: dict[int, Page] = {}
    for page in rows.order_by("id"):
        harvest = brought[page.id]
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
    """Feeds with articles that have one of these pages."""
    return list(Article.objects.filter(page__in=pages).values_list("feed_id", flat=True).distinct())


def outdated(most: int) -> list[StoredPage]:
    """Stored pages that another version of the terminals' reading has read, the newest first.

    Each with a permit of an hour, by which the controller knows its own wish when it comes back.
    """
    rows = Page.objects.filter(status=Page.Status.STORED).exclude(reading=PAGE_READING).exclude(html=b"")
    found = rows.order_by("-id").values_list("pk", "url", "html", "content_type")[:most]
    permits = TimestampSigner(salt=PERMITS)
    return [StoredPage(pk, url, bytes(html), kind, permits.sign(str(pk))) for pk, url, html, kind in found]


def take_again(again: Iterable[Reread]) -> int:
    """Take what stored pages say by today's reading; how many. One that cannot be read keeps what it had.

    What comes without a permit, or later than it allows, is left alone.
    """
    taken = 0
    for one in sorted((one for one in again if _permitted(one)), key=lambda one: one.harvest.id):
        try:
            taken += retried(_take_again, one.harvest)
        except Exception as error:  # what cannot be stored must not be read again at every tick
            if passing(error):
                raise
            log.warning("page %d keeps what it had: %s: %s", one.harvest.id, type(error).__name__, error)
            _stored(one.harvest.id).update(reading=PAGE_READING)
    return taken


@transaction.atomic
def _take_again(harvest: Harvest) -> int:
    lock_articles(pages=[harvest.id])
    page = _stored(harvest.id).select_for_update().defer("html").first()
    if page is None:
        return 0
    document = harvest.brought(PageDocument)
    page.reading = PAGE_READING
    if document is not None and document.text:
        page.title, page.text = document.title or page.title, document.text
        page.language, page.author = document.language, document.author
        page.canonical_url = web_address(document.canonical_url)
    page.save(update_fields=["reading", "title", "text", "language", "author", "canonical_url"])
    if document is None or not document.text:
        return 0
    _give_text({page.pk: page})
    touch(feeds_of([page.pk]))
    return 1


def _stored(key: int) -> QuerySet[Page]:
    return Page.objects.filter(pk=key, status=Page.Status.STORED)


def _permitted(one: Reread) -> bool:
    try:
        return TimestampSigner(salt=PERMITS).unsign(one.permit, max_age=PERMIT_AGE) == str(one.harvest.id)
    except BadSignature:
        return False


def _fail(page: Page, harvest: Harvest, gap: float) -> None:
    kind = Failure.of(harvest.failure)
    page.failure, page.failure_detail = harvest.failure, harvest.detail[:1000]
    if kind is Failure.ROBOTS and harvest.status < 500:
        page.status = Page.Status.REFUSED
    elif kind in FINAL or harvest.status in FINAL_STATUS or page.attempts >= MOST_ATTEMPTS:
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
    page.title, page.text = document.title, document.text
    page.language, page.author, page.canonical_url = (
        document.language,
        document.author,
        web_address(document.canonical_url),
    )
    page.published = datetime.fromtimestamp(published, UTC) if published else None
    page.save()


def _give_text(stored: Mapping[int, Page]) -> None:
    """Hand main text, language, author and, where the feed gave none, the date to the pages' articles."""
    if not stored:
        return
    articles = list(
        Article.objects.filter(page__in=list(stored)).only(
            "page_id", "text", "text_length", "language", "author", "published", "dating", "fetched", "title"
        )
    )
    for article in articles:
        page = stored[article.page_id or 0]
        article.text = fuller(page.text, article.text)
        article.text_length = len(article.text)
        article.language = page.language or article.language
        article.author = article.author or page.author
        article.title = article.title or page.title
        if article.dating == Article.Dating.FETCHED and page.published and page.published <= article.fetched:
            article.published, article.dating = page.published, Article.Dating.PAGE
        article.updated = Now()
    Article.objects.bulk_update(
        articles,
        ["text", "text_length", "language", "author", "title", "published", "dating", "updated"],
        batch_size=100,
    )
