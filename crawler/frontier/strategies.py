"""In which order a crawl takes its URLs: pure rules, for the live queue and the comparison alike.

The queue is ordered by score, the highest first, and among equals by the time of insertion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from crawler.frontier.score import INTER_WEIGHT, INTRA_WEIGHT, SEED_SCORE, LinkScores, link_scores


@dataclass(frozen=True, slots=True)
class Parent:
    """The page whose links are scored: its depth (seeds 0), its own score, and its links by class."""

    depth: int
    score: float
    inter: int
    intra: int


class Strategy(Protocol):
    """Scores seeds and the links of a page.

    `accumulates`: a URL that is found again while it waits gains the new score, as cash is paid in.
    `by_turns`: hosts are served in turn, the longest unserved first, instead of by their best URL.
    """

    @property
    def name(self) -> str:
        """As people choose it."""
        ...

    @property
    def accumulates(self) -> bool:
        """See above."""
        ...

    @property
    def by_turns(self) -> bool:
        """See above."""
        ...

    def seed(self, seeds: int) -> float:
        """The score of each of so many seeds."""
        ...

    def links(self, parent: Parent) -> LinkScores:
        """The scores of a page's links, by class."""
        ...


@dataclass(frozen=True, slots=True)
class LinkScore:
    """The paper's rule, and the default."""

    inter_weight: float = INTER_WEIGHT
    intra_weight: float = INTRA_WEIGHT
    name: str = "link-score"
    accumulates: bool = False
    by_turns: bool = False

    def seed(self, seeds: int) -> float:
        """Seeds weigh 1."""
        return SEED_SCORE

    def links(self, parent: Parent) -> LinkScores:
        """By the balance of the page's links alone."""
        return link_scores(parent.inter, parent.intra, self.inter_weight, self.intra_weight)


@dataclass(frozen=True, slots=True)
class BreadthFirst:
    """Nearest to the seeds first."""

    name: str = "breadth-first"
    accumulates: bool = False
    by_turns: bool = False

    def seed(self, seeds: int) -> float:
        """The highest score there is."""
        return 0.0

    def links(self, parent: Parent) -> LinkScores:
        """The deeper, the lower."""
        return LinkScores(-parent.depth - 1.0, -parent.depth - 1.0)


@dataclass(frozen=True, slots=True)
class Opic:
    """On-line page importance computation (Abiteboul, Preda and Cobena 2003): cash flows along links.

    Each seed begins with an equal share of 1; a crawled page pays its cash in equal parts to its links.
    Pages already crawled take no more part, so that cash paid to them is lost, as in crawls that take
    every page once.
    """

    name: str = "opic"
    accumulates: bool = True
    by_turns: bool = False

    def seed(self, seeds: int) -> float:
        """An equal share."""
        return 1.0 / max(seeds, 1)

    def links(self, parent: Parent) -> LinkScores:
        """An equal part of the page's cash."""
        part = parent.score / max(parent.inter + parent.intra, 1)
        return LinkScores(part, part)


@dataclass(frozen=True, slots=True)
class HostRoundRobin:
    """Hosts in turn, and first in, first out within each."""

    name: str = "host-round-robin"
    accumulates: bool = False
    by_turns: bool = True

    def seed(self, seeds: int) -> float:
        """All alike."""
        return 0.0

    def links(self, parent: Parent) -> LinkScores:
        """All alike."""
        return LinkScores(0.0, 0.0)


STRATEGIES: Mapping[str, Callable[[], Strategy]] = MappingProxyType(
    {
        "link-score": LinkScore,
        "breadth-first": BreadthFirst,
        "opic": Opic,
        "host-round-robin": HostRoundRobin,
    }
)


def make_strategy(
    name: str, inter_weight: float = INTER_WEIGHT, intra_weight: float = INTRA_WEIGHT
) -> Strategy:
    """The strategy of that name; the weights are for `link-score`. Raises ValueError for an unknown one."""
    if name not in STRATEGIES:
        raise ValueError(f"there is no strategy {name!r}; choose one of {', '.join(STRATEGIES)}")
    if name == "link-score":
        return LinkScore(inter_weight, intra_weight)
    return STRATEGIES[name]()
