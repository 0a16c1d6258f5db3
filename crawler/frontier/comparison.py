"""Comparison of all strategies on one recorded link graph: how early they reach important pages. Pure.

Uses the same scores and order as the live queue, with one page fetched at a time.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crawler.frontier.graph import Floats, LinkGraph, pagerank, ranks
from crawler.frontier.strategies import (
    FIRST_RANKING,
    RANK_TOLERANCE,
    STRATEGIES,
    Parent,
    Strategy,
    make_strategy,
    next_ranking,
)

POINTS = 200


@dataclass(frozen=True, slots=True)
class Course:
    """The course of one strategy: after so many `pages`, the `share` of the graph's PageRank fetched.

    `reached` is the number of pages fetched in all, `area` the mean share over them.
    """

    strategy: str
    pages: tuple[int, ...]
    share: tuple[float, ...]
    reached: int
    area: float

    def pages_for(self, share: float) -> int | None:
        """Return the number of pages fetched to reach this share. Returns None when it was never reached."""
        return next((p for p, s in zip(self.pages, self.share, strict=True) if s >= share), None)


def compare(graph: LinkGraph) -> list[Course]:
    """Return the courses of all strategies, and last that of an oracle that fetches the best pages first.

    `area` is the mean share over all pages fetched: 1 would be all importance in the first page.
    """
    rank = pagerank(graph)
    courses = [_course(name, np.array(crawl_order(graph, make_strategy(name))), rank) for name in STRATEGIES]
    reached = crawl_order(graph, make_strategy("breadth-first"))
    best = sorted(reached, key=lambda page: -rank[page])
    return [*courses, _course("oracle", np.array(best), rank)]


def crawl_order(graph: LinkGraph, strategy: Strategy) -> list[int]:
    """Return the pages in the order in which the strategy fetches them."""
    return (_by_turns if strategy.by_turns else _by_score)(graph, strategy)


def _by_score(graph: LinkGraph, strategy: Strategy) -> list[int]:
    order: list[int] = []
    score: dict[int, float] = {}
    depth: dict[int, int] = dict.fromkeys(graph.seeds, 0)
    number: dict[int, int] = {}
    crawled: set[int] = set()
    queue: list[tuple[float, int, int]] = []
    due = FIRST_RANKING
    for page in graph.seeds:
        score[page] = strategy.seed(len(graph.seeds))
        number[page] = len(number)
        heapq.heappush(queue, (-score[page], number[page], page))
    while queue:
        key, _, page = heapq.heappop(queue)
        if page in crawled or -key != score[page]:
            continue  # paid in since: it stands further ahead as well
        crawled.add(page)
        order.append(page)
        scores = strategy.links(Parent(depth[page], score[page], *graph.counts[page]))
        for target in graph.links[page]:
            worth = scores.inter if graph.domain[target] != graph.domain[page] else scores.intra
            if target not in score:
                score[target], depth[target], number[target] = worth, depth[page] + 1, len(number)
            elif strategy.accumulates and target not in crawled:
                score[target] += worth
            else:
                continue
            heapq.heappush(queue, (-score[target], number[target], target))
        if strategy.ranks_known and len(order) >= due:
            due = next_ranking(len(order))
            score = _known_ranks(graph, order, score)
            queue = [(-score[other], number[other], other) for other in score if other not in crawled]
            heapq.heapify(queue)
    return order


def _known_ranks(graph: LinkGraph, crawled: Sequence[int], known: Iterable[int]) -> dict[int, float]:
    """Return the PageRank of known pages by the links of crawled ones."""
    place = {page: at for at, page in enumerate(known)}
    source = np.repeat([place[page] for page in crawled], [len(graph.links[page]) for page in crawled])
    target = np.array([place[to] for page in crawled for to in graph.links[page]], dtype=np.int64)
    found = ranks(len(place), source, target, tolerance=RANK_TOLERANCE)
    return dict(zip(place, found.tolist(), strict=True))


def _by_turns(graph: LinkGraph, strategy: Strategy) -> list[int]:
    """Return the order of pages when hosts take turns, first in, first out within each host."""
    order: list[int] = []
    waiting: dict[int, deque[int]] = {}
    turns: deque[int] = deque()
    queued: set[int] = set()

    def add(page: int) -> None:
        if page in queued:
            return
        queued.add(page)
        host = graph.host[page]
        if not waiting.setdefault(host, deque()):
            turns.append(host)
        waiting[host].append(page)

    for page in graph.seeds:
        add(page)
    while turns:
        host = turns.popleft()
        page = waiting[host].popleft()
        order.append(page)
        if waiting[host]:
            turns.append(host)
        for target in graph.links[page]:
            add(target)
    return order


def _course(name: str, order: np.ndarray[tuple[int], np.dtype[np.int64]], rank: Floats) -> Course:
    shares = np.cumsum(rank[order]) / rank[order].sum()
    at = np.unique(np.linspace(1, len(order), min(POINTS, len(order))).astype(np.int64))
    return Course(name, tuple(at.tolist()), tuple(shares[at - 1].tolist()), len(order), float(shares.mean()))
