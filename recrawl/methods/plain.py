"""Orders without gates: by depth, and by how often a page has changed. Pure."""

from __future__ import annotations

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.base import Method, unfetched


class BreadthFirstMethod(Method):
    """Pages by depth; a visit goes on where the one before it had to stop."""

    name = "breadth-first"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        depth = server.graph.depth
        deepest = len(server.pages)
        order = sorted(
            server.pages, key=lambda path: (server.pages[path].fetched, depth.get(path, deepest), path)
        )
        return unfetched(order, server, visit)


class HistoryMethod(Method):
    """Pages by the share of their checks that found a change; of equal ones the longest unseen first."""

    name = "history"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        def frequency(path: str) -> tuple[float, float, str]:
            page = server.pages[path]
            return -(page.changes + 0.5) / (page.checks + 1), page.fetched, path

        return unfetched(sorted(server.pages, key=frequency), server, visit)
