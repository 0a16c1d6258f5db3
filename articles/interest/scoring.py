"""Orders of articles by a subscriber's interest, and explanations of scores."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from articles.interest.models import Event
from articles.interest.naming import CROWD, OTHERS_OPEN_IT, Label, is_sayable, labels, reason_of
from articles.interest.ranking import Candidate, Placed, ranked_candidates
from articles.interest.stored import candidates, described, weights_of
from articles.interest.stored_crowd import crowd_of_all
from articles.models import Article, Mark, Subscriber
from crawler.database.prepared import rows_of

MIN_REASON_LOG_ODDS = 0.05
"""A feature that adds less changes no place in a list worth a sentence (a chance of 20 % by one in a
hundred)."""
MIN_POPULARITY_LOG_ODDS = 0.2
"""What others open a quarter more often than the rest is said to be opened by many."""
MIN_SHOWN_LOG_ODDS = 0.0005
"""Parts below are not shown."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a score: the learned `weight` times the article's `value`."""

    feature: str
    label: Label
    weight: float
    value: float

    @property
    def contribution(self) -> float:
        """The feature's part of the score, in log odds."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class CrowdPart:
    """A part of a score that comes from what all subscribers open, with its sentence."""

    signal: str
    sentence: str
    contribution: float


@dataclass(frozen=True, slots=True)
class InterestExplanation:
    """Explanation of an article's score, the sum of `parts`.

    The score, `recency` and the parts of the `crowd` determine its order, and with the bias its `chance` of
    being opened. `unknown` features have no weight yet.
    """

    parts: list[Part]
    unknown: list[Label]
    score: float
    deviation: float
    recency: float
    age_days: float
    chance: float
    learned: int
    crowd: list[CrowdPart]

    @property
    def total(self) -> float:
        """The score that articles are ordered by."""
        return self.score + self.recency + sum(part.contribution for part in self.crowd)


def ranked(subscriber: Subscriber, articles: QuerySet[Article], limit: int | None = None) -> list[Placed]:
    """Return the first `limit` (else all) of these articles in the order of the subscriber's interest.

    Articles that a rule has moved up come first. Those with a feature that the subscriber has muted are left
    out. Takes four queries. The order is the same for the same weights, crowd and articles at any time.
    """
    weights, crowd = weights_of(subscriber), crowd_of_all()
    if weights.is_informed or crowd.is_learned:
        listed = [
            each for each in candidates(subscriber, articles) if weights.muted.isdisjoint(each.features)
        ]
    else:
        newest = rows_of(articles.values_list("pk", "published"))
        listed = [Candidate(article, published.timestamp(), {}) for article, published in newest]
    raised = set(
        rows_of(Mark.objects.filter(subscriber=subscriber, raised__isnull=False).values_list("article"))
    )
    if not raised:
        return ranked_candidates(weights, listed, limit, crowd)
    placed = ranked_candidates(weights, listed, None, crowd)
    return sorted(placed, key=lambda place: (place.article_id,) not in raised)[:limit]


def reasons(subscriber: Subscriber, articles: Collection[int], now: datetime) -> dict[int, str]:
    """Return for each article the sentence of the feature that speaks most for it, "" if none does.

    Takes at most four queries for any number of articles.
    """
    weights, crowd, at = weights_of(subscriber), crowd_of_all(), now.timestamp()
    if not weights.is_informed and not crowd.is_learned:
        return {}
    aged, strongest, popular = weights.aged(at), {}, set()
    for article, about in described(articles).items():
        parts = aged.contributions(about.features)
        strong = (name for name, part in parts if part >= MIN_REASON_LOG_ODDS)
        strongest[article] = next((name for name in strong if _is_reason(name)), "")
        if crowd.is_learned and not strongest[article]:
            signals = crowd.signals(str(article), about.features, at=at, age=0.0, is_seen=False)
            if crowd.parts(signals)["popularity"] >= MIN_POPULARITY_LOG_ODDS:
                popular.add(article)
    label_of = labels(set(strongest.values()) - {""})
    sentences = {"": "", **{name: reason_of(label) for name, label in label_of.items()}}
    return {
        article: str(OTHERS_OPEN_IT) if article in popular else sentences[name]
        for article, name in strongest.items()
    }


def _is_reason(feature: str) -> bool:
    kind, _, name = feature.partition(":")
    return is_sayable(kind, name)


def explain(subscriber: Subscriber, article: int, now: datetime) -> InterestExplanation | None:
    """Explain the current score of an article. Returns None when the article does not exist."""
    about = described([article]).get(article)
    if about is None:
        return None
    weights, at = weights_of(subscriber), now.timestamp()
    aged, label_of = weights.aged(at), labels(about.features)
    score, age = aged.score(about.features), max(at - about.published, 0.0)
    recency = aged.recency(age)
    crowd, of_crowd = crowd_of_all(), []
    if crowd.is_learned:
        is_seen = Event.objects.filter(subscriber=subscriber, article=article).exists()
        signals = crowd.signals(
            str(article), about.features, at=at, age=age, is_seen=is_seen, personal=score, recency=recency
        )
        of_crowd = [
            CrowdPart(signal, str(CROWD[signal]), value)
            for signal, value in crowd.parts(signals).items()
            if abs(value) >= MIN_SHOWN_LOG_ODDS
        ]
    total = score + recency + sum(part.contribution for part in of_crowd)
    return InterestExplanation(
        parts=[
            Part(name, label_of[name], aged.weight(name).mean, about.features[name])
            for name, _ in aged.contributions(about.features)
        ],
        unknown=[label_of[name] for name in about.features if name not in weights.beliefs],
        score=score,
        deviation=math.sqrt(aged.variance(about.features)),
        recency=recency,
        age_days=age / 86_400,
        chance=aged.chance(total),
        learned=weights.learned,
        crowd=of_crowd,
    )
