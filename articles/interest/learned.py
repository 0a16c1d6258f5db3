"""Learned interests of a subscriber for display: weights with their names, strongest first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from articles.interest.model import SPECIAL_PRIORS
from articles.interest.models import Interest
from articles.interest.naming import Label, labels
from articles.interest.stored import weights_of
from articles.models import Subscriber

STRONGEST = 25


@dataclass(frozen=True, slots=True)
class WeightRow:
    """A weight aged to now: log odds per unit of the feature, and its standard deviation."""

    feature: str
    weight: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Taste:
    """A weight with its label; `share` is its strength relative to the strongest one shown, from 0 to 1."""

    row: WeightRow
    label: Label
    share: float


@dataclass(frozen=True, slots=True)
class Learned:
    """The strongest likes and dislikes; `weights` counts all weights, `events` the events learned from."""

    likes: list[Taste]
    dislikes: list[Taste]
    weights: int
    events: int


def weight_rows(subscriber: Subscriber, now: datetime) -> list[WeightRow]:
    """Return all weights of features, strongest first."""
    weights = weights_of(subscriber)
    aged = weights.aged(now.timestamp())
    rows = [
        WeightRow(name, weight.mean, 1 / math.sqrt(weight.precision))
        for name in weights.beliefs
        if name not in SPECIAL_PRIORS
        for weight in [aged.weight(name)]
    ]
    return sorted(rows, key=lambda row: (-abs(row.weight), row.feature))


def strongest(subscriber: Subscriber, now: datetime, limit: int = STRONGEST) -> Learned:
    """Return the `limit` strongest likes and as many dislikes, with their names."""
    rows = weight_rows(subscriber, now)
    likes = [row for row in rows if row.weight > 0][:limit]
    dislikes = [row for row in rows if row.weight < 0][:limit]
    label_of = labels(row.feature for row in [*likes, *dislikes])
    top = max((abs(row.weight) for row in [*likes, *dislikes]), default=1.0)

    def tastes(chosen: list[WeightRow]) -> list[Taste]:
        return [Taste(row, label_of[row.feature], abs(row.weight) / top) for row in chosen]

    noted = Interest.objects.filter(pk=subscriber.pk).values_list("learned", flat=True).first()
    return Learned(tastes(likes), tastes(dislikes), len(rows), noted or 0)


def forgotten_features(subscriber: Subscriber) -> list[tuple[str, Label, datetime]]:
    """Return the features that the subscriber has forgotten, with labels and times."""
    forgotten = Interest.objects.filter(pk=subscriber.pk).values_list("forgotten", flat=True).first() or {}
    label_of = labels(forgotten)
    return [
        (name, label_of[name], datetime.fromtimestamp(until, UTC))
        for name, until in sorted(forgotten.items())
    ]
