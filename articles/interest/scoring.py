"""Scores and orders for subscribers, and why: for personal feeds, reading lists and pages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from articles.interest.naming import Label, labels
from articles.interest.ranking import Candidate, Placed, ranked_candidates
from articles.interest.stored import candidates, described, weights_of
from articles.models import Article, Subscriber
from crawler.database.prepared import rows_of


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a score: `weight` was learned, `value` is the article's; their product adds to it."""

    feature: str
    label: Label
    weight: float
    value: float

    @property
    def contribution(self) -> float:
        """What it adds, in log odds."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class InterestExplanation:
    """Why an article has its score: `parts` sum to `score`. With `recency` (what its age takes away) that is
    its order, and with the bias its `chance` of being opened. `unknown` features have no weight yet.
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
        """What the order goes by."""
        return self.score + self.recency


def ranked(subscriber: Subscriber, articles: QuerySet[Article], most: int | None = None) -> list[Placed]:
    """The first `most` (else all) of these articles in the order of the subscriber's interest.

    Two queries; the same for the same weights and articles at any time.
    """
    weights = weights_of(subscriber)
    if weights.learned:
        listed = candidates(subscriber, articles)
    else:
        newest = rows_of(articles.values_list("pk", "published"))
        listed = [Candidate(article, published.timestamp(), {}) for article, published in newest]
    return ranked_candidates(weights, listed, most)


def explain(subscriber: Subscriber, article: int, now: datetime) -> InterestExplanation | None:
    """Why an article has the score it has now; None when it does not exist."""
    about = described([article]).get(article)
    if about is None:
        return None
    weights, at = weights_of(subscriber), now.timestamp()
    aged, named = weights.aged(at), labels(about.features)
    score, age = aged.score(about.features), max(at - about.published, 0.0)
    recency = aged.recency(age)
    return InterestExplanation(
        parts=[
            Part(name, named[name], aged.weight(name).mean, about.features[name])
            for name, _ in aged.contributions(about.features)
        ],
        unknown=[named[name] for name in about.features if name not in weights.beliefs],
        score=score,
        deviation=math.sqrt(aged.variance(about.features)),
        recency=recency,
        age_days=age / 86_400,
        chance=aged.chance(score + recency),
        learned=weights.learned,
    )
