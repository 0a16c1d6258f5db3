"""What subscribers do, noted and learned from in one transaction; undo, forget, reset, delete.

Every function locks the subscriber's one row of `Interest` first, so that two requests of one person never
learn from the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from articles.interest.features import LONGEST_NAME
from articles.interest.model import Weights
from articles.interest.models import Event, Interest
from articles.interest.stored import learn, locked, pack, rebuild
from articles.models import Article, Subscriber

AGAIN_AFTER = timedelta(hours=1)
"""An article that is shown or opened again within this time is noted once."""
MOST_FORGOTTEN = 500

Kind = Event.Kind
OPPOSITES: dict[str, tuple[str, ...]] = {
    Kind.MORE: (Kind.LESS, Kind.HIDDEN),
    Kind.LESS: (Kind.MORE,),
    Kind.HIDDEN: (Kind.MORE,),
}
"""Who says the one takes the others back."""


@transaction.atomic
def note(subscriber: Subscriber, articles: Sequence[int], kind: Kind, now: datetime) -> int:
    """Note that a subscriber did something with articles (primary keys) or was shown them, and learn from it.

    Returns how many events that made. Being shown counts once an hour, and not after the subscriber did
    something with the article; opening counts once an hour; everything else once until it is undone.
    Opposites are undone. Articles that do not exist are left out.
    """
    row = _row(subscriber, now)
    undone = _undo(_of(subscriber, articles, OPPOSITES.get(kind, ())), now)
    events = [
        Event(subscriber=subscriber, article_id=article, kind=kind, at=now)
        for article in _noteworthy(subscriber, articles, kind, now)
    ]
    Event.objects.bulk_create(events, batch_size=1000)
    if undone:
        rebuild(row, now)
    elif events:
        learn(row, events, now)
    return len(events)


@transaction.atomic
def take_back(subscriber: Subscriber, articles: Sequence[int], kind: Kind, now: datetime) -> int:
    """Undo what a subscriber said of these articles; how many events that were. Weights follow."""
    row = _row(subscriber, now)
    undone = _undo(_of(subscriber, articles, (kind,)), now)
    if undone:
        rebuild(row, now)
    return undone


@transaction.atomic
def undo(event: Event, now: datetime) -> bool:
    """Undo one event: weights become what they were without it. Whether it was valid until now."""
    row = _row(event.subscriber, now)
    undone = _undo(Event.objects.filter(pk=event.pk), now)
    if undone:
        rebuild(row, now)
    return bool(undone)


@transaction.atomic
def forget(subscriber: Subscriber, feature: str, now: datetime) -> None:
    """Forget one feature, such as "keyword:rain": it is learned from later events alone.

    At most MOST_FORGOTTEN are remembered as forgotten, the newest.
    """
    row = _row(subscriber, now)
    forgotten = {**row.forgotten, feature[: LONGEST_NAME + 10]: now.timestamp()}
    newest = sorted(forgotten.items(), key=lambda item: item[1])[-MOST_FORGOTTEN:]
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
    """Unlearn everything: every event is undone, and lists are newest first. How many events that were."""
    row = _row(subscriber, now)
    undone = _undo(Event.objects.filter(subscriber=subscriber), now)
    row.forgotten, row.weights, row.learned, row.changed = {}, pack(Weights()), 0, now
    row.save()
    return undone


@transaction.atomic
def delete_all(subscriber: Subscriber) -> int:
    """Delete every event and all weights; how many events that were. Stars and what was read stay."""
    locked(subscriber, None)
    deleted, _ = Event.objects.filter(subscriber=subscriber).delete()
    Interest.objects.filter(pk=subscriber.pk).delete()
    return deleted


def hidden_articles(subscriber: Subscriber) -> QuerySet[Event, int]:
    """Primary keys of what the subscriber hid, for `exclude(pk__in=...)`."""
    valid = Event.objects.valid().done()
    return valid.filter(subscriber=subscriber, kind=Kind.HIDDEN).values_list("article_id", flat=True)


def said_of(subscriber: Subscriber, articles: Sequence[int]) -> dict[int, frozenset[str]]:
    """What a subscriber said of each of these articles (more, less, hidden, saved), in one query."""
    rows = _of(subscriber, articles, (Kind.MORE, Kind.LESS, Kind.HIDDEN, Kind.SAVED))
    said: dict[int, set[str]] = {}
    for article, kind in rows.values_list("article_id", "kind"):
        said.setdefault(article, set()).add(kind)
    return {article: frozenset(said.get(article, ())) for article in articles}


def _row(subscriber: Subscriber, now: datetime) -> Interest:
    row = locked(subscriber, now)
    assert row is not None  # noqa: S101 - made where there was none
    return row


def _of(subscriber: Subscriber, articles: Sequence[int], kinds: Sequence[str]) -> QuerySet[Event]:
    valid = Event.objects.valid().filter(subscriber=subscriber, article__in=articles)
    return valid.filter(kind__in=kinds)


def _undo(events: QuerySet[Event], now: datetime) -> int:
    return events.filter(undone__isnull=True).update(undone=now)


def _noteworthy(subscriber: Subscriber, articles: Sequence[int], kind: Kind, now: datetime) -> list[int]:
    """Those of the articles that are worth an event, in the order given."""
    before = Event.objects.valid().filter(subscriber=subscriber, article__in=articles)
    lately = before.filter(kind=kind, at__gt=now - AGAIN_AFTER)
    if kind == Kind.SHOWN:
        known = set(before.done().union(lately).values_list("article_id", flat=True))
    elif kind == Kind.OPENED:
        known = set(lately.values_list("article_id", flat=True))
    else:
        known = set(before.filter(kind=kind).values_list("article_id", flat=True))
    there = set(Article.objects.filter(pk__in=articles).values_list("pk", flat=True))
    return [article for article in dict.fromkeys(articles) if article in there and article not in known]
