"""Marks of subscribers: articles read and starred."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from articles.interest.log import note, take_back
from articles.interest.models import Event
from articles.models import Article, Mark, Subscriber

AT_ONCE = 5000


def marked_read(subscriber: Subscriber) -> Exists:
    """Return the condition, for a query of articles, that the subscriber has read the article."""
    return Exists(Mark.objects.filter(subscriber=subscriber, article=OuterRef("pk"), read__isnull=False))


def marked_starred(subscriber: Subscriber) -> Exists:
    """Return the condition, for a query of articles, that the subscriber has starred the article."""
    return Exists(Mark.objects.filter(subscriber=subscriber, article=OuterRef("pk"), starred__isnull=False))


def mark_read(subscriber: Subscriber, articles: Sequence[int], now: datetime, *, read: bool = True) -> None:
    """Mark these articles (primary keys) as read, or as not read."""
    _mark(subscriber, articles, read=now) if read else _clear(subscriber, articles, "read")


def star(subscriber: Subscriber, articles: Sequence[int], now: datetime, *, starred: bool = True) -> None:
    """Star these articles (primary keys), or remove their stars.

    Adds a save to the log of the subscriber's interests, or takes it back.
    """
    with transaction.atomic():
        if starred:
            _mark(subscriber, articles, starred=now)
            note(subscriber, articles, Event.Kind.SAVED, now)
        else:
            _clear(subscriber, articles, "starred")
            take_back(subscriber, articles, Event.Kind.SAVED, now)


def mark_all_read(subscriber: Subscriber, articles: QuerySet[Article], now: datetime) -> int:
    """Mark all articles of a query as read, AT_ONCE to a transaction. Returns the number newly marked."""
    unread = articles.filter(~marked_read(subscriber)).order_by("pk").values_list("pk", flat=True)
    count, last = 0, 0
    while keys := list(unread.filter(pk__gt=last)[:AT_ONCE]):
        mark_read(subscriber, keys, now)
        count, last = count + len(keys), keys[-1]
    return count


def _mark(subscriber: Subscriber, articles: Sequence[int], **fields: datetime) -> None:
    # In one order everywhere, so that the row locks of two requests cannot cross.
    (column, moment), *_ = fields.items()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {Mark._meta.db_table} (subscriber_id, article_id, {column})
            SELECT %s, id, %s FROM {Article._meta.db_table} WHERE id = ANY(%s::bigint[]) ORDER BY id
            ON CONFLICT (subscriber_id, article_id) DO UPDATE SET {column} = EXCLUDED.{column}
            """,  # noqa: S608 - the tables' and columns' own names
            [subscriber.pk, moment, sorted(set(articles))],
        )


@transaction.atomic(savepoint=False)
def _clear(subscriber: Subscriber, articles: Sequence[int], name: str) -> None:
    # An article without a mark needs no row. Locks in the order of `_mark`.
    marks = Mark.objects.filter(
        subscriber=subscriber, article__in=set(articles), **{f"{name}__isnull": False}
    )
    keys = list(marks.order_by("article_id").select_for_update().values_list("pk", flat=True))
    Mark.objects.filter(pk__in=keys).update(**{name: None})
