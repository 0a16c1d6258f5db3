"""Weights as they are kept: packed in a row for each subscriber, and computed anew from the log."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson
from django.core.exceptions import EmptyResultSet
from django.db import transaction
from django.db.models import QuerySet

from articles.interest import model
from articles.interest.facts import Facts
from articles.interest.model import VERSION, Belief, Weights, learned_from
from articles.interest.models import Event, Interest
from articles.interest.ranking import Candidate
from articles.models import Article, Subscriber
from crawler.database.prepared import planned_rows, rows_of

MOST_EVENTS = 5_000
"""Weights that are computed anew follow from the newest 5,000 things done and the newest 5,000 showings."""
LARGEST = 4_000_000
KEPT_FEATURES = 20_000
"""Articles whose features stay in memory: some 30 MB."""
_COLUMNS = """
    a.id, extract(epoch FROM a.published)::float8, a.feed_id::text, a.author,
    coalesce(nullif(e.category, ''), a.category), coalesce(e.keywords::text, '[]')
"""
"""Key, time of publication, feed, author, category (the enrichment's before the feed's) and keywords."""
_TABLES = "articles_article a LEFT JOIN enrichment_enrichment e ON e.article_id = a.id"


@dataclass(frozen=True, slots=True)
class Described:
    """An article as the model sees it; `published` in epoch seconds."""

    features: Mapping[str, float]
    published: float


def facts_of(articles: Collection[int]) -> dict[int, Facts]:
    """What is known of these articles (primary keys), in one query; those that are gone are left out."""
    return {pk: replace(_facts(*about), published=published) for pk, published, *about in _rows(articles)}


def described(articles: Collection[int]) -> dict[int, Described]:
    """The same as features."""
    return {pk: Described(_features(*about), published) for pk, published, *about in _rows(articles)}


def candidates(subscriber: Subscriber, articles: QuerySet[Article]) -> list[Candidate]:
    """Articles as lists are made of them, in one query; unseen are those that the subscriber was not shown
    and did not open, whether undone or not.
    """
    try:
        wanted, parameters = articles.values("pk").query.sql_with_params()
    except EmptyResultSet:
        return []
    rows = planned_rows(
        f"""
        SELECT {_COLUMNS}, EXISTS (
            SELECT FROM interest_event WHERE subscriber_id = %s AND article_id = a.id
        ) FROM {_TABLES} WHERE a.id IN ({wanted})
        """,  # noqa: S608 - Django's own statement
        [subscriber.pk, *parameters],
    )
    return [
        Candidate(pk, published, _features(*about), unseen=not seen) for pk, published, *about, seen in rows
    ]


def _rows(articles: Collection[int]) -> list[tuple[Any, ...]]:
    """`_COLUMNS` of articles. Lists have hundreds, for which the ORM takes four times as long."""
    return planned_rows(f"SELECT {_COLUMNS} FROM {_TABLES} WHERE a.id = ANY(%s::bigint[])", [list(articles)])  # noqa: S608


def _facts(feed: str, author: str, category: str, keywords: str) -> Facts:
    return Facts(
        feed=feed,
        categories=[category] if category else [],
        author=author,
        keywords=[(term, weight) for term, weight in orjson.loads(keywords)],
    )


@lru_cache(KEPT_FEATURES)
def _features(feed: str, author: str, category: str, keywords: str) -> Mapping[str, float]:
    """Kept by what they are made of, so that the lists of many subscribers share them and none is stale."""
    return _facts(feed, author, category, keywords).features()


def pack(weights: Weights) -> bytes:
    """Weights as compressed JSON; means to six decimals, times to the second."""
    plain = {
        name: [round(belief.mean, 6), round(belief.precision, 4), int(belief.at)]
        for name, belief in weights.beliefs.items()
    }
    return zlib.compress(orjson.dumps({"learned": weights.learned, "beliefs": plain}), 1)


def unpack(packed: bytes) -> Weights | None:
    """What `pack` packed; None for anything else."""
    try:
        plain = orjson.loads(zlib.decompressobj().decompress(packed, LARGEST))
        beliefs = {name: Belief(*values) for name, values in plain["beliefs"].items()}
        return Weights(beliefs, int(plain["learned"]))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError):
        return None


def weights_of(subscriber: Subscriber) -> Weights:
    """What was learned of a subscriber; computed anew where another version had learned it."""
    rows = rows_of(Interest.objects.filter(pk=subscriber.pk).values_list("version", "weights"))
    if not rows:
        return Weights()
    version, packed = rows[0]
    return (unpack(packed) if version == VERSION else None) or _renewed(subscriber)


@transaction.atomic
def _renewed(subscriber: Subscriber) -> Weights:
    row = locked(subscriber, None)
    return (_current(row) or rebuild(row, row.changed)) if row is not None else Weights()


def _current(row: Interest) -> Weights | None:
    return unpack(bytes(row.weights)) if row.version == VERSION else None


def locked(subscriber: Subscriber, now: datetime | None) -> Interest | None:
    """The subscriber's row, locked until the transaction ends; made at `now` where there is none."""
    rows = Interest.objects.select_for_update()
    found = rows.filter(pk=subscriber.pk).first()
    if found is None and now is not None:
        empty = {"version": VERSION, "weights": pack(Weights()), "changed": now}
        Interest.objects.get_or_create(subscriber=subscriber, defaults=empty)
        found = rows.get(pk=subscriber.pk)
    return found


def learn(row: Interest, events: Sequence[Event], now: datetime) -> None:
    """Take new events into a locked row; what another version learned is computed anew, these included."""
    weights = _current(row)
    if weights is None:
        rebuild(row, now)
        return
    for event in with_features(events):
        model.learn_event(weights, event, _forgotten(row))
    _save(row, weights, now)


def rebuild(row: Interest, now: datetime) -> Weights:
    """Compute a locked row's weights from the log, as if what was undone had never happened."""
    valid = Event.objects.valid().filter(subscriber=row.pk).order_by("-id")
    events = [*valid.done()[:MOST_EVENTS], *valid.filter(kind=Event.Kind.SHOWN)[:MOST_EVENTS]]
    events.sort(key=lambda event: event.pk)
    weights = learned_from(with_features(events), _forgotten(row))
    _save(row, weights, now)
    return weights


def with_features(events: Sequence[Event]) -> list[model.LoggedEvent]:
    """Events with the features of their articles as these are now; without those whose article is gone."""
    known = described({event.article_id for event in events})
    return [
        model.LoggedEvent(about.features, event.kind, event.at.timestamp(), about.published)
        for event in events
        if (about := known.get(event.article_id)) is not None
    ]


def _forgotten(row: Interest) -> dict[str, float]:
    return {name: float(until) for name, until in row.forgotten.items()}


def _save(row: Interest, weights: Weights, now: datetime) -> None:
    row.version, row.weights = VERSION, pack(weights)
    row.learned, row.changed = weights.learned, now
    row.save()
