"""In which order a crawl takes its URLs: pure rules, for the live queue and the comparison alike.

The queue is ordered by score, the highest first, and among equals by the time of insertion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crawler.frontier.score import INTER_WEIGHT, INTRA_WEIGHT, SEED_SCORE, LinkScores, link_scores


@dataclass(frozen=True, slots=True)
class Parent:
    """The page whose links are scored: its depth (seeds 0), its own score, and its links by class."""

    depth: int
    score: float
    inter: int
    intra: int


class Strategy:
    """Scores seeds and the links of a page; `name` is what people choose it by.

    `accumulates`: a URL that is found again while it waits gains the new score, as cash is paid in.
    `by_turns`: hosts are served in turn, the longest unserved first, instead of by their best URL.
    """

    name: ClassVar[str]
    accumulates: ClassVar[bool] = False
    by_turns: ClassVar[bool] = False

    def seed(self, seeds: int) -> float:
        """The score of each of so many seeds: all alike."""
        return 0.0

    def links(self, parent: Parent) -> LinkScores:
        """The scores of a page's links, by class."""
        raise NotImplementedError


@dataclass(frozen=True)
class LinkScore(Strategy):
    """The paper's rule, and the default."""

    name = "link-score"
    inter_weight: float = INTER_WEIGHT
    intra_weight: float = INTRA_WEIGHT

    def seed(self, seeds: int) -> float:
        """Seeds weigh 1."""
        return SEED_SCORE

    def links(self, parent: Parent) -> LinkScores:
        """By the balance of the page's links alone."""
        return link_scores(parent.inter, parent.intra, self.inter_weight, self.intra_weight)


class BreadthFirst(Strategy):
    """Nearest to the seeds first."""

    name = "breadth-first"

    def links(self, parent: Parent) -> LinkScores:
        """The deeper, the lower; seeds have the highest score there is."""
        return LinkScores(-parent.depth - 1.0, -parent.depth - 1.0)


class Opic(Strategy):
    """On-line page importance computation (Abiteboul, Preda and Cobena 2003): cash flows along links.

    Each seed begins with an equal share of 1; a crawled page pays its cash in equal parts to its links.
    Pages already crawled take no more part, so that cash paid to them is lost, as in crawls that take
    every page once.
    """

    name = "opic"
    accumulates = True

    def seed(self, seeds: int) -> float:
        """An equal share."""
        return 1.0 / max(seeds, 1)

    def links(self, parent: Parent) -> LinkScores:
        """An equal part of the page's cash."""
        part = parent.score / max(parent.inter + parent.intra, 1)
        return LinkScores(part, part)


class HostRoundRobin(Strategy):
    """Hosts in turn, and first in, first out within each."""

    name = "host-round-robin"
    by_turns = True

    def links(self, parent: Parent) -> LinkScores:
        """All alike."""
        return LinkScores(0.0, 0.0)


STRATEGIES = {made.name: made for made in (LinkScore, BreadthFirst, Opic, HostRoundRobin)}


def make_strategy(
    name: str, inter_weight: float = INTER_WEIGHT, intra_weight: float = INTRA_WEIGHT
) -> Strategy:
    """The strategy of that name; the weights are for `link-score`. Raises ValueError for an unknown one."""
    if name not in STRATEGIES:
        raise ValueError(f"there is no strategy {name!r}; choose one of {', '.join(STRATEGIES)}")
    if name == "link-score":
        return LinkScore(inter_weight, intra_weight)
    return STRATEGIES[name]()
