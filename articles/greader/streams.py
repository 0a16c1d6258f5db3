"""Streams of articles: selection, pages, and unread counts.

Every stream is a part of the articles that the subscriber follows. Pages are in order of publication and
continue after the last article's (published, id), so that articles which arrive meanwhile shift nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Count, F, Func, IntegerField, Max, OuterRef, Q, QuerySet, Subquery

from articles.greader.names import BadInput, Stream
from articles.models import Article, ArticleQuerySet, Subscriber, Subscription
from articles.personal.labels import labelled
from articles.personal.marking import READ, marked_read, marked_starred, unread_by
from articles.personal.selection import followed_articles
from crawler.fetching.http.urls import BadUrl
from crawler.web.pagination import beyond
from feeds.adding.add import checked_address, known_feeds

MAX_COUNTED = 1000
"""Unread articles of a feed are counted up to here, as the original did; readers show "1000+"."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CURSOR = re.compile(r"(-?[0-9]{1,18})-([0-9]{1,18})")
_ALL, _NONE = Q(pk__isnull=False), Q(pk__in=[])


@dataclass(frozen=True, slots=True)
class StreamSelection:
    """Articles in any of `streams`, all of `include`, none of `exclude`, retrieved from `since` to `until`.

    `since` and `until` are times of retrieval, as in the original, so that a client does not miss articles
    that came late.
    """

    streams: Sequence[Stream]
    include: Sequence[Stream] = ()
    exclude: Sequence[Stream] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A page: its size, the cursor it follows (empty: from the start), and its direction."""

    size: int
    cursor: str = ""
    oldest_first: bool = False


@dataclass(frozen=True, slots=True)
class Unread:
    """A followed feed with its number of unread articles (up to MAX_COUNTED) and the time of the newest."""

    feed: int
    folder: str
    count: int
    newest: datetime | None = field(default=None)


class _Count(Subquery):
    """The number of rows of a query, which may have a LIMIT."""

    template = "(SELECT count(*) FROM (%(subquery)s) _rows)"
    output_field = IntegerField()


def microseconds(at: datetime) -> int:
    """Return the microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def from_microseconds(number: int) -> datetime:
    """Return the time `number` microseconds after 1970. Raises BadInput."""
    try:
        return _EPOCH + timedelta(microseconds=number)
    except OverflowError as error:
        raise BadInput(f"{number} is too far from now for a time") from error


def select(subscriber: Subscriber, selection: StreamSelection) -> ArticleQuerySet:
    """Return the articles of a selection, newest first."""
    articles = followed_articles(subscriber)
    articles = articles.filter(reduce(or_, (_condition(subscriber, stream) for stream in selection.streams)))
    for stream in selection.include:
        articles = articles.filter(_condition(subscriber, stream))
    for stream in selection.exclude:
        articles = articles.filter(~_condition(subscriber, stream))
    if selection.since is not None:
        articles = articles.filter(fetched__gte=selection.since)
    if selection.until is not None:
        articles = articles.filter(fetched__lte=selection.until)
    return articles


def page(articles: ArticleQuerySet, window: Window) -> tuple[list[Article], str]:
    """Return the articles of a page, and the cursor of the next one (empty at the end). Raises BadInput."""
    order = ("published", "id") if window.oldest_first else ("-published", "-id")
    articles = articles.order_by(*order)
    if window.cursor:
        articles = articles.filter(_beyond(window.cursor, oldest_first=window.oldest_first))
    rows = list(articles[: window.size + 1])
    if len(rows) <= window.size:
        return rows, ""
    last = rows[window.size - 1]
    return rows[: window.size], f"{microseconds(last.published)}-{last.pk}"


def feed_key(subscriber: Subscriber, name: str) -> int | None:
    """Return the primary key in the name after `feed/`: a number, or the address of a followed feed.

    Returns None when there is none. Raises BadInput for an unusable address.
    """
    if name.isascii() and name.isdecimal():
        return int(name) if len(name) <= 18 else None
    try:
        feeds = known_feeds(checked_address(name).variants)
    except BadUrl as error:
        raise BadInput(str(error)) from error
    keys = {feed.pk for feed in feeds.values()}
    followed_feeds = subscriber.subscriptions.filter(feed__in=keys).values_list("feed_id", flat=True)
    key: int | None = followed_feeds.first()
    return key


def unread_counts(subscriber: Subscriber) -> list[Unread]:
    """Count the unread articles of every followed feed up to MAX_COUNTED, in one query."""
    unread = Article.objects.filter(unread_by(subscriber), feed=OuterRef("feed_id"))
    rows = Subscription.objects.filter(subscriber=subscriber).order_by("id")
    counted = rows.annotate(unread=_Count(unread.newest_first().values("pk")[:MAX_COUNTED]))
    return [Unread(*row) for row in counted.values_list("feed_id", "folder", "unread", "feed__last_new")]


def unread_by_label(subscriber: Subscriber) -> dict[str, tuple[int, datetime | None]]:
    """Count the unread articles of every label, with the time of retrieval of the newest one."""
    marks = subscriber.marks.exclude(labels=[]).annotate(label=Func(F("labels"), function="unnest"))
    unread = ~READ
    rows = marks.order_by().values_list("label")
    counted = rows.annotate(count=Count("pk", filter=unread), newest=Max("article__fetched", filter=unread))
    return {label: (min(count, MAX_COUNTED), newest) for label, count, newest in counted}


def followed_keys(subscriber: Subscriber, keys: Iterable[int]) -> QuerySet[Article, int]:
    """Filter the primary keys to articles of feeds that the subscriber follows."""
    return followed_articles(subscriber).filter(pk__in=set(keys)).order_by().values_list("pk", flat=True)


def _condition(subscriber: Subscriber, stream: Stream) -> Q:
    if stream.kind == "label":
        filed = subscriber.subscriptions.filter(folder=stream.name)
        return Q(feed__in=filed.values("feed_id")) | Q(labelled(subscriber, stream.name))
    if stream.kind == "feed":
        key = feed_key(subscriber, stream.name)
        return _NONE if key is None else Q(feed=key)
    states = {
        "reading-list": _ALL,
        "read": Q(marked_read(subscriber)),
        "unread": unread_by(subscriber),
        "starred": Q(marked_starred(subscriber)),
    }
    return states.get(stream.name, _NONE)


def _beyond(cursor: str, *, oldest_first: bool) -> Q:
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise BadInput(f"{cursor[:60]!r} is not a continuation that was given out here")
    published, key = from_microseconds(int(match[1])), int(match[2])
    return beyond("published", published, key, falling=not oldest_first)
