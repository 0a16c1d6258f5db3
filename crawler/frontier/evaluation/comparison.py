"""Comparison of all strategies on one recorded link graph: how early they reach important pages. Pure.

Uses the same scores and order as the live queue, with one page fetched at a time.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crawler.frontier.graph import Floats, LinkGraph, known_ranks, pagerank
from crawler.frontier.strategies import (
    FIRST_RANKING,
    STRATEGIES,
    Parent,
    Strategy,
    make_strategy,
    next_ranking,
    promise,
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
    if strategy.ranks_known:
        return _by_known_rank(graph, strategy)
    return (_by_turns if strategy.by_turns else _by_score)(graph, strategy)


def _by_score(graph: LinkGraph, strategy: Strategy) -> list[int]:
    order: list[int] = []
    score: dict[int, float] = {}
    depth: dict[int, int] = dict.fromkeys(graph.seeds, 0)
    number: dict[int, int] = {}
    crawled: set[int] = set()
    queue: list[tuple[float, int, int]] = []
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
    return order


def _by_known_rank(graph: LinkGraph, strategy: Strategy) -> list[int]:
    """Return the order of pages by the rank of the known links, and among hosts by their promise."""
    order: list[int] = []
    frontier = _Frontier(graph, strategy.seed(len(graph.seeds)))
    due = FIRST_RANKING
    while (page := frontier.best()) is not None:
        order.append(page)
        part = strategy.links(Parent(0, frontier.score[page], *graph.counts[page])).intra
        for target in graph.links[page]:
            frontier.pay(target, part)
        if len(order) >= due:
            due = next_ranking(len(order))
            frontier.rank(order)
    return order


class _Frontier:
    """The pages that a crawl knows, and of each host a queue of those that wait."""

    def __init__(self, graph: LinkGraph, seed: float) -> None:
        self._graph = graph
        self.score: dict[int, float] = {}
        self._number: dict[int, int] = {}
        self._crawled: set[int] = set()
        self._known: Counter[int] = Counter()
        self._done: Counter[int] = Counter()
        self._queues: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
        self._hosts: list[tuple[float, int, int, int]] = []
        for page in graph.seeds:
            self.pay(page, seed)

    def pay(self, page: int, part: float) -> None:
        """Add to the score of a page that was not crawled yet; one that is new begins to wait."""
        if page in self._crawled:
            return
        host = self._graph.host[page]
        if page not in self.score:
            self.score[page], self._number[page] = 0.0, len(self._number)
            self._known[host] += 1
        self.score[page] += part
        heapq.heappush(self._queues[host], (-self.score[page], self._number[page], page))
        self._renew(host)

    def best(self) -> int | None:
        """Take the page to fetch next. Returns None when none waits."""
        while self._hosts:
            _, _, page, host = entry = heapq.heappop(self._hosts)
            if entry != self._entry(host):
                continue  # the host has changed since
            self._crawled.add(page)
            self._done[host] += 1
            self._renew(host)
            return page
        return None

    def rank(self, crawled: Sequence[int]) -> None:
        """Give every known page the rank of the links of the crawled ones."""
        place = {page: at for at, page in enumerate(self.score)}
        source = np.repeat([place[page] for page in crawled], [len(self._graph.links[p]) for p in crawled])
        target = np.array([place[to] for page in crawled for to in self._graph.links[page]], dtype=np.int64)
        scores = known_ranks(source, target, np.array([self._graph.host[page] for page in place]))
        self.score = dict(zip(place, scores.tolist(), strict=True))
        self._queues.clear()
        for page, score in self.score.items():
            if page not in self._crawled:
                queue = self._queues[self._graph.host[page]]
                heapq.heappush(queue, (-score, self._number[page], page))
        self._hosts.clear()
        for host in self._queues:
            self._renew(host)

    def _entry(self, host: int) -> tuple[float, int, int, int] | None:
        """Return a host's place in the order of hosts. Returns None when none of its pages waits."""
        queue = self._queues[host]
        while queue and (queue[0][2] in self._crawled or -queue[0][0] != self.score[queue[0][2]]):
            heapq.heappop(queue)
        if not queue:
            return None
        score, number, page = queue[0]
        return (-promise(-score, self._known[host], self._done[host]), number, page, host)

    def _renew(self, host: int) -> None:
        entry = self._entry(host)
        if entry is not None:
            heapq.heappush(self._hosts, entry)


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
