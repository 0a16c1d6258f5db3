"""Methods without gates: order by depth, and by the share of checks that found a change. Pure."""

from __future__ import annotations

from recrawl.methods.base import Method, unfetched
from recrawl.visiting.known_server import KnownServer, OpenVisit


class BreadthFirstMethod(Method):
    """Pages by depth. A visit continues where the previous one stopped."""

    name = "breadth-first"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        depth = server.graph.depth
        deepest = len(server.pages)
        order = sorted(
            server.pages, key=lambda path: (server.pages[path].fetched, depth.get(path, deepest), path)
        )
        return unfetched(order, server, visit)


class HistoryMethod(Method):
    """Pages by the share of their checks that found a change. Among equals, the longest unfetched comes
    first.
    """

    name = "history"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        def frequency(path: str) -> tuple[float, float, str]:
            page = server.pages[path]
            return -(page.changes + 0.5) / (page.checks + 1), page.fetched, path

        return unfetched(sorted(server.pages, key=frequency), server, visit)
