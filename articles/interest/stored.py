"""Storage of weights: packed in a row for each subscriber, and recomputed from the log."""

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

MAX_EVENTS = 5_000
"""Weights that are computed anew follow from the newest 5,000 things done and the newest 5,000 showings."""
LARGEST = 4_000_000
STEP = 0.5
"""The weight of a step of a slider, in log odds: three of them make an opening four times as likely."""
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
    """An article's features for the model; `published` in epoch seconds."""

    features: Mapping[str, float]
    published: float


def facts_of(articles: Collection[int]) -> dict[int, Facts]:
    """Read the facts of these articles (primary keys) in one query. Omits deleted articles."""
    return {pk: replace(_facts(*about), published=published) for pk, published, *about in _rows(articles)}


def described(articles: Collection[int]) -> dict[int, Described]:
    """Read the features of these articles. Omits deleted articles."""
    return {pk: Described(_features(*about), published) for pk, published, *about in _rows(articles)}


def candidates(subscriber: Subscriber, articles: QuerySet[Article]) -> list[Candidate]:
    """Read the articles as candidates of a list, in one query.

    An article is unseen when the subscriber has no event about it, undone or not.
    """
    try:
        article_query, parameters = articles.values("pk").query.sql_with_params()
    except EmptyResultSet:
        return []
    rows = planned_rows(
        f"""
        SELECT {_COLUMNS}, EXISTS (
            SELECT FROM interest_event WHERE subscriber_id = %s AND article_id = a.id
        ) FROM {_TABLES} WHERE a.id IN ({article_query})
        """,  # noqa: S608 - Django's own statement
        [subscriber.pk, *parameters],
    )
    return [
        Candidate(pk, published, _features(*about), unseen=not was_seen)
        for pk, published, *about, was_seen in rows
    ]


def _rows(articles: Collection[int]) -> list[tuple[Any, ...]]:
    """Read `_COLUMNS` of articles by SQL; for lists of hundreds the ORM takes four times as long."""
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
    """Return features, cached by content, so that many subscribers' lists share them and none is stale."""
    return _facts(feed, author, category, keywords).features()


def pack(weights: Weights) -> bytes:
    """Pack weights as compressed JSON; means to six decimals, times to the second."""
    plain = {
        name: [round(belief.mean, 6), round(belief.precision, 4), int(belief.at)]
        for name, belief in weights.beliefs.items()
    }
    return zlib.compress(orjson.dumps({"learned": weights.learned, "beliefs": plain}), 1)


def unpack(packed: bytes) -> Weights | None:
    """Unpack the result of `pack`. Returns None for anything else."""
    try:
        plain = orjson.loads(zlib.decompressobj().decompress(packed, LARGEST))
        beliefs = {name: Belief(*values) for name, values in plain["beliefs"].items()}
        return Weights(beliefs, int(plain["learned"]))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError):
        return None


def weights_of(subscriber: Subscriber) -> Weights:
    """Read the weights that order a subscriber's lists: what was learned, and over it what they have set.

    Recomputes weights of another version.
    """
    columns = ("version", "weights", "tuned", "learns", "muted")
    rows = rows_of(Interest.objects.filter(pk=subscriber.pk).values_list(*columns))
    if not rows:
        return Weights()
    version, packed, tuned, learns, muted = rows[0]
    weights = _learned(subscriber, version, packed)
    if not learns:
        weights = Weights()
    if steps := _as_object(tuned):
        weights.fix({name: step * STEP for name, step in steps.items()})
    weights.muted = frozenset(_as_object(muted))
    return weights


def learned_weights_of(subscriber: Subscriber) -> Weights:
    """Read what was learned of a subscriber, without what they have set."""
    rows = rows_of(Interest.objects.filter(pk=subscriber.pk).values_list("version", "weights"))
    return _learned(subscriber, *rows[0]) if rows else Weights()


def _learned(subscriber: Subscriber, version: int, packed: bytes) -> Weights:
    return (unpack(packed) if version == VERSION else None) or _renewed(subscriber)


def _as_object(value: Any) -> dict[str, Any]:
    """Return a JSON column, which a prepared statement gives as text."""
    mapping: dict[str, Any] = orjson.loads(value) if isinstance(value, (str, bytes)) else value
    return mapping


@transaction.atomic
def _renewed(subscriber: Subscriber) -> Weights:
    row = locked(subscriber, None)
    return (_current(row) or rebuild(row, row.changed)) if row is not None else Weights()


def _current(row: Interest) -> Weights | None:
    return unpack(bytes(row.weights)) if row.version == VERSION else None


def locked(subscriber: Subscriber, now: datetime | None) -> Interest | None:
    """Return the subscriber's row, locked until the transaction ends.

    Creates a missing row at `now`. Returns None when `now` is None and there is no row.
    """
    rows = Interest.objects.select_for_update()
    row = rows.filter(pk=subscriber.pk).first()
    if row is None and now is not None:
        empty = {"version": VERSION, "weights": pack(Weights()), "changed": now}
        Interest.objects.get_or_create(subscriber=subscriber, defaults=empty)
        row = rows.get(pk=subscriber.pk)
    return row


def learn(row: Interest, events: Sequence[Event], now: datetime) -> None:
    """Learn from new events in a locked row. Recomputes weights of another version, these events included."""
    weights = _current(row)
    if weights is None:
        rebuild(row, now)
        return
    for event in with_features(events):
        model.learn_event(weights, event, _forgotten(row))
    _save(row, weights, now)


def rebuild(row: Interest, now: datetime) -> Weights:
    """Recompute a locked row's weights from the log, as if undone events had never happened."""
    valid = Event.objects.valid().filter(subscriber=row.pk).order_by("-id")
    events = [*valid.done()[:MAX_EVENTS], *valid.filter(kind=Event.Kind.SHOWN)[:MAX_EVENTS]]
    events.sort(key=lambda event: event.pk)
    weights = learned_from(with_features(events), _forgotten(row))
    _save(row, weights, now)
    return weights


def with_features(events: Sequence[Event]) -> list[model.LoggedEvent]:
    """Return events with the current features of their articles. Omits events of deleted articles."""
    descriptions = described({event.article_id for event in events})
    return [
        model.LoggedEvent(about.features, event.kind, event.at.timestamp(), about.published)
        for event in events
        if (about := descriptions.get(event.article_id)) is not None
    ]


def _forgotten(row: Interest) -> dict[str, float]:
    return {name: float(until) for name, until in row.forgotten.items()}


def _save(row: Interest, weights: Weights, now: datetime) -> None:
    row.version, row.weights = VERSION, pack(weights)
    row.learned, row.changed = weights.learned, now
    row.save()
