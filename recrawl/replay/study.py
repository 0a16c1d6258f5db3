"""Figures 5 to 18 of Kumagai and Yamana 2004, counted on recorded histories. Pure.

A history compared with itself some weeks later stands for a server of the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recrawl.methods.base import Method
from recrawl.methods.gated import ByDirectory, ByLinks, ByLinksGated
from recrawl.replay.history import History
from recrawl.replay.one_shot import OneShot, pairs, share

METHODS: Mapping[str, type[Method]] = {"A": ByDirectory, "B": ByLinks, "C": ByLinksGated}
THRESHOLDS = tuple(round(0.9 - 0.1 * step, 1) for step in range(9))
"""Lowest shares of changed pages of the servers included, as in figures 12 and 13."""


@dataclass(slots=True)
class Server:
    """One comparison of one history: the result of fetching everything, and of each method."""

    everything: OneShot
    methods: dict[str, OneShot]

    @property
    def ratio(self) -> float:
        """Return the share of pages that had changed."""
        return share(self.everything.changed, self.everything.fetched)


@dataclass(slots=True)
class Study:
    """Counts by period in weeks: servers, pages and changed pages by depth, pages by number of changes."""

    servers: dict[int, list[Server]] = field(default_factory=dict)
    depths: dict[int, dict[int, OneShot]] = field(default_factory=dict)
    changes: dict[int, Counter[int]] = field(default_factory=dict)

    def add(self, other: Study) -> None:
        """Add the counts of another study."""
        for period, servers in other.servers.items():
            self.servers.setdefault(period, []).extend(servers)
        for period, depths in other.depths.items():
            for depth, result in depths.items():
                self.depths.setdefault(period, {}).setdefault(depth, OneShot()).add(result)
        for period, counts in other.changes.items():
            self.changes.setdefault(period, Counter()).update(counts)

    def methods(self, period: int) -> dict[str, OneShot]:
        """Return the sums of figures 5 to 8: everything and each method, over all servers."""
        totals = {"all": OneShot(), **{name: OneShot() for name in METHODS}}
        for server in self.servers.get(period, ()):
            totals["all"].add(server.everything)
            for name, result in server.methods.items():
                totals[name].add(result)
        return totals

    def by_depth(self, period: int) -> list[tuple[int, float, float]]:
        """Return figure 9: for each depth its number, the coverage and the share of all pages up to it."""
        rows = self.depths.get(period, {})
        pages = sum(result.fetched for result in rows.values())
        changed = sum(result.changed for result in rows.values())
        shares, fetched, changed_fetched = [], 0, 0
        for depth in sorted(rows):
            fetched += rows[depth].fetched
            changed_fetched += rows[depth].changed
            shares.append((depth, share(changed_fetched, changed), share(fetched, pages)))
        return shares

    def by_threshold(self, period: int, method: str = "") -> list[tuple[float, OneShot]]:
        """Return figures 12 to 18: for each threshold the sums over servers with at least that share of
        changed pages, fetched entirely or by a method.
        """
        servers = self.servers.get(period, [])
        changed = sum(server.everything.changed for server in servers)
        results = []
        for min_ratio in THRESHOLDS:
            total = OneShot(changed=changed)
            for server in servers:
                if server.ratio >= min_ratio:
                    result = server.methods[method] if method else server.everything
                    total.fetched += result.fetched
                    total.changed_fetched += result.changed_fetched
            results.append((min_ratio, total))
        return results

    def pages(self, period: int) -> int:
        """Return the number of pages of all servers."""
        return sum(server.everything.fetched for server in self.servers.get(period, ()))


def study(history: History, periods: Sequence[int]) -> Study:
    """Count one history."""
    totals = Study()
    for period, week, pair in pairs(history, periods):
        methods = {name: pair.result(make_method()) for name, make_method in METHODS.items()}
        totals.servers.setdefault(period, []).append(Server(pair.everything(), methods))
        depths = totals.depths.setdefault(period, {})
        for path, depth in pair.server.graph.depth.items():
            if path in pair.changed:
                depths.setdefault(depth, OneShot()).add(OneShot(1, 0, int(pair.changed[path])))
        counts: Counter[str] = Counter()
        for later in range(week + 1, week + period + 1):
            counts.update(path for path in history.changed[later] if path in pair.changed)
        number = totals.changes.setdefault(period, Counter())
        number.update(counts[path] for path in pair.changed)
    return totals
