"""The log of subscribers' actions and its operations: note (with learning), undo, forget, reset, delete.

Every function locks the subscriber's row of `Interest` first, so that two requests of one person never learn
from the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from articles.interest.features import MAX_NAME_LENGTH
from articles.interest.model import Weights
from articles.interest.models import Event, Interest
from articles.interest.stored import learn, locked, pack, rebuild
from articles.models import Article, Mark, Subscriber

AGAIN_AFTER = timedelta(hours=1)
"""An article that is shown or opened again within this time is noted once."""
MAX_FORGOTTEN = 500

Kind = Event.Kind
OPPOSITES: dict[str, tuple[str, ...]] = {
    Kind.MORE: (Kind.LESS, Kind.HIDDEN),
    Kind.LESS: (Kind.MORE,),
    Kind.HIDDEN: (Kind.MORE,),
}
"""Feedback that undoes earlier feedback of these other kinds."""


@transaction.atomic(savepoint=False)
def note(subscriber: Subscriber, articles: Sequence[int], kind: Kind, now: datetime) -> int:
    """Log that a subscriber acted on articles (primary keys) or was shown them, and learn from the new
    events.

    Returns the number of events created. An article shown counts once an hour, and not after the subscriber
    acted on it; an opening counts once an hour; other actions count once until they are undone. Opposite
    feedback is undone. Articles that do not exist are ignored.
    """
    row = _row(subscriber, now)
    if not row.learns and kind in {Kind.SHOWN, Kind.OPENED}:
        return 0
    undone = _undo(_valid_events(subscriber, articles, OPPOSITES.get(kind, ())), now)
    events = _create_events(subscriber, articles, kind, now)
    if undone:
        rebuild(row, now)
    elif events:
        learn(row, events, now)
    return len(events)


@transaction.atomic(savepoint=False)
def take_back(subscriber: Subscriber, articles: Sequence[int], kind: Kind, now: datetime) -> int:
    """Undo a subscriber's feedback on these articles and update the weights. Returns the events undone."""
    row = _row(subscriber, now)
    undone = _undo(_valid_events(subscriber, articles, (kind,)), now)
    if undone:
        rebuild(row, now)
    return undone


@transaction.atomic
def undo(event: Event, now: datetime) -> bool:
    """Undo an event: weights become what they were without it. Returns False when it was undone already."""
    row = _row(event.subscriber, now)
    undone = _undo(Event.objects.filter(pk=event.pk), now)
    if undone:
        rebuild(row, now)
    return bool(undone)


@transaction.atomic
def forget(subscriber: Subscriber, feature: str, now: datetime) -> None:
    """Forget a feature, such as "keyword:rain": it is learned from later events alone.

    Keeps only the newest MAX_FORGOTTEN forgotten features.
    """
    row = _row(subscriber, now)
    forgotten = {**row.forgotten, feature[: MAX_NAME_LENGTH + 10]: now.timestamp()}
    newest = sorted(forgotten.items(), key=lambda item: item[1])[-MAX_FORGOTTEN:]
    row.forgotten = dict(newest)
    rebuild(row, now)


@transaction.atomic
def remember(subscriber: Subscriber, feature: str, now: datetime) -> None:
    """Undo `forget`."""
    row = _row(subscriber, now)
    if row.forgotten.pop(feature, None) is not None:
        rebuild(row, now)


@transaction.atomic
def reset(subscriber: Subscriber, now: datetime) -> int:
    """Undo every event, so that lists are newest first. Returns the number of events undone."""
    row = _row(subscriber, now)
    undone = _undo(Event.objects.filter(subscriber=subscriber), now)
    row.forgotten, row.weights, row.learned, row.changed = {}, pack(Weights()), 0, now
    row.save()
    return undone


@transaction.atomic
def delete_all(subscriber: Subscriber) -> int:
    """Delete every event and all weights; stars and read marks stay. Returns the number of events deleted."""
    locked(subscriber, None)
    deleted, _ = Event.objects.filter(subscriber=subscriber).delete()
    Interest.objects.filter(pk=subscriber.pk).delete()
    return deleted


def hidden_articles(subscriber: Subscriber) -> QuerySet[Any, int]:
    """Return a query of the keys of the articles that no list has: hidden by the subscriber, or by a rule."""
    events = Event.objects.valid().done().filter(subscriber=subscriber, kind=Kind.HIDDEN)
    muted = Mark.objects.filter(subscriber=subscriber, muted__isnull=False)
    hidden = events.order_by().values_list("article", flat=True)
    return hidden.union(muted.order_by().values_list("article", flat=True), all=True)


def said_of(subscriber: Subscriber, articles: Sequence[int]) -> dict[int, frozenset[str]]:
    """Return a subscriber's feedback on these articles (more, less, hidden, saved), in one query."""
    rows = _valid_events(subscriber, articles, (Kind.MORE, Kind.LESS, Kind.HIDDEN, Kind.SAVED))
    kinds_by_article: dict[int, set[str]] = {}
    for article, kind in rows.values_list("article_id", "kind"):
        kinds_by_article.setdefault(article, set()).add(kind)
    return {article: frozenset(kinds_by_article.get(article, ())) for article in articles}


def _row(subscriber: Subscriber, now: datetime) -> Interest:
    row = locked(subscriber, now)
    assert row is not None  # noqa: S101 - made if there was none
    return row


def _valid_events(subscriber: Subscriber, articles: Sequence[int], kinds: Sequence[str]) -> QuerySet[Event]:
    valid = Event.objects.valid().filter(subscriber=subscriber, article__in=articles)
    return valid.filter(kind__in=kinds)


def _undo(events: QuerySet[Event], now: datetime) -> int:
    return events.filter(undone__isnull=True).update(undone=now)


def _create_events(subscriber: Subscriber, articles: Sequence[int], kind: Kind, now: datetime) -> list[Event]:
    """Create the events of the articles that get one, in the given order and in one statement."""
    if not articles:
        return []
    is_recent = Q(kind=kind, at__gt=now - AGAIN_AFTER)
    counted = {Kind.SHOWN: ~Q(kind=Kind.SHOWN) | is_recent, Kind.OPENED: is_recent}.get(kind, Q(kind=kind))
    earlier = Event.objects.valid().filter(counted, subscriber=subscriber, article=OuterRef("pk"))
    rows = Article.objects.filter(~Exists(earlier), pk__in=articles).order_by()
    noteworthy, parameters = rows.values("pk").query.sql_with_params()
    places = list(dict.fromkeys(articles))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {Event._meta.db_table} (subscriber_id, article_id, kind, at)
            SELECT %s, article, %s, %s FROM unnest(%s::bigint[]) WITH ORDINALITY AS given(article, place)
            WHERE article IN ({noteworthy}) ORDER BY place RETURNING id, article_id
            """,  # noqa: S608 - Django's own statement
            [subscriber.pk, kind, now, places, *parameters],
        )
        created = cursor.fetchall()
    return [
        Event(pk=key, subscriber=subscriber, article_id=article, kind=kind, at=now)
        for key, article in created
    ]
