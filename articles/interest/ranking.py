"""The order by interest: score and recency, with one place in ten for the most uncertain article.

The order depends on the weights and the candidates alone, not on the clock: ages are counted from the newest
candidate, and weights are aged to its time, so that a list requested twice is the same list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from articles.interest.model import Weights

EXPLORE_EVERY = 10


class Candidate(NamedTuple):
    """An article that may be listed: `published` in epoch seconds, `unseen` when it was never shown."""

    article: int
    published: float
    features: Mapping[str, float]
    unseen: bool = True


class _Scored(NamedTuple):
    score: float
    variance: float
    recency: float
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Placed:
    """An article in its place: the score of its features, and its recency, which is 0 or less.

    `exploring` marks a place that was given to learn about the article, not for its score.
    """

    article_id: int
    score: float
    recency: float = 0.0
    exploring: bool = False


def ranked_candidates(
    weights: Weights, candidates: Sequence[Candidate], limit: int | None = None
) -> list[Placed]:
    """Order candidates by score plus recency, ties newest first. Returns the first `limit`, or all.

    Without weights the order is newest first, without exploration.
    """
    newest = max((candidate.published for candidate in candidates), default=0.0)
    if not weights.learned:
        return [Placed(candidate.article, 0.0) for candidate in sorted(candidates, key=_newest_first)[:limit]]
    aged = weights.aged(newest)
    scored = [
        _Scored(
            *aged.score_and_variance(candidate.features),
            aged.recency(newest - candidate.published),
            candidate,
        )
        for candidate in candidates
    ]
    scored.sort(key=lambda entry: (-(entry.score + entry.recency), *_newest_first(entry.candidate)))
    return _with_exploration(scored, len(scored) if limit is None else min(limit, len(scored)))


def _with_exploration(ordered: Sequence[_Scored], size: int) -> list[Placed]:
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
        placed.append(
            Placed(chosen.candidate.article, chosen.score, chosen.recency, exploring=explored is not None)
        )
    return placed


def _newest_first(candidate: Candidate) -> tuple[float, int]:
    return (-candidate.published, -candidate.article)
