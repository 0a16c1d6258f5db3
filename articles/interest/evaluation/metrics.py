"""Measures of the rank of opened articles in a list, with intervals: AUC, nDCG@10, recall@20, bootstrap."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

METRICS = ("auc", "ndcg@10", "recall@20")
RESAMPLES = 1000
MANY_SUBSCRIBERS = 10

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % bootstrap interval over `sessions`; None if there was nothing to measure."""

    mean: float | None
    low: float | None
    high: float | None
    sessions: int


def measured(scores: Floats, opened: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return AUC, nDCG@10 and recall@20 of one list, given (n,) scores in the order that breaks ties.

    All are NaN without an opening; AUC is NaN also when every article was opened. AUC counts a tie as half
    (Mann-Whitney); gains are 1 for opened articles, the discount log2(1 + place).
    """
    opened_count = int(opened.sum())
    if not opened_count:
        return (np.nan, np.nan, np.nan)
    order = np.argsort(-scores, kind="stable")
    gains = opened[order]
    discounts = 1 / np.log2(np.arange(2, 12))
    best = discounts[: min(opened_count, 10)].sum()
    ndcg = float((gains[:10] * discounts[: len(gains[:10])]).sum() / best)
    return (_auc(scores, opened), ndcg, float(gains[:20].sum() / opened_count))


def _auc(scores: Floats, opened: npt.NDArray[np.bool_]) -> float:
    """Return the probability that an opened article stands before one that was not opened."""
    opened_scores, other_scores = scores[opened], np.sort(scores[~opened])
    if not len(other_scores):
        return float("nan")
    below = np.searchsorted(other_scores, opened_scores, side="left")
    not_above = np.searchsorted(other_scores, opened_scores, side="right")
    return float((below + not_above).mean() / (2 * len(other_scores)))


def resampled_by(subscribers: Sequence[Hashable]) -> str:
    """Return the unit of resampling: subscribers if there are enough (similar lists), else lists."""
    return "subscriber" if len(set(subscribers)) >= MANY_SUBSCRIBERS else "session"


def intervals(
    values: Floats, subscribers: Sequence[Hashable], *, seed: int = 1, resamples: int = RESAMPLES
) -> list[Interval]:
    """Return the mean of each column of (n, k) values by session, ignoring NaN, with a percentile bootstrap.

    `subscribers` names the subscriber of each session. All columns are resampled together, so that they stay
    comparable.
    """
    if resampled_by(subscribers) == "subscriber":
        owners = {name: i for i, name in enumerate(dict.fromkeys(subscribers))}
        unit = np.array([owners[name] for name in subscribers], dtype=np.int64)
    else:
        unit = np.arange(len(values))
    is_measured = ~np.isnan(values)
    units = int(unit.max(initial=-1)) + 1
    sums, counts = np.zeros((units, values.shape[1])), np.zeros((units, values.shape[1]))
    np.add.at(sums, unit, np.where(is_measured, values, 0.0))
    np.add.at(counts, unit, is_measured)
    random = np.random.default_rng(seed)
    means = np.full((resamples, values.shape[1]), np.nan)
    for i in range(resamples if units else 0):
        times = np.bincount(random.integers(0, units, units), minlength=units)
        with np.errstate(invalid="ignore"):
            means[i] = (times @ sums) / (times @ counts)
    return [_interval(sums[:, k].sum(), int(counts[:, k].sum()), means[:, k]) for k in range(values.shape[1])]


def _interval(total: float, sessions: int, means: Floats) -> Interval:
    drawn = means[~np.isnan(means)]
    if not sessions or not len(drawn):
        return Interval(None, None, None, 0)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Interval(float(total / sessions), float(low), float(high), sessions)
