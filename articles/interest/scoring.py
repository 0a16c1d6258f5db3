"""Orders of articles by a subscriber's interest, and explanations of scores."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from articles.interest.naming import Label, labels, reason_of
from articles.interest.ranking import Candidate, Placed, ranked_candidates
from articles.interest.stored import candidates, described, weights_of
from articles.models import Article, Subscriber
from crawler.database.prepared import rows_of

MIN_REASON_LOG_ODDS = 0.05
"""A feature that adds less changes no place in a list worth a sentence (a chance of 20 % by one in a
hundred)."""


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
class InterestExplanation:
    """Explanation of an article's score, the sum of `parts`.

    The score and `recency` determine its order, and with the bias its `chance` of being opened. `unknown`
    features have no weight yet.
    """

    parts: list[Part]
    unknown: list[Label]
    score: float
    deviation: float
    recency: float
    age_days: float
    chance: float
    learned: int

    @property
    def total(self) -> float:
        """The score that articles are ordered by."""
        return self.score + self.recency


def ranked(subscriber: Subscriber, articles: QuerySet[Article], limit: int | None = None) -> list[Placed]:
    """Return the first `limit` (else all) of these articles in the order of the subscriber's interest.

    Takes two queries. The order is the same for the same weights and articles at any time.
    """
    weights = weights_of(subscriber)
    if weights.learned:
        listed = candidates(subscriber, articles)
    else:
        newest = rows_of(articles.values_list("pk", "published"))
        listed = [Candidate(article, published.timestamp(), {}) for article, published in newest]
    return ranked_candidates(weights, listed, limit)


def reasons(subscriber: Subscriber, articles: Collection[int], now: datetime) -> dict[int, str]:
    """Return for each article the sentence of the feature that speaks most for it, "" where none does.

    Takes at most three queries for any number of articles.
    """
    weights = weights_of(subscriber)
    if not weights.learned:
        return {}
    aged, strongest = weights.aged(now.timestamp()), {}
    for article, about in described(articles).items():
        parts = aged.contributions(about.features)
        strongest[article] = next((name for name, part in parts if part >= MIN_REASON_LOG_ODDS), "")
    label_of = labels(set(strongest.values()) - {""})
    return {article: reason_of(label_of[name]) if name else "" for article, name in strongest.items()}


def explain(subscriber: Subscriber, article: int, now: datetime) -> InterestExplanation | None:
    """Explain the current score of an article. Returns None when the article does not exist."""
    about = described([article]).get(article)
    if about is None:
        return None
    weights, at = weights_of(subscriber), now.timestamp()
    aged, label_of = weights.aged(at), labels(about.features)
    score, age = aged.score(about.features), max(at - about.published, 0.0)
    recency = aged.recency(age)
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
        chance=aged.chance(score + recency),
        learned=weights.learned,
    )
