"""The order by interest: score and recency, with one place in ten for the most uncertain article.

The order depends on the weights and the candidates alone, not on the clock: ages are counted from the newest
candidate, and weights are aged to its time, so that a list requested twice is the same list.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from articles.interest.crowd import Crowd
from articles.interest.model import STRENGTHS, LoggedEvent, Weights, learn_event

EXPLORE_EVERY = 10


class Candidate(NamedTuple):
    """An article that may be listed: `published` in epoch seconds, `unseen` when it was never shown.

    `name` is its name in the crowd's rates.
    """

    article: int
    published: float
    features: Mapping[str, float]
    unseen: bool = True
    name: str = ""


class Scored(NamedTuple):
    """A candidate with the parts of its score: its features', their variance, its age's and the crowd's.

    All are in log odds and add up to `total`.
    """

    score: float
    variance: float
    recency: float
    candidate: Candidate
    crowd: float = 0.0

    @property
    def total(self) -> float:
        """The score that the candidate is ordered by."""
        return self.score + self.recency + self.crowd


@dataclass(frozen=True, slots=True)
class Placed:
    """An article in its place: the scores of its features and of the crowd, and its recency, 0 or less.

    `exploring` marks a place that was given to learn about the article, not for its score.
    """

    article_id: int
    score: float
    recency: float = 0.0
    exploring: bool = False
    crowd: float = 0.0


def ranked_candidates(
    weights: Weights, candidates: Sequence[Candidate], limit: int | None = None, crowd: Crowd | None = None
) -> list[Placed]:
    """Order candidates by their scores, ties newest first. Returns the first `limit`, or all.

    Without weights and without a crowd that has learned enough, the order is newest first, without
    exploration.
    """
    if not weights.is_informed and not (crowd and crowd.is_learned):
        return [Placed(candidate.article, 0.0) for candidate in sorted(candidates, key=_newest_first)[:limit]]
    scored = scored_candidates(weights, candidates, crowd)
    scored.sort(key=lambda entry: (-entry.total, *_newest_first(entry.candidate)))
    size = len(scored) if limit is None else min(limit, len(scored))
    if not weights.is_informed:
        return [_placed(entry) for entry in scored[:size]]
    return _with_exploration(scored, size)


def scored_candidates(
    weights: Weights, candidates: Sequence[Candidate], crowd: Crowd | None = None
) -> list[Scored]:
    """Return the candidates with their scores, in their order. Ages are counted from the newest one."""
    newest = max((candidate.published for candidate in candidates), default=0.0)
    aged = weights.aged(newest)
    scored: list[Scored] = []
    for candidate in candidates:
        score, variance = aged.score_and_variance(candidate.features)
        age = newest - candidate.published
        recency, of_crowd = aged.recency(age), 0.0
        if crowd is not None and crowd.is_learned:
            signals = crowd.signals(
                candidate.name or str(candidate.article), candidate.features, at=newest, age=age,
                is_seen=not candidate.unseen, personal=score, recency=recency,
            )  # fmt: skip
            of_crowd = crowd.score(signals) - score - recency
        scored.append(Scored(score, variance, recency, candidate, of_crowd))
    return scored


def _placed(entry: Scored, *, exploring: bool = False) -> Placed:
    return Placed(entry.candidate.article, entry.score, entry.recency, exploring, entry.crowd)


def _with_exploration(ordered: Sequence[Scored], size: int) -> list[Placed]:
    """Give every tenth place to the unseen article with the most uncertain score among those that remain."""
    unseen = (entry for entry in ordered if entry.candidate.unseen)
    by_doubt = iter(sorted(unseen, key=lambda entry: (-entry.variance, *_newest_first(entry.candidate))))
    in_order = iter(ordered)
    placed: list[Placed] = []
    placed_keys: set[int] = set()
    while len(placed) < size:
        tenth = len(placed) % EXPLORE_EVERY == EXPLORE_EVERY - 1
        explored = (
            next((entry for entry in by_doubt if entry.candidate.article not in placed_keys), None)
            if tenth
            else None
        )
        chosen = explored or next(entry for entry in in_order if entry.candidate.article not in placed_keys)
        placed_keys.add(chosen.candidate.article)
        placed.append(_placed(chosen, exploring=explored is not None))
    return placed


def _newest_first(candidate: Candidate) -> tuple[float, int]:
    return (-candidate.published, -candidate.article)


@dataclass(frozen=True, slots=True)
class ShownArticle:
    """An article in a list: `published` in epoch seconds, `unseen` when it was never shown to this
    subscriber.
    """

    features: Mapping[str, float]
    published: float
    unseen: bool = True
    article: str = ""


class Ranker:
    """A method to order a subscriber's list."""

    name: str

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        """Return a score for each article, highest first in the list; ties are listed newest first."""
        raise NotImplementedError

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        """Learn from an event of the subscriber."""


class InterestRanking(Ranker):
    """A ranker by the subscriber's own weights and the crowd's, without exploration."""

    name = "interest"

    def __init__(self) -> None:
        self.weights: dict[str, Weights] = defaultdict(Weights)
        self.crowd = Crowd()
        self._first: dict[str, float] = {}
        self._seen: set[tuple[str, str]] = set()

    def scores(self, subscriber: str, articles: Sequence[ShownArticle], at: float) -> list[float]:
        candidates = [
            Candidate(i, each.published, each.features, each.unseen, each.article)
            for i, each in enumerate(articles)
        ]
        scored = {each.candidate.article: each.total for each in scored_candidates(
            self.weights[subscriber], candidates, self.crowd)}  # fmt: skip
        return [scored[i] for i in range(len(articles))]

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        weights, article = self.weights[subscriber], event.article
        if event.kind == "shown":
            aged = weights.aged(event.at)
            first = self._first.setdefault(article, event.at)
            age = max(event.at - (first if event.published is None else event.published), 0.0)
            signals = self.crowd.signals(
                article, event.features, at=event.at, age=age, is_seen=(subscriber, article) in self._seen,
                personal=aged.score(event.features), recency=aged.recency(age),
            )  # fmt: skip
            self.crowd.learn_shown(subscriber, article, event.features, signals, event.at)
            self._seen.add((subscriber, article))
        elif STRENGTHS[event.kind][0]:
            self.crowd.learn_opened(subscriber, article, event.features, event.at)
        learn_event(weights, event, {})
