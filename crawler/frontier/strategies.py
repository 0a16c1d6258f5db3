"""Strategies: the order in which a crawl takes its URLs, for the live queue and the comparison. Pure.

The queue is ordered by descending score, and among equal scores by time of insertion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crawler.frontier.score import INTER_WEIGHT, INTRA_WEIGHT, SEED_SCORE, LinkScores, link_scores


@dataclass(frozen=True, slots=True)
class Parent:
    """The page whose links are scored: its depth (0 for seeds), its own score, and its links by class."""

    depth: int
    score: float
    inter: int
    intra: int


class Strategy:
    """The base class of strategies, which score seeds and the links of a page.

    `name` is how people choose it. `accumulates`: a waiting URL that is found again gains the new score, as
    cash is paid in. `by_turns`: hosts are served in turn, the longest unserved first, instead of by their
    best URL.
    """

    name: ClassVar[str]
    accumulates: ClassVar[bool] = False
    by_turns: ClassVar[bool] = False

    def seed(self, seeds: int) -> float:
        """Return the score of each of `seeds` seeds."""
        return 0.0

    def links(self, parent: Parent) -> LinkScores:
        """Return the scores of a page's links, by class."""
        raise NotImplementedError


@dataclass(frozen=True)
class LinkScore(Strategy):
    """The rule of Baker and Akcayol (2017)."""

    name = "link-score"
    inter_weight: float = INTER_WEIGHT
    intra_weight: float = INTRA_WEIGHT

    def seed(self, seeds: int) -> float:
        """Return SEED_SCORE."""
        return SEED_SCORE

    def links(self, parent: Parent) -> LinkScores:
        """Return the paper's link scores, which depend only on the page's numbers of links."""
        return link_scores(parent.inter, parent.intra, self.inter_weight, self.intra_weight)


class BreadthFirst(Strategy):
    """A strategy that takes the URLs nearest to the seeds first."""

    name = "breadth-first"

    def links(self, parent: Parent) -> LinkScores:
        """Return scores that fall with depth. Seeds have the highest score, 0."""
        return LinkScores(-parent.depth - 1.0, -parent.depth - 1.0)


class Opic(Strategy):
    """On-line page importance computation (Abiteboul, Preda and Cobena 2003): cash flows along links.

    Each seed begins with an equal share of 1, and a crawled page pays its cash in equal parts to its links. A
    crawled page gets no more cash, so that cash paid to it is lost, as in any crawl that takes every page
    once.
    """

    name = "opic"
    accumulates = True

    def seed(self, seeds: int) -> float:
        """Return an equal share of 1."""
        return 1.0 / max(seeds, 1)

    def links(self, parent: Parent) -> LinkScores:
        """Return an equal part of the page's cash for every link."""
        part = parent.score / max(parent.inter + parent.intra, 1)
        return LinkScores(part, part)


class HostRoundRobin(Strategy):
    """A strategy that serves hosts in turn, first in, first out within each host."""

    name = "host-round-robin"
    by_turns = True

    def links(self, parent: Parent) -> LinkScores:
        """Return 0 for every link."""
        return LinkScores(0.0, 0.0)


STRATEGIES = {
    strategy_class.name: strategy_class for strategy_class in (LinkScore, BreadthFirst, Opic, HostRoundRobin)
}
DEFAULT = "opic"
"""The one that finds important pages first on recorded links (`manage.py crawl_strategies`)."""


def make_strategy(
    name: str, inter_weight: float = INTER_WEIGHT, intra_weight: float = INTRA_WEIGHT
) -> Strategy:
    """Return the strategy of this name. The weights are for `link-score`.

    Raises ValueError for an unknown name.
    """
    if name not in STRATEGIES:
        raise ValueError(f"there is no strategy {name!r}; choose one of {', '.join(STRATEGIES)}")
    if name == "link-score":
        return LinkScore(inter_weight, intra_weight)
    return STRATEGIES[name]()
