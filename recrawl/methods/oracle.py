"""`oracle`: an upper bound for every method, because it knows which copies are stale. For replays. Pure."""

from __future__ import annotations

from recrawl.methods.base import Method, unfetched
from recrawl.visiting.known_server import KnownServer, OpenVisit


class Oracle(Method):
    """Fetches stale pages alone, those that changed this week first, and saves what is left."""

    name = "oracle"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        if not visit.saves:  # as many pages as others, in the order of their worth
            return sorted(unfetched(server.pages, server, visit), key=lambda path: path not in visit.stale)
        stale = unfetched((path for path in server.pages if path in visit.stale), server, visit)
        return sorted(stale, key=lambda path: (not visit.stale[path], path))
