"""Rankers of lists that the interest model has to beat, and parts of it to be measured alone.

Each ranker keeps its state for many subscribers, so that one pass over a log serves all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from articles.interest.model import STRENGTHS, LoggedEvent, Weights, learn_event
from articles.interest.ranking import Candidate, InterestRanking, Ranker, ShownArticle, ranked_candidates


class NewestFirst(Ranker):
    """A ranker by time of publication, which learns nothing."""

    name = "newest"

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        return [article.published for article in articles]


class SourceAffinity(Ranker):
    """A ranker by feed: the share of its shown articles that this subscriber opened.

    The share is shrunk towards the subscriber's share over all feeds, as if `PRIOR_SHOWN` more articles of
    the feed had been shown (a Beta prior), so that one opening does not outweigh everything.
    """

    name = "source-affinity"
    PRIOR_SHOWN = 10.0

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str], float] = defaultdict(float)
        self._opened: dict[tuple[str, str], float] = defaultdict(float)

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        overall = (self._opened[subscriber, ""] + 1) / (self._shown[subscriber, ""] + self.PRIOR_SHOWN)
        return [self._share(subscriber, _feed(article.features), overall) for article in articles]

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        counts = self._opened if STRENGTHS[event.kind][0] else self._shown
        for feed in {"", _feed(event.features)}:
            counts[subscriber, feed] += 1

    def _share(self, subscriber: str, feed: str, overall: float) -> float:
        openings = self._opened[subscriber, feed] if feed else 0.0
        showings = self._shown[subscriber, feed] if feed else 0.0
        return (openings + overall * self.PRIOR_SHOWN) / (showings + self.PRIOR_SHOWN)


class KeywordsOnly(Ranker):
    """A ranker by words: the similarity with the subscriber's profile (Rocchio, 1971).

    The profile is `LIKED` times the mean keyword vector of opened, wanted or saved articles, less `PASSED`
    times that of shown or refused articles. Both factors are from Manning, Raghavan and Schuetze,
    "Introduction to Information Retrieval" (2008), section 9.1.1.
    """

    name = "keywords"
    LIKED, PASSED = 0.75, 0.15

    def __init__(self) -> None:
        self._liked: dict[str, _Mean] = defaultdict(_Mean)
        self._passed: dict[str, _Mean] = defaultdict(_Mean)

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        liked, passed = self._liked[subscriber], self._passed[subscriber]
        words = [_words(each.features) for each in articles]
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
        total = sum(value * self._sums.get(name, 0.0) for name, value in vector.items())
        return total / max(self._count, 1)


class Popularity(Ranker):
    """A ranker by the share of an article's showings that anybody opened, drawn to that of all articles."""

    name = "popularity"
    PRIOR_SHOWN = 15.0

    def __init__(self) -> None:
        self._shown: dict[str, float] = defaultdict(float)
        self._opened: dict[str, float] = defaultdict(float)

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        overall = (self._opened[""] + 1) / (self._shown[""] + self.PRIOR_SHOWN)
        return [
            (self._opened[each.article] + overall * self.PRIOR_SHOWN)
            / (self._shown[each.article] + self.PRIOR_SHOWN)
            for each in articles
        ]

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        counts = self._opened if STRENGTHS[event.kind][0] else self._shown
        for name in {"", event.article}:
            counts[name] += 1


class InterestPersonal(Ranker):
    """A ranker by the subscriber's own weights alone, to measure the value of the crowd."""

    name = "interest-personal"

    def __init__(self) -> None:
        self.weights: dict[str, Weights] = defaultdict(Weights)

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        aged = self.weights[subscriber].aged(at)
        newest = max((article.published for article in articles), default=0.0)
        return [
            aged.score(article.features) + aged.recency(newest - article.published) for article in articles
        ]

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        learn_event(self.weights[subscriber], event, {})


class InterestKeywords(InterestPersonal):
    """A ranker by the interest model with keywords alone, to measure the value of the other features."""

    name = "interest-keywords"

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        return super().scores(
            subscriber,
            [ShownArticle(_words(article.features), article.published) for article in articles],
            at,
        )

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        super().learn(subscriber, event._replace(features=_words(event.features)))


class InterestExploring(Ranker):
    """A ranker with exploration, which gives one place in ten to the most uncertain article, as in served
    lists.

    It has no state of its own: the given `interest` ranker learns separately.
    """

    name = "interest-exploring"

    def __init__(self, interest: InterestRanking) -> None:
        self._interest = interest

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        candidates = [
            Candidate(i, each.published, each.features, each.unseen, each.article)
            for i, each in enumerate(articles)
        ]
        placed = ranked_candidates(self._interest.weights[subscriber], candidates, crowd=self._interest.crowd)
        places = {each.article_id: place for place, each in enumerate(placed)}
        return [-float(places[i]) for i in range(len(articles))]


def rankers() -> list[Ranker]:
    """Return one untrained ranker of each kind."""
    interest = InterestRanking()
    return [
        NewestFirst(),
        SourceAffinity(),
        KeywordsOnly(),
        Popularity(),
        interest,
        InterestPersonal(),
        InterestKeywords(),
        InterestExploring(interest),
    ]


def _feed(features: Mapping[str, float]) -> str:
    return next((name for name in features if name.startswith("feed:")), "")


def _words(features: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in features.items() if name.startswith("keyword:")}
