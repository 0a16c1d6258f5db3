"""What lists can be ordered by: the interest model, and the simpler ways that it has to beat.

Each ranker keeps what it learned of many subscribers, so that one pass over a log serves all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from articles.interest.model import STRENGTHS, LoggedEvent, Weights, learn_event
from articles.interest.ranking import Candidate, ranked_candidates


@dataclass(frozen=True, slots=True)
class ShownArticle:
    """An article in a list: `published` in epoch seconds, `unseen` when this subscriber never had it."""

    features: Mapping[str, float]
    published: float
    unseen: bool = True


class Ranker:
    """One way to order a subscriber's list."""

    name: str

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        """A number for each article, the best highest; equal ones are listed newest first."""
        raise NotImplementedError

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        """Take in what the subscriber did."""


class NewestFirst(Ranker):
    """By time of publication; learns nothing."""

    name = "newest"

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        return [each.published for each in shown]


class SourceAffinity(Ranker):
    """By feed: the share of its articles, of those shown, that this subscriber opened.

    The share is drawn towards the subscriber's own over all feeds, as if `PRIOR_SHOWN` more articles of the
    feed had been shown (a Beta prior), so that one opening does not outweigh everything.
    """

    name = "source-affinity"
    PRIOR_SHOWN = 10.0

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str], float] = defaultdict(float)
        self._opened: dict[tuple[str, str], float] = defaultdict(float)

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        overall = (self._opened[subscriber, ""] + 1) / (self._shown[subscriber, ""] + self.PRIOR_SHOWN)
        return [self._share(subscriber, _feed(each.features), overall) for each in shown]

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        counts = self._opened if STRENGTHS[event.kind][0] else self._shown
        for feed in {"", _feed(event.features)}:
            counts[subscriber, feed] += 1

    def _share(self, subscriber: str, feed: str, overall: float) -> float:
        opened = self._opened[subscriber, feed] if feed else 0.0
        seen = self._shown[subscriber, feed] if feed else 0.0
        return (opened + overall * self.PRIOR_SHOWN) / (seen + self.PRIOR_SHOWN)


class KeywordsOnly(Ranker):
    """By words: the similarity with the subscriber's profile, as Rocchio (1971) makes it.

    The profile is `LIKED` times the mean keyword vector of what was opened (or wanted, or saved) less
    `PASSED` times that of what was shown or refused; both factors are those of Manning, Raghavan and
    Schuetze, "Introduction to Information Retrieval" (2008), section 9.1.1.
    """

    name = "keywords"
    LIKED, PASSED = 0.75, 0.15

    def __init__(self) -> None:
        self._liked: dict[str, _Mean] = defaultdict(_Mean)
        self._passed: dict[str, _Mean] = defaultdict(_Mean)

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        liked, passed = self._liked[subscriber], self._passed[subscriber]
        words = [_words(each.features) for each in shown]
        return [self.LIKED * liked.dot(each) - self.PASSED * passed.dot(each) for each in words]

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        side = self._liked if STRENGTHS[event.kind][0] else self._passed
        side[subscriber].add(_words(event.features))


class _Mean:
    """The mean of sparse vectors."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = defaultdict(float)
        self._count = 0

    def add(self, vector: Mapping[str, float]) -> None:
        self._count += 1
        for name, value in vector.items():
            self._sums[name] += value

    def dot(self, vector: Mapping[str, float]) -> float:
        found = sum(value * self._sums.get(name, 0.0) for name, value in vector.items())
        return found / max(self._count, 1)


class InterestRanking(Ranker):
    """The model of `articles.interest.model`, without exploration."""

    name = "interest"

    def __init__(self) -> None:
        self.weights: dict[str, Weights] = defaultdict(Weights)

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        aged = self.weights[subscriber].aged(at)
        newest = max((each.published for each in shown), default=0.0)
        return [aged.score(each.features) + aged.recency(newest - each.published) for each in shown]

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        learn_event(self.weights[subscriber], event, {})


class InterestKeywords(InterestRanking):
    """The same model with keywords alone: what categories, feeds and authors add is the difference."""

    name = "interest-keywords"

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        return super().scores(
            subscriber, [ShownArticle(_words(each.features), each.published) for each in shown], at
        )

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        super().learn(subscriber, event._replace(features=_words(event.features)))


class InterestExploring(Ranker):
    """The model with the place in ten that goes to what is least known: the list as it is served.

    What it scores with learns by itself.
    """

    name = "interest-exploring"

    def __init__(self, interest: InterestRanking) -> None:
        self._interest = interest

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        candidates = [
            Candidate(i, each.published, each.features, each.unseen) for i, each in enumerate(shown)
        ]
        placed = ranked_candidates(self._interest.weights[subscriber], candidates)
        places = {each.article_id: place for place, each in enumerate(placed)}
        return [-float(places[i]) for i in range(len(shown))]


def rankers() -> list[Ranker]:
    """One of each, having learned nothing."""
    interest = InterestRanking()
    return [
        NewestFirst(),
        SourceAffinity(),
        KeywordsOnly(),
        interest,
        InterestKeywords(),
        InterestExploring(interest),
    ]


def _feed(features: Mapping[str, float]) -> str:
    return next((name for name in features if name.startswith("feed:")), "")


def _words(features: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in features.items() if name.startswith("keyword:")}
