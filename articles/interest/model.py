"""The interest model of one subscriber: Bayesian logistic regression, learned one event at a time.

After Chapelle and Li (2011), "An Empirical Evaluation of Thompson Sampling", algorithm 3: every feature has
a weight w ~ N(mean, 1 / precision), all independent. An event with features x, target y and strength s moves
the means to the minimum of

    sum_i precision_i (w_i - mean_i)^2 / 2  +  s log loss(y, sigmoid(w x))

and adds s x_i^2 p (1 - p) to the precisions, p = sigmoid(w x) at the minimum. Weights age: with every
`HALF_LIFE` that passes, mean and precision lose half of their distance from the prior.

Features are named "keyword:x", "category:x", "feed:x" and "author:x". One person goes by feeds, another by
topics wherever they appear, so each kind has a trust, a factor on its weights. The model learns the trusts in
the same way, from the prediction of the weights before the event, and then the weights.

Two weights belong to no feature: the bias (how often this subscriber opens anything), which changes no
order, and the weight of an article's age, whose prior prefers new articles. Times are epoch seconds, ages
seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

VERSION = 1
"""Version of the features and the model: weights of another version are computed anew from the log."""

DAY = 86_400.0
HALF_LIFE = 90 * DAY
MAX_FEATURES = 3000
FIXED_PRECISION = 1e6
"""Precision of a weight that a person has set: there is nothing to explore."""
BIAS, AGE = "bias", "age"
KINDS = ("keyword", "category", "feed", "author")
TRUSTS = {kind: f"trust:{kind}" for kind in KINDS}

STRENGTHS: Mapping[str, tuple[float, float]] = {
    "shown": (0.0, 0.2),
    "opened": (1.0, 1.0),
    "more": (1.0, 3.0),
    "less": (0.0, 3.0),
    "hidden": (0.0, 2.0),
    "saved": (1.0, 2.0),
}
"""Target and strength by kind of event. Being shown is weak evidence against an article: an opening outweighs
several lists in which it was passed over."""


class Belief(NamedTuple):
    """A weight as it was at a time: N(mean, 1 / precision)."""

    mean: float
    precision: float
    at: float


PRIOR = Belief(0.0, 5.0, 0.0)
SPECIAL_PRIORS: Mapping[str, Belief] = {
    BIAS: Belief(-1.0, 1.0, 0.0),
    AGE: Belief(-0.3, 20.0, 0.0),
    **dict.fromkeys(TRUSTS.values(), Belief(1.0, 1.0, 0.0)),
}
"""Priors of weights that do not have `PRIOR`; weights age towards their priors."""


@dataclass(slots=True)
class Weights:
    """The learned weights of one subscriber; empty before the first event and after a reset.

    `fixed` are the weights that the subscriber has set, which trusts do not change; articles with a feature
    of `muted` are not listed.
    """

    beliefs: dict[str, Belief] = field(default_factory=dict)
    learned: int = 0
    fixed: dict[str, float] = field(default_factory=dict)
    muted: frozenset[str] = frozenset()

    def fix(self, weights: Mapping[str, float]) -> None:
        """Give features the weights that the subscriber has set, whatever was learned of them."""
        self.fixed = dict(weights)
        self.beliefs |= {name: Belief(mean, FIXED_PRECISION, 0.0) for name, mean in weights.items()}

    @property
    def is_informed(self) -> bool:
        """True when something was learned, set or muted, so that there is an order by interest."""
        return bool(self.learned or self.fixed or self.muted)

    def belief(self, name: str, at: float) -> Belief:
        """Return the weight aged to `at`, or its prior if it is not learned.

        Returns it as it is for an `at` before its time.
        """
        belief = self.beliefs.get(name)
        if belief is None:
            return SPECIAL_PRIORS.get(name, PRIOR)
        mean, precision, learned_at = belief
        if at <= learned_at:
            return belief
        prior = SPECIAL_PRIORS.get(name, PRIOR)
        retained_share = 0.5 ** ((at - learned_at) / HALF_LIFE)
        mean = prior.mean + (mean - prior.mean) * retained_share
        return Belief(mean, prior.precision + (precision - prior.precision) * retained_share, at)

    def aged(self, at: float) -> Aged:
        """Return the weights as they are at a time, for scoring."""
        return Aged(self, at)

    def learn(self, features: Mapping[str, float], kind: str, at: float, *, age: float | None = None) -> None:
        """Learn from an event. Raises KeyError for an unknown kind of event or feature."""
        target, strength = STRENGTHS[kind]
        bias_and_age = {BIAS: 1.0} if age is None else {BIAS: 1.0, AGE: age_value(age)}
        beliefs = {name: self.belief(name, at) for name in (*features, *bias_and_age)}
        trust_values: dict[str, float] = {}
        for name, value in features.items():
            if name in self.beliefs:
                trust = TRUSTS[kind_of(name)]
                trust_values[trust] = trust_values.get(trust, 0.0) + value * beliefs[name].mean
        # Both steps start from the beliefs before the event.
        trusts = {name: self.belief(name, at) for name in trust_values}
        offset = sum(value * beliefs[name].mean for name, value in bias_and_age.items())
        self._step(trust_values, trusts, target=target, strength=strength, at=at, offset=offset)
        self._step({**features, **bias_and_age}, beliefs, target=target, strength=strength, at=at)
        self.learned += 1
        if len(self.beliefs) > MAX_FEATURES:
            self._drop_least(at)

    def _step(
        self,
        values: Mapping[str, float],
        beliefs: Mapping[str, Belief],
        *,
        target: float,
        strength: float,
        at: float,
        offset: float = 0.0,
    ) -> None:
        """Move the weights of these values from the given beliefs to the minimum."""
        log_odds, variance = offset, 0.0
        for name, value in values.items():
            mean, precision, _ = beliefs[name]
            log_odds += value * mean
            variance += value * value / precision
        chance = sigmoid(_minimum(log_odds, variance * strength, target))
        step, certainty = strength * (target - chance), strength * chance * (1 - chance)
        for name, value in values.items():
            mean, precision, learned_at = beliefs[name]
            moved = mean + step * value / precision
            self.beliefs[name] = Belief(moved, precision + certainty * value * value, max(at, learned_at))

    def _drop_least(self, at: float) -> None:
        """Forget MAX_FEATURES // 5 features, those with the smallest weights."""
        names = [name for name in self.beliefs if name not in SPECIAL_PRIORS]
        names.sort(key=lambda name: (abs(self.belief(name, at).mean), name))
        for name in names[: MAX_FEATURES // 5]:
            del self.beliefs[name]


class Aged:
    """Weights at one time, for scoring articles. Each weight is aged once, however many articles have it."""

    def __init__(self, weights: Weights, at: float) -> None:
        self._weights = weights
        self._at = at
        self._aged_beliefs: dict[str, Belief] = {
            name: Belief(mean, FIXED_PRECISION, at) for name, mean in weights.fixed.items()
        }
        self._trusts: dict[str, float] = {}
        self._unlearned = {kind: self._trusted(PRIOR, kind) for kind in KINDS}
        self._steepness = min(weights.belief(AGE, at).mean, 0.0)

    def trust(self, kind: str) -> float:
        """Return the trust in a kind of feature: 1 before anything was learned, never below 0."""
        if kind not in self._trusts:
            self._trusts[kind] = max(self._weights.belief(TRUSTS[kind], self._at).mean, 0.0)
        return self._trusts[kind]

    def weight(self, name: str) -> Belief:
        """Return a feature's weight times the trust in its kind."""
        if name not in self._weights.beliefs:
            return self._unlearned[kind_of(name)]
        belief = self._aged_beliefs.get(name)
        if belief is None:
            belief = self._aged_beliefs[name] = self._trusted(
                self._weights.belief(name, self._at), kind_of(name)
            )
        return belief

    def _trusted(self, belief: Belief, kind: str) -> Belief:
        trust = self.trust(kind)
        return Belief(belief.mean * trust, belief.precision / trust**2 if trust else math.inf, self._at)

    def contributions(self, features: Mapping[str, float]) -> list[tuple[str, float]]:
        """Return each learned feature's part of the score, strongest first."""
        beliefs = self._weights.beliefs
        parts = [
            (name, value * self.weight(name).mean) for name, value in features.items() if name in beliefs
        ]
        return sorted(parts, key=lambda part: (-abs(part[1]), part[0]))

    def score(self, features: Mapping[str, float]) -> float:
        """Return the sum of the contributions: log odds of an opening beyond those of any article."""
        return self.score_and_variance(features)[0]

    def variance(self, features: Mapping[str, float]) -> float:
        """Return the variance of the score w x."""
        return self.score_and_variance(features)[1]

    def score_and_variance(self, features: Mapping[str, float]) -> tuple[float, float]:
        """Return score and variance in one pass."""
        beliefs, aged_beliefs, unlearned = self._weights.beliefs, self._aged_beliefs, self._unlearned
        score = variance = 0.0
        for name, value in features.items():
            if name in beliefs:
                mean, precision, _ = aged_beliefs.get(name) or self.weight(name)
                score += value * mean
            else:
                precision = unlearned[kind_of(name)].precision
            variance += value * value / precision
        return score, variance

    def recency(self, age: float) -> float:
        """Return the contribution of an age (seconds) to the score: 0 for a new article, less for older ones.

        Log odds fall with the logarithm of age. Each subscriber's clicks make the slope steeper or flatter,
        but never prefer older articles.
        """
        return self._steepness * age_value(age)

    def chance(self, total: float) -> float:
        """Return the probability of an opening, for a score with its recency."""
        return sigmoid(self._weights.belief(BIAS, self._at).mean + total)


class LoggedEvent(NamedTuple):
    """An event with the features and publication time of its article, for `learned_from`."""

    features: Mapping[str, float]
    kind: str
    at: float
    published: float | None
    article: str = ""


def learned_from(events: Iterable[LoggedEvent], forgotten: Mapping[str, float] | None = None) -> Weights:
    """Learn weights from a log in its order, as if every event were learned when it came.

    Features in `forgotten` (feature to time) are learned only from events after that time.
    """
    weights = Weights()
    for event in events:
        learn_event(weights, event, forgotten or {})
    return weights


def learn_event(weights: Weights, event: LoggedEvent, forgotten: Mapping[str, float]) -> None:
    """Learn from one event of a log; see `learned_from`."""
    features = event.features
    if forgotten:
        dropped = {name for name, since in forgotten.items() if name in features and event.at <= since}
        features = {name: value for name, value in features.items() if name not in dropped}
    age = None if event.published is None else max(event.at - event.published, 0.0)
    weights.learn(features, event.kind, event.at, age=age)


def kind_of(name: str) -> str:
    """Return the kind of a feature: "keyword" of "keyword:rain"."""
    return name[: name.index(":")]


def age_value(age: float) -> float:
    """Return log2(1 + days), the model's value of an age (seconds)."""
    return math.log2(1 + max(age, 0.0) / DAY)


def sigmoid(odds: float) -> float:
    """Return the probability of log odds, without overflow."""
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    return math.exp(odds) / (1 + math.exp(odds))


def _minimum(before: float, spread: float, target: float) -> float:
    """Return the log odds z at the minimum: z = before + spread (target - sigmoid(z)).

    The right side falls with z, so there is one solution, between `before` and the right side there.
    """
    low, high = sorted((before, before + spread * (target - sigmoid(before))))
    z, last_step = before, high - low
    for _ in range(100):
        chance = sigmoid(z)
        residual = z - before - spread * (target - chance)
        low, high = (low, z) if residual > 0 else (z, high)
        step = z - residual / (1 + spread * chance * (1 - chance))
        # Newton's step where it is a short one, else half of what is left.
        is_newton_step = low <= step <= high and abs(step - z) <= last_step / 2
        next_z = step if is_newton_step else (low + high) / 2
        last_step = abs(next_z - z)
        z = next_z
        if last_step < 1e-12:
            break
    return z
