"""The order by interest: score and recency, with one place in ten for what is least known.

It depends on the weights and the candidates alone, not on the clock: ages are counted from the newest
candidate, and weights are aged to its time, so that a list asked for twice is the same list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from articles.interest.model import Aged, Weights

EXPLORE_EVERY = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """An article that may be listed: `published` in epoch seconds, `unseen` when it was never shown."""

    article: int
    published: float
    features: Mapping[str, float]
    unseen: bool = True


@dataclass(frozen=True, slots=True)
class Placed:
    """An article in its place: the score of its features, what its age takes from that, and why it is here.

    `exploring` marks a place that was given to learn about the article, not for its score.
    """

    article_id: int
    score: float
    recency: float = 0.0
    exploring: bool = False


def ranked_candidates(weights: Weights, candidates: Sequence[Candidate]) -> list[Placed]:
    """By score plus recency, ties newest first. Without weights: newest first, nothing explored."""
    newest = max((each.published for each in candidates), default=0.0)
    if not weights.learned:
        return [Placed(each.article, 0.0) for each in sorted(candidates, key=_newest_first)]
    aged = weights.aged(newest)
    placed = {
        each.article: Placed(
            each.article,
            aged.score(each.features),
            aged.recency(newest - each.published),
        )
        for each in candidates
    }

    def best_first(each: Candidate) -> tuple[float, float, int]:
        found = placed[each.article]
        return (-(found.score + found.recency), *_newest_first(each))

    return _with_exploration(aged, sorted(candidates, key=best_first), placed)


def _with_exploration(aged: Aged, ordered: Sequence[Candidate], placed: Mapping[int, Placed]) -> list[Placed]:
    """Every tenth place goes to the unseen article with the most uncertain score among those that remain."""
    slots = len(ordered) // EXPLORE_EVERY
    unseen = [each for each in ordered if each.unseen] if slots else []
    unsure = sorted(unseen, key=lambda each: (-aged.variance(each.features), *_newest_first(each)))
    done: list[Placed] = []
    taken: set[int] = set()
    in_order, by_doubt = iter(ordered), iter(unsure)
    while len(done) < len(ordered):
        tenth = len(done) % EXPLORE_EVERY == EXPLORE_EVERY - 1
        explored = next((each for each in by_doubt if each.article not in taken), None) if tenth else None
        each = explored or next(each for each in in_order if each.article not in taken)
        taken.add(each.article)
        plain = placed[each.article]
        done.append(
            Placed(plain.article_id, plain.score, plain.recency, exploring=True) if explored else plain
        )
    return done


def _newest_first(each: Candidate) -> tuple[float, int]:
    return (-each.published, -each.article)
