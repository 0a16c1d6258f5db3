"""What the figures of Kumagai and Yamana 2004 (5 to 18) show, counted on recorded histories. Pure.

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
"""Shares of changed pages from which a server is taken, as in figures 12 and 13."""


@dataclass(slots=True)
class Server:
    """One comparison of one history: what each method fetches in it, and what fetching all finds."""

    everything: OneShot
    methods: dict[str, OneShot]

    @property
    def ratio(self) -> float:
        """Changed pages by pages."""
        return share(self.everything.changed, self.everything.fetched)


@dataclass(slots=True)
class Study:
    """Counts by period in weeks: servers, pages and changed pages by depth, pages by number of changes."""

    servers: dict[int, list[Server]] = field(default_factory=dict)
    depths: dict[int, dict[int, OneShot]] = field(default_factory=dict)
    changes: dict[int, Counter[int]] = field(default_factory=dict)

    def add(self, other: Study) -> None:
        """Pool with another."""
        for period, servers in other.servers.items():
            self.servers.setdefault(period, []).extend(servers)
        for period, depths in other.depths.items():
            for depth, one in depths.items():
                self.depths.setdefault(period, {}).setdefault(depth, OneShot()).add(one)
        for period, counts in other.changes.items():
            self.changes.setdefault(period, Counter()).update(counts)

    def methods(self, period: int) -> dict[str, OneShot]:
        """Figures 5 to 8: everything and each method, over all servers."""
        found = {"all": OneShot(), **{name: OneShot() for name in METHODS}}
        for server in self.servers.get(period, ()):
            found["all"].add(server.everything)
            for name, one in server.methods.items():
                found[name].add(one)
        return found

    def by_depth(self, period: int) -> list[tuple[int, float, float]]:
        """Figure 9: for each depth its number, coverage, and share of all pages up to it."""
        rows = self.depths.get(period, {})
        pages = sum(one.fetched for one in rows.values())
        changed = sum(one.changed for one in rows.values())
        found, fetched, caught = [], 0, 0
        for depth in sorted(rows):
            fetched += rows[depth].fetched
            caught += rows[depth].changed
            found.append((depth, share(caught, changed), share(fetched, pages)))
        return found

    def by_threshold(self, period: int, method: str = "") -> list[tuple[float, OneShot]]:
        """Figures 12 to 18: servers of which at least such a share has changed, whole or by a method."""
        servers = self.servers.get(period, [])
        changed = sum(server.everything.changed for server in servers)
        found = []
        for least in THRESHOLDS:
            total = OneShot(changed=changed)
            for server in servers:
                if server.ratio >= least:
                    one = server.methods[method] if method else server.everything
                    total.fetched += one.fetched
                    total.changed_fetched += one.changed_fetched
            found.append((least, total))
        return found

    def pages(self, period: int) -> int:
        """Pages of all servers."""
        return sum(server.everything.fetched for server in self.servers.get(period, ()))


def study(history: History, periods: Sequence[int]) -> Study:
    """The counts of one history."""
    found = Study()
    for period, week, pair in pairs(history, periods):
        methods = {name: pair.result(made()) for name, made in METHODS.items()}
        found.servers.setdefault(period, []).append(Server(pair.everything(), methods))
        depths = found.depths.setdefault(period, {})
        for path, depth in pair.server.graph.depth.items():
            if path in pair.changed:
                depths.setdefault(depth, OneShot()).add(OneShot(1, 0, int(pair.changed[path])))
        counts: Counter[str] = Counter()
        for later in range(week + 1, week + period + 1):
            counts.update(path for path in history.changed[later] if path in pair.changed)
        number = found.changes.setdefault(period, Counter())
        number.update(counts[path] for path in pair.changed)
    return found
