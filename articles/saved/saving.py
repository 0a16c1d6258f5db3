"""Saving of pages: each once for a person, as an article of their own that stays.

The page is downloaded as articles' pages are (`articles.work`), with the person's own logins, and without
asking robots.txt, as a browser would: a person asked for this one page. What is known of an address already,
the text of an article of a feed or a page of this day, is taken at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from articles.models import Article, Page, Subscriber
from articles.personal.labels import MAX_LABELS, add_labels, label_named
from articles.personal.versions import touch
from articles.saved.models import MAX_NOTE, SavedImport, SavedPage
from articles.saved.pictures import forget_pictures
from crawler.engine.models import Host
from crawler.fetching.http.urls import BadUrl, canonical_url, host_key, page_key
from crawler.reading.sources.kinds import SAVED
from crawler.text.characters import one_line, searchable, storable
from crawler.text.keys import digest
from crawler.web.limits import LimitReached
from feeds.models import Feed

MAX_SAVED = 100_000
"""Pages that one person may save: ten years of thirty a day."""
MAX_TITLE = 500
MAX_BY_APP = 200
FRESH = timedelta(days=1)
"""A page that was downloaded for a feed within this time is not asked for again."""
_HOST = "saved.invalid"
"""The host of feeds of saved pages, which are never fetched."""
_COPIED = (
    "title", "author", "category", "categories", "language", "summary", "content", "text", "text_length",
    "enclosures", "details", "image",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageToSave:
    """A page to save: its address, and what the person or another program says of it."""

    url: str
    title: str = ""
    tags: Collection[str] = ()
    note: str = ""
    saved: datetime | None = None
    content: str = ""
    """Sanitised HTML, where the other program had kept the page."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved page, and whether it is new."""

    page: SavedPage
    is_new: bool


def saved_feed(user: User) -> Feed:
    """Return the feed that holds what a person saved, made on first use."""
    # with_removed: a feed that was removed would be made a second time, and its address is unique.
    feed, _is_new = Feed.with_removed.get_or_create(
        canonical_url=f"saved:{user.pk}",
        defaults={
            "url": f"saved:{user.pk}",
            "kind": SAVED,
            "owner": user,
            "host_id": Host.objects.named({_HOST})[_HOST],
            "title": "Saved",
            "status": Feed.Status.PAUSED,
        },
    )
    return feed


def save_page(
    subscriber: Subscriber, page: PageToSave, now: datetime, way: str = SavedPage.Way.ADDRESS
) -> Saved:
    """Save the page at an address, or add tags and note to the one that is saved already.

    Raises BadUrl for what is no address of the web, LimitReached, and TooManyLabels.
    """
    (outcome,) = save_pages(subscriber, [page], now, way)
    if isinstance(outcome, BadUrl):
        raise outcome
    return outcome


@transaction.atomic
def save_pages(
    subscriber: Subscriber,
    pages: Sequence[PageToSave],
    now: datetime,
    way: str = SavedPage.Way.ADDRESS,
    source: SavedImport | None = None,
) -> list[Saved | BadUrl]:
    """Save pages, in the order given; an address that is none has its error in its place.

    Raises LimitReached if they would be more than MAX_SAVED, and TooManyLabels.
    """
    feed = saved_feed(subscriber.user)
    # Locked, so that one address which comes twice at the same moment is one page.
    Feed.with_removed.select_for_update(no_key=True).get(pk=feed.pk)
    outcomes: list[str | BadUrl] = [_key_of(page.url) for page in pages]
    keys = {key: digest(key) for key in outcomes if isinstance(key, str)}
    saved_rows = {
        row.article.identity: row for row in _rows(subscriber).filter(article__identity_key__in=keys.values())
    }
    new_pages: dict[str, PageToSave] = {}
    for page, key in zip(pages, outcomes, strict=True):
        # The first of several with one key in a file says what the page is called.
        if isinstance(key, str) and key not in saved_rows:
            new_pages.setdefault(key, page)
    count = subscriber.saved_pages.count() + len(new_pages) if new_pages else 0
    if count > MAX_SAVED:
        raise LimitReached(_("One person can save %(count)d pages at most.") % {"count": MAX_SAVED})
    new_rows = _store(feed, new_pages, now, SavedPage(subscriber=subscriber, way=way, source=source))
    for page, key in zip(pages, outcomes, strict=True):
        if isinstance(key, str):
            _describe(
                subscriber, saved_rows.get(key) or new_rows[key], page, is_new=new_pages.get(key) is page
            )
    if new_rows:
        touch([feed.pk])
    return [
        key if isinstance(key, BadUrl) else Saved(saved_rows.get(key) or new_rows[key], key in new_rows)
        for key in outcomes
    ]


@transaction.atomic
def save_article(subscriber: Subscriber, article: Article, now: datetime, way: str) -> Saved:
    """Save an article of a feed: a copy of it that stays when the feed or its article goes.

    Raises LimitReached, and BadUrl for an article without an address.
    """
    if getattr(article, "saved", None) is not None and article.owner_id == subscriber.user_id:
        return Saved(article.saved, is_new=False)
    outcome = save_page(subscriber, PageToSave(article.url, title=article.title), now, way)
    if outcome.is_new:
        copied = {name: getattr(article, name) for name in _COPIED}
        # A page behind another person's login must not come along.
        if article.page_id and (article.page is None or article.page.owner_id is None):
            copied["page_id"] = article.page_id  # read already, or on its way
        own_page = outcome.page.article.page_id
        Article.objects.filter(pk=outcome.page.article_id).update(**copied)
        # Its own page would be downloaded beside the one that the copy has by now.
        if "page_id" in copied and own_page != article.page_id:
            delete_unused_pages([own_page])
        SavedPage.objects.filter(pk=outcome.page.pk).update(published=article.published)
        outcome.page.refresh_from_db()
    return outcome


def save_by_app(subscriber: Subscriber, articles: Collection[int], now: datetime, *, saved: bool) -> None:
    """Save the articles that an app saves, or remove those copies again that nothing was written on.

    The APIs of Google Reader and Fever have one mark for what people star and what they save. The first
    MAX_BY_APP of a request are saved; those without an address are starred alone.
    """
    rows = Article.objects.filter(pk__in=list(articles)[:MAX_BY_APP]).exclude(url="")
    if not saved:
        keys = [key for url in rows.values_list("url", flat=True) if isinstance(key := _key_of(url), str)]
        copies = subscriber.saved_pages.filter(
            # Only what an app saved, and nothing was written on: un-starring must not delete a person's
            # notes.
            way=SavedPage.Way.APP, note="", article__highlights=None,
            article__identity_key__in=[digest(key) for key in keys],
        )  # fmt: skip
        remove_saved(subscriber, list(copies.values_list("article_id", flat=True)))
        return
    for article in rows.select_related("page", "saved").defer("search", "page__html"):
        with suppress(BadUrl, LimitReached):
            save_article(subscriber, article, now, SavedPage.Way.APP)


@transaction.atomic
def remove_saved(subscriber: Subscriber, articles: Collection[int]) -> int:
    """Remove saved pages by the keys of their articles. Returns their number."""
    rows = subscriber.saved_pages.filter(article__in=list(articles))
    keys = list(rows.values_list("article_id", flat=True))
    if not keys:
        return 0
    removed = list(Article.objects.filter(pk__in=keys).select_related("page").defer("search", "page__html"))
    pages = [article.page_id for article in removed]
    forget_pictures(removed)
    Article.objects.filter(pk__in=keys).delete()
    delete_unused_pages(pages)
    touch([saved_feed(subscriber.user).pk])
    return len(keys)


def delete_unused_pages(pages: Iterable[int | None]) -> None:
    """Delete pages, asked for by a person, that no article has any more."""
    # Pages of feeds are never deleted here.
    Page.objects.filter(pk__in=[key for key in pages if key], requested=True, articles=None).delete()


def try_again(subscriber: Subscriber, articles: Collection[int]) -> int:
    """Ask for the pages again that could not be read. Returns their number."""
    failed = Page.objects.filter(
        requested=True, articles__saved__subscriber=subscriber, articles__in=list(articles)
    ).exclude(failure="")
    keys = list(failed.values_list("pk", flat=True))
    return Page.objects.filter(pk__in=keys).update(
        status=Page.Status.WAITING, attempts=0, not_before=datetime.now(UTC), failure="", failure_detail=""
    )


def _rows(subscriber: Subscriber):  # type: ignore[no-untyped-def]
    return subscriber.saved_pages.select_related("article").defer("article__search", "article__text")


def _key_of(url: str) -> str | BadUrl:
    """Return what identifies a page, or the error of an address that is none of the web."""
    try:
        key = page_key(url)
        if not key.startswith(("http://", "https://")):
            raise BadUrl(url, _("only addresses of the web can be saved"))
    except BadUrl as error:
        return error
    return key


def _store(
    feed: Feed, new_pages: dict[str, PageToSave], now: datetime, common: SavedPage
) -> dict[str, SavedPage]:
    """Store new pages by their keys; `common` has what is the same of all of them."""
    if not new_pages:
        return {}
    owner = common.subscriber.user_id
    pages = _pages(owner, new_pages, now, imported=common.source is not None)
    rows = []
    for key, page in new_pages.items():
        stored = pages[key]
        text = searchable(page.text)
        article = Article(
            feed=feed,
            owner_id=owner,
            identity=key,
            identity_key=digest(key),
            url=canonical_url(page.url),
            page=stored,
            title=one_line(storable(page.title, MAX_TITLE), MAX_TITLE) or stored.title,
            published=page.saved or now,
            dating=Article.Dating.SAVED,
            fetched=now,
            content=storable(page.content, len(page.content)),
            text=text,
        )
        if stored.status == Page.Status.STORED:
            article.text = stored.text or text
            article.language, article.author, article.image = stored.language, stored.author, stored.image
        article.text_length = len(article.text)
        rows.append(article)
    articles = Article.objects.bulk_create(rows, batch_size=500)
    saved = SavedPage.objects.bulk_create(
        [
            SavedPage(
                subscriber=common.subscriber, article=article, saved=new_pages[article.identity].saved or now,
                way=common.way, source=common.source,
            )
            for article in articles
        ],
        batch_size=500,
    )  # fmt: skip
    return {row.article.identity: row for row in saved}


def _pages(owner: int, new_pages: dict[str, PageToSave], now: datetime, *, imported: bool) -> dict[str, Page]:
    """Return the pages of these keys: those read lately for feeds, else pages of this person's own."""
    # shiori 1181 and wallabag 2929: one address of two people is two pages, of one person one.
    own_keys = {key: digest(f"{key}#{owner}") for key in new_pages}
    shared = {key: digest(key) for key in new_pages}
    rows = Page.objects.filter(url_key__in=[*own_keys.values(), *shared.values()]).defer("html", "content")
    by_key = {row.url_key: row for row in rows}
    chosen: dict[str, Page] = {}
    for key in new_pages:
        common = by_key.get(shared[key])
        # A page that was just read for a feed is not downloaded again.
        is_fresh = common is not None and common.fetched is not None and now - common.fetched < FRESH
        if common is not None and is_fresh and common.text:
            chosen[key] = common
        elif own_keys[key] in by_key:
            chosen[key] = by_key[own_keys[key]]
    missing = [key for key in new_pages if key not in chosen]
    hosts = Host.objects.named({host_key(key) for key in missing})
    created_pages = Page.objects.bulk_create(
        [
            Page(
                url=canonical_url(new_pages[key].url), url_key=own_keys[key], owner_id=owner, requested=True,
                imported=imported,
                host_id=hosts[host_key(key)],
            )
            for key in missing
        ],
        batch_size=500,
    )  # fmt: skip
    return chosen | dict(zip(missing, created_pages, strict=True))


def _describe(subscriber: Subscriber, row: SavedPage, page: PageToSave, *, is_new: bool) -> None:
    """Add the tags and the note that come with a page to those it has."""
    tags = {label_named(tag) for tag in page.tags} - {""}
    if tags:
        add_labels(subscriber, [row.article_id], sorted(tags)[:MAX_LABELS])
    note = storable(page.note, MAX_NOTE).strip()
    # Saving twice adds nothing twice.
    if note and note not in row.note:
        row.note = f"{row.note}\n{note}".strip()[:MAX_NOTE]
        row.save(update_fields=["note"])
