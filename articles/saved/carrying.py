"""Saved pages, highlights and collections in archives of subscribers (`articles.personal.archive`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Protocol, TypeVar

import msgspec
from django.db import transaction
from django.db.models import F, FilteredRelation, Q

from articles.models import Article, Mark, Subscriber
from articles.personal.labels import add_labels_to_each
from articles.saved.collecting import MAX_COLLECTIONS, MAX_ITEMS, CollectionError, make_collection
from articles.saved.highlighting import MAX_HIGHLIGHTS, cleaned_tags
from articles.saved.models import (
    AROUND,
    MAX_NOTE,
    MAX_QUOTE,
    Collection,
    CollectionItem,
    Highlight,
    SavedPage,
)
from articles.saved.saving import MAX_SAVED, PageToSave, save_pages
from crawler.fetching.http.urls import BadUrl
from crawler.reading.sources.kinds import SAVED
from crawler.text.characters import storable
from crawler.text.keys import digest

AT_ONCE = 200
"""Pages or highlights of one transaction."""
EARLIEST = datetime(1991, 1, 1, tzinfo=UTC)
MAX_PLACE = 2**31 - 1
MAX_TAGS = 50

Row = TypeVar("Row")


class PlacedRow(Protocol):
    """A row that names its article: by feed and identity, or by its address."""

    @property
    def url(self) -> str: ...
    @property
    def feed_url(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def title(self) -> str: ...


class SavedRow(msgspec.Struct, frozen=True):
    """A saved page in `saved.json`. `published` is when it appeared, where a feed said so."""

    url: str
    title: str = ""
    tags: list[str] = []
    note: str = ""
    saved: datetime | None = None
    read: datetime | None = None
    starred: datetime | None = None
    published: datetime | None = None


class HighlightRow(msgspec.Struct, frozen=True):
    """A highlight in `highlights.json`: in an article of a feed, or without `feed_url` in a saved page."""

    url: str
    quote: str
    feed_url: str = ""
    identity: str = ""
    title: str = ""
    before: str = ""
    after: str = ""
    start: int = 0
    end: int = 0
    color: str = ""
    note: str = ""
    tags: list[str] = []
    created: datetime | None = None


class GatheredRow(msgspec.Struct, frozen=True):
    """An article of a collection: in a feed, or without `feed_url` a saved page; and the note on it."""

    url: str
    feed_url: str = ""
    identity: str = ""
    title: str = ""
    note: str = ""
    added: datetime | None = None


class CollectionRow(msgspec.Struct, frozen=True):
    """A collection in `collections.json`. With whom it was shared stays behind."""

    name: str
    about: str = ""
    articles: list[GatheredRow] = []


def carried_collections(subscriber: Subscriber) -> Iterator[CollectionRow]:
    """Yield the collections that a subscriber owns, with their articles."""
    columns = (
        "article__feed__kind", "article__url", "article__feed__url", "article__identity", "article__title",
        "note", "added",
    )  # fmt: skip
    for row in subscriber.collections.order_by("name", "id"):
        articles = []
        for kind, *values in row.items.order_by("added", "id").values_list(*columns)[:MAX_ITEMS]:
            gathered = GatheredRow(*values)
            is_saved = kind == SAVED
            articles.append(
                msgspec.structs.replace(gathered, feed_url="", identity="") if is_saved else gathered
            )
        yield CollectionRow(row.name, row.about, articles)


def take_collections(
    subscriber: Subscriber, rows: Sequence[CollectionRow], feeds: Mapping[str, int], now: datetime
) -> int:
    """Make the collections of an archive, or add to those of the same name. Returns how many articles came.

    Articles of feeds that are not here are saved by their addresses. Raises LimitReached.
    """
    count = 0
    for row in rows[:MAX_COLLECTIONS]:
        try:
            collection = make_collection(subscriber, row.name, row.about)
        except CollectionError:
            continue  # it has no name
        for part in _parts(row.articles[:MAX_ITEMS]):
            count += _gather(subscriber, collection, part, feeds, now)
    return count


@transaction.atomic
def _gather(
    subscriber: Subscriber,
    collection: Collection,
    rows: Sequence[GatheredRow],
    feeds: Mapping[str, int],
    now: datetime,
) -> int:
    keys = _articles_of(subscriber, rows, feeds, now)
    before = collection.items.count()
    CollectionItem.objects.bulk_create(
        [
            CollectionItem(
                collection=collection, article_id=keys[number], added_by=subscriber,
                note=storable(row.note, MAX_NOTE).strip(), added=_possible(row.added, now) or now,
            )
            for number, row in enumerate(rows)
            if number in keys and before + number < MAX_ITEMS
        ],
        ignore_conflicts=True,
    )  # fmt: skip
    return collection.items.count() - before


def carried_pages(subscriber: Subscriber) -> Iterator[SavedRow]:
    """Yield a subscriber's saved pages, the oldest first."""
    marked = SavedPage.objects.filter(subscriber=subscriber).annotate(
        mark=FilteredRelation("article__marks", condition=Q(article__marks__subscriber=subscriber)),
        labels=F("mark__labels"),
        was_read=F("mark__read"),
        was_starred=F("mark__starred"),
    )
    columns = (
        "article__url", "article__title", "labels", "note", "saved", "was_read", "was_starred", "published",
    )  # fmt: skip
    rows = marked.order_by("saved", "id").values_list(*columns)
    for url, title, labels, *values in rows.iterator(chunk_size=2000):
        yield SavedRow(url, title, labels or [], *values)


def carried_highlights(subscriber: Subscriber) -> Iterator[HighlightRow]:
    """Yield a subscriber's highlights, the oldest first."""
    columns = (
        "article__feed__kind", "article__url", "quote", "article__feed__url", "article__identity",
        "article__title", "before", "after", "start", "end", "color", "note", "tags", "created",
    )  # fmt: skip
    rows = Highlight.objects.filter(subscriber=subscriber).order_by("created", "id")
    for kind, *values in rows.values_list(*columns).iterator(chunk_size=2000):
        row = HighlightRow(*values)
        yield msgspec.structs.replace(row, feed_url="", identity="") if kind == SAVED else row


def take_saved_pages(subscriber: Subscriber, rows: Sequence[SavedRow], now: datetime) -> int:
    """Save the pages of an archive. Returns how many are new; raises LimitReached."""
    return sum(_save(subscriber, part, now) for part in _parts(rows[:MAX_SAVED]))


def take_highlights(
    subscriber: Subscriber, rows: Sequence[HighlightRow], feeds: Mapping[str, int], now: datetime
) -> int:
    """Store the highlights of an archive; `feeds` are the keys of feeds by address.

    One whose article is not here goes to the saved page of its address, which is saved if it is not.
    Returns how many are new; raises LimitReached.
    """
    return sum(_mark(subscriber, part, feeds, now) for part in _parts(rows[:MAX_HIGHLIGHTS]))


@transaction.atomic
def _save(subscriber: Subscriber, rows: Sequence[SavedRow], now: datetime) -> int:
    pages = [
        PageToSave(row.url, title=row.title, note=row.note, saved=_possible(row.saved, now)) for row in rows
    ]
    outcomes = save_pages(subscriber, pages, now, SavedPage.Way.FILE)
    saved_by_article = {
        outcome.page.article_id: (outcome, row)
        for outcome, row in zip(outcomes, rows, strict=True)
        if not isinstance(outcome, BadUrl)
    }
    for outcome, row in saved_by_article.values():
        if outcome.is_new and row.published is not None:
            published = _possible(row.published, now)
            SavedPage.objects.filter(pk=outcome.page.pk).update(published=published)
    for column in ("read", "starred"):
        marks = [
            Mark(subscriber=subscriber, article_id=key, **{column: moment})
            for key, (_outcome, row) in sorted(saved_by_article.items())
            if (moment := _possible(getattr(row, column), now))
        ]
        _store_marks(subscriber, marks, column)
    add_labels_to_each(
        subscriber, {key: row.tags for key, (_outcome, row) in saved_by_article.items() if row.tags}
    )
    return sum(outcome.is_new for outcome, _row in saved_by_article.values())


def _store_marks(subscriber: Subscriber, marks: Sequence[Mark], column: str) -> None:
    """Store marks with their times; what is marked already keeps its time."""
    marked_articles = set(
        subscriber.marks.filter(article__in=[mark.article_id for mark in marks])
        .exclude(**{column: None})
        .values_list("article_id", flat=True)
    )
    Mark.objects.bulk_create(
        [mark for mark in marks if mark.article_id not in marked_articles],
        update_conflicts=True,
        unique_fields=["subscriber", "article"],
        update_fields=[column],
        batch_size=500,
    )


@transaction.atomic
def _mark(
    subscriber: Subscriber, rows: Sequence[HighlightRow], feeds: Mapping[str, int], now: datetime
) -> int:
    keys = _articles_of(subscriber, rows, feeds, now)
    here = set(
        subscriber.highlights.filter(article__in=set(keys.values())).values_list("article_id", "quote")
    )
    highlights = []
    for number, row in enumerate(rows):
        quote = storable(row.quote, MAX_QUOTE).strip()
        if number not in keys or not quote or (keys[number], quote) in here:
            continue
        here.add((keys[number], quote))
        highlights.append(_highlight(subscriber, keys[number], row, quote, now))
    highlights = highlights[: max(MAX_HIGHLIGHTS - subscriber.highlights.count(), 0)]
    Highlight.objects.bulk_create(highlights, batch_size=500)
    return len(highlights)


def _articles_of(
    subscriber: Subscriber,
    rows: Sequence[PlacedRow],
    feeds: Mapping[str, int],
    now: datetime,
) -> dict[int, int]:
    """Return the keys of the rows' articles by the rows' numbers; what is not here is saved."""
    article_keys = {(feeds[row.feed_url], digest(row.identity)) for row in rows if row.feed_url in feeds}
    articles = Article.objects.filter(
        feed_id__in={feed for feed, _key in article_keys},
        identity_key__in={key for _feed, key in article_keys},
    )
    keys: dict[int, int] = {}
    by_identity = {(feed, key): pk for pk, feed, key in articles.values_list("pk", "feed_id", "identity_key")}
    others: list[tuple[int, PageToSave]] = []
    for number, row in enumerate(rows):
        pk = by_identity.get((feeds.get(row.feed_url, 0), digest(row.identity)))
        if pk is not None:
            keys[number] = pk
        elif row.url:
            others.append((number, PageToSave(row.url, title=row.title)))
    outcomes = save_pages(subscriber, [page for _number, page in others], now, SavedPage.Way.FILE)
    for (number, _page), outcome in zip(others, outcomes, strict=True):
        if not isinstance(outcome, BadUrl):
            keys[number] = outcome.page.article_id
    return keys


def _highlight(
    subscriber: Subscriber, article: int, row: HighlightRow, quote: str, now: datetime
) -> Highlight:
    is_placed = 0 <= row.start <= row.end <= MAX_PLACE
    return Highlight(
        subscriber=subscriber,
        article_id=article,
        quote=quote,
        before=storable(row.before, AROUND),
        after=storable(row.after, AROUND),
        start=row.start if is_placed else 0,
        end=row.end if is_placed else 0,
        color=row.color if row.color in Highlight.Color.values else Highlight.Color.IMPORTANT,
        note=storable(row.note, MAX_NOTE).strip(),
        tags=cleaned_tags(row.tags[:MAX_TAGS]),
        created=_possible(row.created, now) or now,
    )


def _parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while part := list(islice(remaining, AT_ONCE)):
        yield part


def _possible(moment: datetime | None, now: datetime) -> datetime | None:
    """Return a moment if the web can have seen it, else now; None for None."""
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware if EARLIEST <= aware <= now else now
