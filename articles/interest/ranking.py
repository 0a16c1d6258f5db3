"""The order by interest: score and recency, with one place in ten for what is least known.

It depends on the weights and the candidates alone, not on the clock: ages are counted from the newest
candidate, and weights are aged to its time, so that a list asked for twice is the same list.
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
    """An article in its place: the score of its features, what its age takes from that, and why it is here.

    `exploring` marks a place that was given to learn about the article, not for its score.
    """

    article_id: int
    score: float
    recency: float = 0.0
    exploring: bool = False


def ranked_candidates(
    weights: Weights, candidates: Sequence[Candidate], most: int | None = None
) -> list[Placed]:
    """By score plus recency, ties newest first; the first `most`, or all.

    Without weights: newest first, nothing explored.
    """
    newest = max((each.published for each in candidates), default=0.0)
    if not weights.learned:
        return [Placed(each.article, 0.0) for each in sorted(candidates, key=_newest_first)[:most]]
    aged = weights.aged(newest)
    scored = [
        _Scored(*aged.score_and_variance(each.features), aged.recency(newest - each.published), each)
        for each in candidates
    ]
    scored.sort(key=lambda one: (-(one.score + one.recency), *_newest_first(one.candidate)))
    return _with_exploration(scored, len(scored) if most is None else min(most, len(scored)))


def _with_exploration(ordered: Sequence[_Scored], most: int) -> list[Placed]:
    """Every tenth place goes to the unseen article with the most uncertain score among those that remain."""
    unseen = (one for one in ordered if one.candidate.unseen)
    by_doubt = iter(sorted(unseen, key=lambda one: (-one.variance, *_newest_first(one.candidate))))
    in_order = iter(ordered)
    done: list[Placed] = []
    taken: set[int] = set()
    while len(done) < most:
        tenth = len(done) % EXPLORE_EVERY == EXPLORE_EVERY - 1
        explored = (
            next((one for one in by_doubt if one.candidate.article not in taken), None) if tenth else None
        )
        chosen = explored or next(one for one in in_order if one.candidate.article not in taken)
        taken.add(chosen.candidate.article)
        done.append(
            Placed(chosen.candidate.article, chosen.score, chosen.recency, exploring=explored is not None)
        )
    return done


def _newest_first(each: Candidate) -> tuple[float, int]:
    return (-each.published, -each.article)
