"""Marks of subscribers: articles read and starred.

Lists show an article that several followed feeds have once, with "+1 feed". So these copies are read and
unread together, in whichever list and by whichever program one of them is marked. A star stays with its
article: the list of stars shows each star.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from articles.enrichment.models import Enrichment
from articles.interest.log import hidden_articles, note, take_back
from articles.interest.models import Event
from articles.models import Article, Mark, Subscriber, Subscription

AT_ONCE = 5000
READ = Q(read__isnull=False)
"""The condition, for a query of marks, that the article is read."""

_GIVEN = f"SELECT id FROM {Article._meta.db_table} WHERE id = ANY(%(articles)s::bigint[])"  # noqa: S608
_WITH_STORIES = f"""
{_GIVEN} UNION
SELECT copy.article_id FROM {Enrichment._meta.db_table} AS own
JOIN {Enrichment._meta.db_table} AS copy ON copy.story_id = own.story_id
WHERE own.article_id = ANY(%(articles)s::bigint[])
"""  # noqa: S608 - the tables' own names
"""Articles, and their copies in any feed."""
_WITH_COPIES = f"""{_WITH_STORIES} AND EXISTS (
    SELECT FROM {Article._meta.db_table} AS article
    JOIN {Subscription._meta.db_table} AS followed ON followed.feed_id = article.feed_id
    WHERE article.id = copy.article_id AND followed.subscriber_id = %(subscriber)s
)"""
"""Articles, and their copies in feeds that a subscriber follows."""


def marked_read(subscriber: Subscriber) -> Exists:
    """Return the condition, for a query of articles, that the subscriber has read the article."""
    return Exists(Mark.objects.filter(READ, subscriber=subscriber, article=OuterRef("pk")))


def unread_by(subscriber: Subscriber) -> Q:
    """Return the condition, for a query of articles, that the subscriber has not read the article."""
    return Q(~marked_read(subscriber))


def unread_in_lists(subscriber: Subscriber) -> Q:
    """Return the condition that the reader counts an article as unread: not read, and not hidden.

    The hidden ones are few, and read once: asked of each article, which is what an Exists came to, they made
    half of the time of a count.
    """
    return Q(unread_by(subscriber), ~Q(pk__in=hidden_articles(subscriber)))


def marked_starred(subscriber: Subscriber) -> Exists:
    """Return the condition, for a query of articles, that the subscriber has starred the article."""
    return Exists(Mark.objects.filter(subscriber=subscriber, article=OuterRef("pk"), starred__isnull=False))


def mark_read(subscriber: Subscriber, articles: Sequence[int], now: datetime, *, read: bool = True) -> None:
    """Mark these articles (primary keys) and their copies in followed feeds as read, or as not read.

    What was read before keeps its time, so that an undo does not touch it.
    """
    if read:
        _mark(subscriber, articles, "read", now, _WITH_COPIES)
    else:
        _clear(subscriber, articles, "read", _WITH_STORIES)


def mark_stories_read(stories: Collection[int]) -> None:
    """Mark all articles of these stories as read for the followers of their feeds who have read one of them.

    A copy may come hours after the first one was read, and only the list of its own feed would show it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {Mark._meta.db_table} AS mark (subscriber_id, article_id, read)
            SELECT reader.subscriber_id, own.article_id, reader.read
            FROM (
                SELECT member.story_id, earlier.subscriber_id, min(earlier.read) AS read
                FROM {Enrichment._meta.db_table} AS member
                JOIN {Mark._meta.db_table} AS earlier ON earlier.article_id = member.article_id
                WHERE member.story_id = ANY(%s::bigint[]) AND earlier.read IS NOT NULL
                GROUP BY member.story_id, earlier.subscriber_id
            ) AS reader
            JOIN {Enrichment._meta.db_table} AS own ON own.story_id = reader.story_id
            JOIN {Article._meta.db_table} AS article ON article.id = own.article_id
            JOIN {Subscription._meta.db_table} AS followed
                ON followed.feed_id = article.feed_id AND followed.subscriber_id = reader.subscriber_id
            ORDER BY reader.subscriber_id, own.article_id
            ON CONFLICT (subscriber_id, article_id) DO UPDATE SET read = EXCLUDED.read
            WHERE mark.read IS NULL
            """,  # noqa: S608 - the tables' own names
            [sorted(set(stories))],
        )


def mark(subscriber: Subscriber, articles: Sequence[int], column: str, now: datetime) -> None:
    """Set a mark (starred, muted, raised) where there is none yet; nothing is learned from it."""
    _mark(subscriber, articles, column, now)


def star(subscriber: Subscriber, articles: Sequence[int], now: datetime, *, starred: bool = True) -> None:
    """Star these articles (primary keys), or remove their stars.

    Adds a save to the log of the subscriber's interests, or takes it back.
    """
    with transaction.atomic():
        if starred:
            _mark(subscriber, articles, "starred", now)
            note(subscriber, articles, Event.Kind.SAVED, now)
        else:
            _clear(subscriber, articles, "starred")
            take_back(subscriber, articles, Event.Kind.SAVED, now)


def mark_all_read(subscriber: Subscriber, articles: QuerySet[Article], now: datetime) -> int:
    """Mark all articles of a query as read, AT_ONCE to a transaction. Returns the number newly marked."""
    unread = articles.filter(unread_by(subscriber)).order_by("pk").values_list("pk", flat=True)
    count, last = 0, 0
    while keys := list(unread.filter(pk__gt=last)[:AT_ONCE]):
        mark_read(subscriber, keys, now)
        count, last = count + len(keys), keys[-1]
    return count


def _mark(
    subscriber: Subscriber, articles: Sequence[int], column: str, now: datetime, which: str = _GIVEN
) -> None:
    # In one order everywhere, so that the row locks of two requests cannot cross.
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {Mark._meta.db_table} AS mark (subscriber_id, article_id, {column})
            SELECT %(subscriber)s, id, %(now)s FROM ({which}) AS chosen ORDER BY id
            ON CONFLICT (subscriber_id, article_id) DO UPDATE SET {column} = EXCLUDED.{column}
            WHERE mark.{column} IS NULL
            """,  # noqa: S608 - the tables' and columns' own names
            {"subscriber": subscriber.pk, "now": now, "articles": sorted(set(articles))},
        )


def _clear(subscriber: Subscriber, articles: Sequence[int], column: str, which: str = _GIVEN) -> None:
    # An article without a mark needs no row. Locks in the order of `_mark`.
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            UPDATE {Mark._meta.db_table} SET {column} = NULL WHERE id IN (
                SELECT id FROM {Mark._meta.db_table}
                WHERE subscriber_id = %(subscriber)s AND {column} IS NOT NULL AND article_id IN ({which})
                ORDER BY article_id FOR UPDATE
            )
            """,  # noqa: S608 - the tables' and columns' own names
            {"subscriber": subscriber.pk, "articles": sorted(set(articles))},
        )
