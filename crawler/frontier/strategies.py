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
    best URL. `ranks_known`: waiting URLs are given the PageRank of the links known so far, each time the
    crawl has grown by half (`next_ranking`), and hosts are ordered by `promise`.
    """

    name: ClassVar[str]
    ranks_known: ClassVar[bool] = False
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


class KnownRank(Opic):
    """A strategy that goes by the PageRank of the links known so far (Cho, Garcia-Molina and Page 1998).

    It is OPIC whose cash is counted anew each time the crawl has grown by half: what is paid to a crawled
    page is lost to OPIC, and the rank passes it on. On recorded sites this closes 0.6 of the way from OPIC to
    an oracle (docs/crawling.md); ranking more often adds nothing.
    """

    name = "known-rank"
    ranks_known = True


class HostRoundRobin(Strategy):
    """A strategy that serves hosts in turn, first in, first out within each host."""

    name = "host-round-robin"
    by_turns = True

    def links(self, parent: Parent) -> LinkScores:
        """Return 0 for every link."""
        return LinkScores(0.0, 0.0)


STRATEGIES = {
    strategy_class.name: strategy_class
    for strategy_class in (LinkScore, BreadthFirst, Opic, KnownRank, HostRoundRobin)
}
DEFAULT = "known-rank"
"""The one that finds important pages first on recorded links (`manage.py crawl_strategies`)."""

FIRST_RANKING = 8
"""The pages that are crawled before the known links are first ranked."""


def next_ranking(crawled: int) -> int:
    """Return the number of crawled pages at which the known links are ranked again, after `crawled` pages."""
    # By half: ranking more often adds nothing on recorded sites, and each costs all known links.
    return max(crawled + 4, crawled * 3 // 2)


def promise(score: float, known_pages: int, crawled: int) -> float:
    """Return the score by which a host is ordered: its best URL's, by how much of the host is still to come.

    Links seen so far are a sample of the host's: a page that three of three crawled pages link to will have
    links from most of its `known_pages`.
    """
    # Half a page for a host of which none was crawled yet, instead of a division by zero.
    return score * known_pages / max(crawled, 0.5)


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
