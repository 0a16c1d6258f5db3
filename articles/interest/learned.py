"""What was learned of a subscriber, to be shown: weights with their names, the strongest first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from articles.interest.model import APART
from articles.interest.models import Interest
from articles.interest.naming import Label, labels
from articles.interest.stored import weights_of
from articles.models import Subscriber

STRONGEST = 25


@dataclass(frozen=True, slots=True)
class WeightRow:
    """One weight, aged to now: log odds per unit of the feature, and its standard deviation."""

    feature: str
    weight: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Taste:
    """A weight with its name; `share` of the strongest one shown, from 0 to 1."""

    row: WeightRow
    label: Label
    share: float


@dataclass(frozen=True, slots=True)
class Learned:
    """The strongest likes and dislikes of `weights` in all, after `events`."""

    likes: list[Taste]
    dislikes: list[Taste]
    weights: int
    events: int


def weight_rows(subscriber: Subscriber, now: datetime) -> list[WeightRow]:
    """All weights of features, the strongest first."""
    weights = weights_of(subscriber)
    aged = weights.aged(now.timestamp())
    rows = [
        WeightRow(name, weight.mean, 1 / math.sqrt(weight.precision))
        for name in weights.beliefs
        if name not in APART
        for weight in [aged.weight(name)]
    ]
    return sorted(rows, key=lambda row: (-abs(row.weight), row.feature))


def strongest(subscriber: Subscriber, now: datetime, most: int = STRONGEST) -> Learned:
    """The `most` strongest likes and as many dislikes, with their names."""
    rows = weight_rows(subscriber, now)
    likes = [row for row in rows if row.weight > 0][:most]
    dislikes = [row for row in rows if row.weight < 0][:most]
    named = labels(row.feature for row in [*likes, *dislikes])
    top = max((abs(row.weight) for row in [*likes, *dislikes]), default=1.0)

    def tastes(chosen: list[WeightRow]) -> list[Taste]:
        return [Taste(row, named[row.feature], abs(row.weight) / top) for row in chosen]

    noted = Interest.objects.filter(pk=subscriber.pk).values_list("learned", flat=True).first()
    return Learned(tastes(likes), tastes(dislikes), len(rows), noted or 0)


def forgotten_features(subscriber: Subscriber) -> list[tuple[str, Label, datetime]]:
    """What the subscriber had forgotten, with its name and when."""
    known = Interest.objects.filter(pk=subscriber.pk).values_list("forgotten", flat=True).first() or {}
    named = labels(known)
    return [(name, named[name], datetime.fromtimestamp(until, UTC)) for name, until in sorted(known.items())]
