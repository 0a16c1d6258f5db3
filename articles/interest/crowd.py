"""The crowd: articles that all subscribers of a deployment open, beside one's own interest. Pure.

An article's score is a weighted sum of signals, each of which is 0 if nothing is known:

    personal    the subscriber's own weights for its features (`model`)
    recency     the subscriber's own slope times its age
    popularity  how often it is opened when it is shown, to anybody
    exposure    the logarithm of how often it was shown
    category    how often articles of its categories and authors are opened
    feed        how often articles of its feed are opened
    words       how often articles with its keywords are opened
    age         minus the logarithm of its age in hours
    seen        minus one where the subscriber was shown it before

Rates are logarithms of shares of openings against the share of all articles, drawn to 0 where few were shown;
old showings count less. The weights are learned from lists: at an opening, those of a conditional logit
(McFadden 1974) take a step that makes the opened article more likely among those shown with it (AdaGrad,
Duchi and others 2011). Until enough lists were opened, nothing but the subscriber's own weights counts.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

DAY = 86_400.0
SIGNALS = ("personal", "recency", "popularity", "exposure", "category", "feed", "words", "age", "seen")
PRIOR_WEIGHTS = np.array([1.0, 1.0, 0.8, 0.0, 0.4, 0.3, 0.4, 0.0, 0.1])
MIN_LISTS = 100
"""Opened lists that the weights are learned from before they are used."""
RATE = 0.05
"""AdaGrad's rate of learning."""
ARTICLE_HALF_LIFE, KIND_HALF_LIFE = 5 * DAY, 30 * DAY
ARTICLE_PRIOR, KIND_PRIOR, WORD_PRIOR = 2.0, 5.0, 5.0
"""Openings as usual that are added to those of an article, of a category or feed, of a word."""
LIST_GAP = 600.0
"""Seconds: showings of a subscriber further apart are of different lists."""
MAX_LIST = 300
"""Articles of one list that are learned from."""
MAX_NAMES = 200_000
"""Articles and features with rates; beyond that, those shown least are dropped."""

_OWN = ("personal", "recency")
_COUNTS_STILL = 0.5
"""Showings below which a rate is not kept."""

Vector = np.ndarray
"""Signals of one article, one each of SIGNALS."""


@dataclass(slots=True)
class Rate:
    """Showings and openings, as they count at a time."""

    showings: float = 0.0
    opened: float = 0.0
    at: float = 0.0

    def aged(self, at: float, half_life: float) -> tuple[float, float]:
        """Return showings and openings as they count at a later time."""
        share = 0.5 ** ((at - self.at) / half_life) if at > self.at else 1.0
        return self.showings * share, self.opened * share

    def add(self, at: float, half_life: float, *, showings: float = 0.0, opened: float = 0.0) -> None:
        """Count showings or openings at a time."""
        had_showings, had_opened = self.aged(at, half_life)
        self.showings, self.opened, self.at = had_showings + showings, had_opened + opened, max(at, self.at)


@dataclass(slots=True)
class _List:
    """The newest list of a subscriber: the signals of its articles as they were shown."""

    last: float
    signals: dict[str, Vector] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Crowd:
    """Rates of articles and of their features, and the weights of the signals."""

    articles: dict[str, Rate] = field(default_factory=dict)
    features: dict[str, Rate] = field(default_factory=dict)
    overall: Rate = field(default_factory=Rate)
    weights: Vector = field(default_factory=PRIOR_WEIGHTS.copy)
    squares: Vector = field(default_factory=lambda: np.ones(len(SIGNALS)))
    lists: int = 0
    _newest: dict[str, _List] = field(default_factory=dict)

    @property
    def is_learned(self) -> bool:
        """True where the weights are learned from enough lists to be used."""
        return self.lists >= MIN_LISTS

    def signals(
        self, article: str, features: Mapping[str, float], *, at: float, age: float, is_seen: bool,
        personal: float = 0.0, recency: float = 0.0,
    ) -> Vector:  # fmt: skip
        """Return the signals of an article at a time. `age` is in seconds."""
        share = self._share(at)
        values: dict[str, list[float]] = {"category": [], "feed": [], "words": []}
        words = 0.0
        for name, value in features.items():
            kind = name[: name.index(":")]
            rate = self.features.get(name)
            if kind == "keyword":
                words += abs(value)
                if rate is not None:
                    values["words"].append(abs(value) * self._log_ratio(rate, at, share, WORD_PRIOR))
            elif rate is not None:
                group = "feed" if kind == "feed" else "category"
                values[group].append(self._log_ratio(rate, at, share, KIND_PRIOR))
        rate = self.articles.get(article)
        popularity = exposure = 0.0
        if rate is not None:
            exposure = math.log2(1 + rate.aged(at, ARTICLE_HALF_LIFE)[0])
            popularity = self._log_ratio(rate, at, share, ARTICLE_PRIOR, ARTICLE_HALF_LIFE)
        return np.array(
            [
                personal,
                recency,
                popularity,
                exposure,
                sum(values["category"]),
                sum(values["feed"]),
                sum(values["words"]) / words if words else 0.0,
                -math.log2(1 + max(age, 0.0) / 3600),
                -1.0 if is_seen else 0.0,
            ]
        )

    def score(self, signals: Vector) -> float:
        """Return the weighted sum of an article's signals."""
        return float(self.weights @ signals)

    def learn_shown(
        self, subscriber: str, article: str, features: Mapping[str, float], signals: Vector, at: float
    ) -> None:
        """Learn that a subscriber was shown an article; `signals` are those before."""
        newest = self._newest.get(subscriber)
        if newest is None or at - newest.last > LIST_GAP or article in newest.signals:
            newest = self._newest[subscriber] = _List(at)
        newest.last = at
        if len(newest.signals) < MAX_LIST:
            newest.signals[article] = signals
        self._count(article, features, at, showings=1.0)

    def learn_opened(self, subscriber: str, article: str, features: Mapping[str, float], at: float) -> None:
        """Learn that a subscriber opened an article of the newest list."""
        newest = self._newest.get(subscriber)
        if newest is None or article not in newest.signals or article in newest.opened:
            return  # of no list that is known: it says nothing of a share of showings
        newest.opened.add(article)
        others = [signals for name, signals in newest.signals.items() if name not in newest.opened]
        if others:
            self._step(newest.signals[article], np.array(others))
            self.lists += 1
        self._count(article, features, at, opened=1.0)

    def parts(self, signals: Vector) -> dict[str, float]:
        """Return by signal what the crowd adds to a score; of one's own weights, what it changes."""
        alone = np.zeros(len(SIGNALS))
        alone[: len(_OWN)] = 1.0
        added = (self.weights - alone) * signals
        return dict(zip(SIGNALS, added.tolist(), strict=True))

    def packed(self, at: float) -> bytes:
        """Pack rates and weights as compressed JSON, without what no longer counts at a time."""
        plain = {
            "articles": _plain(self.articles, at, ARTICLE_HALF_LIFE),
            "features": _plain(self.features, at, KIND_HALF_LIFE),
            "overall": [*self.overall.aged(at, KIND_HALF_LIFE), at],
            "weights": self.weights.tolist(),
            "lists": self.lists,
        }
        return zlib.compress(json.dumps(plain).encode(), 1)

    @classmethod
    def unpacked(cls, packed: bytes) -> Crowd:
        """Unpack the result of `packed`. Returns an empty crowd for anything else."""
        try:
            plain = json.loads(zlib.decompress(packed))
            weights = np.array(plain["weights"], dtype=np.float64)
            if weights.shape != PRIOR_WEIGHTS.shape or not np.isfinite(weights).all():
                return cls()
            articles, features = (
                {name: Rate(*row) for name, row in plain[key].items()} for key in ("articles", "features")
            )
            return cls(articles, features, Rate(*plain["overall"]), weights, lists=int(plain["lists"]))
        except (zlib.error, ValueError, TypeError, KeyError, AttributeError):
            return cls()

    def _share(self, at: float) -> float:
        """Return the share of all showings that were opened."""
        showings, opened = self.overall.aged(at, KIND_HALF_LIFE)
        return (opened + 1.0) / (showings + 20.0)

    def _log_ratio(
        self, rate: Rate, at: float, share: float, prior: float, half_life: float = KIND_HALF_LIFE
    ) -> float:
        """Return the logarithm of a rate against the share of all, drawn to 0 by `prior` openings."""
        showings, opened = rate.aged(at, half_life)
        return math.log((opened + prior) / (max(showings, opened) * share + prior))

    def _count(
        self,
        article: str,
        features: Mapping[str, float],
        at: float,
        *,
        showings: float = 0.0,
        opened: float = 0.0,
    ) -> None:
        """Count a showing or an opening for the article, its features and all."""
        self.overall.add(at, KIND_HALF_LIFE, showings=showings, opened=opened)
        self.articles.setdefault(article, Rate(at=at)).add(
            at, ARTICLE_HALF_LIFE, showings=showings, opened=opened
        )
        for name in features:
            self.features.setdefault(name, Rate(at=at)).add(
                at, KIND_HALF_LIFE, showings=showings, opened=opened
            )
        for rates in (self.articles, self.features):
            if len(rates) > MAX_NAMES:
                _drop_least(rates)

    def _step(self, opened: Vector, others: np.ndarray) -> None:
        """Move the weights so that an opened article becomes more likely among the others."""
        rows = np.vstack([opened, others])
        odds = rows @ self.weights
        chances = np.exp(odds - odds.max())
        chances /= chances.sum()
        gradient = rows.T @ chances - opened
        self.squares += gradient**2
        self.weights -= RATE * gradient / np.sqrt(self.squares)


def _drop_least(rates: dict[str, Rate]) -> None:
    """Drop the fifth of the names that were shown least."""
    rarest_names = sorted(rates, key=lambda name: rates[name].showings)[: len(rates) // 5]
    for name in rarest_names:
        del rates[name]


def _plain(rates: Mapping[str, Rate], at: float, half_life: float) -> dict[str, list[float]]:
    aged = {name: rate.aged(at, half_life) for name, rate in rates.items()}
    return {
        name: [round(showings, 2), round(opened, 2), at]
        for name, (showings, opened) in aged.items()
        if showings >= _COUNTS_STILL
    }
