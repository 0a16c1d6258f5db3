"""Which articles a stream holds, a page of it, and how many are unread.

Every stream is a part of what the subscriber follows. Pages are in order of publication and go on after the
last article's (published, id), so that articles which arrive meanwhile shift nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import IntegerField, OuterRef, Q, QuerySet, Subquery

from articles.greader.names import BadInput, Stream
from articles.models import Article, ArticleQuerySet, Subscriber, Subscription
from articles.personal.marking import marked_read, marked_starred
from articles.personal.selection import followed
from crawler.http.urls import BadUrl
from crawler.web.pagination import beyond
from feeds.adding import checked_address, known_feeds

MOST_COUNTED = 1000
"""Unread articles of a feed are counted up to here, as the original did; readers show "1000+"."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CURSOR = re.compile(r"(-?[0-9]{1,18})-([0-9]{1,18})")
_ALL, _NONE = Q(pk__isnull=False), Q(pk__in=[])


@dataclass(frozen=True, slots=True)
class StreamSelection:
    """Articles in any of `streams`, all of `include`, none of `exclude`, retrieved from `since` to `until`.

    Times are those of retrieval, as in the original: what came late is not missed by who asks for news.
    """

    streams: Sequence[Stream]
    include: Sequence[Stream] = ()
    exclude: Sequence[Stream] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A page: how many articles, after which cursor (empty: from the start), in which direction."""

    size: int
    cursor: str = ""
    oldest_first: bool = False


@dataclass(frozen=True, slots=True)
class Unread:
    """A followed feed with its number of unread articles (up to MOST_COUNTED) and when the newest came."""

    feed: int
    folder: str
    count: int
    newest: datetime | None = field(default=None)


class _Count(Subquery):
    """The number of rows of a query, which may have a LIMIT."""

    template = "(SELECT count(*) FROM (%(subquery)s) _rows)"
    output_field = IntegerField()


def microseconds(at: datetime) -> int:
    """Since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def from_microseconds(number: int) -> datetime:
    """The time that many microseconds after 1970. Raises BadInput."""
    try:
        return _EPOCH + timedelta(microseconds=number)
    except OverflowError as error:
        raise BadInput(f"{number} is too far from now for a time") from error


def select(subscriber: Subscriber, wanted: StreamSelection) -> ArticleQuerySet:
    """The articles of a selection, newest first."""
    articles = followed(subscriber)
    articles = articles.filter(reduce(or_, (_condition(subscriber, each) for each in wanted.streams)))
    for each in wanted.include:
        articles = articles.filter(_condition(subscriber, each))
    for each in wanted.exclude:
        articles = articles.filter(~_condition(subscriber, each))
    if wanted.since is not None:
        articles = articles.filter(fetched__gte=wanted.since)
    if wanted.until is not None:
        articles = articles.filter(fetched__lte=wanted.until)
    return articles


def page(articles: ArticleQuerySet, window: Window) -> tuple[list[Article], str]:
    """The articles of a page, and the cursor of the next one (empty at the end). Raises BadInput."""
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
    """The feed of `feed/...`: its number here, or the address of one that the subscriber follows."""
    if name.isascii() and name.isdecimal():
        return int(name) if len(name) <= 18 else None
    try:
        known = known_feeds(checked_address(name).variants)
    except BadUrl as error:
        raise BadInput(str(error)) from error
    keys = {feed.pk for feed in known.values()}
    own = subscriber.subscriptions.filter(feed__in=keys).values_list("feed_id", flat=True)
    key: int | None = own.first()
    return key


def unread_counts(subscriber: Subscriber) -> list[Unread]:
    """Every followed feed, in one query that counts no further than MOST_COUNTED."""
    unread = Article.objects.filter(~marked_read(subscriber), feed=OuterRef("feed_id"))
    rows = Subscription.objects.filter(subscriber=subscriber).order_by("id")
    counted = rows.annotate(unread=_Count(unread.newest_first().values("pk")[:MOST_COUNTED]))
    return [Unread(*row) for row in counted.values_list("feed_id", "folder", "unread", "feed__last_new")]


def own_items(subscriber: Subscriber, keys: Iterable[int]) -> QuerySet[Article, int]:
    """Those of the given primary keys that are articles of what the subscriber follows."""
    return followed(subscriber).filter(pk__in=set(keys)).order_by().values_list("pk", flat=True)


def _condition(subscriber: Subscriber, stream: Stream) -> Q:
    if stream.kind == "label":
        filed = subscriber.subscriptions.filter(folder=stream.name)
        return Q(feed__in=filed.values("feed_id"))
    if stream.kind == "feed":
        key = feed_key(subscriber, stream.name)
        return _NONE if key is None else Q(feed=key)
    states = {
        "reading-list": _ALL,
        "read": Q(marked_read(subscriber)),
        "unread": ~Q(marked_read(subscriber)),
        "starred": Q(marked_starred(subscriber)),
    }
    return states.get(stream.name, _NONE)


def _beyond(cursor: str, *, oldest_first: bool) -> Q:
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise BadInput(f"{cursor[:60]!r} is not a continuation that was given out here")
    published, key = from_microseconds(int(match[1])), int(match[2])
    return beyond("published", published, key, falling=not oldest_first)
