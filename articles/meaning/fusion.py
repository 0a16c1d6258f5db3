"""Reciprocal rank fusion of ranked lists (Cormack, Clarke and Büttcher, SIGIR 2009). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

K = 60
"""The constant of the paper: how little the first ranks count more than those behind them."""


def fused(*rankings: Sequence[int]) -> list[int]:
    """Return the keys of all rankings by the sum of 1 / (K + rank), the earlier ranking first at a tie."""
    scores: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] += 1 / (K + rank)
    return sorted(scores, key=lambda key: -scores[key])
