"""The interface of recrawl methods: the pages that a visit should fetch next. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from recrawl.visiting.known_server import KnownServer, OpenVisit


class Method:
    """A recrawl method. It decides from the known state alone, so a visit can be interrupted and resumed at
    any time.
    """

    name: str

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        """Return the pages to fetch now, most important first, without pages fetched in this visit. [] ends
        the visit.
        """
        raise NotImplementedError

    def finish(self, server: KnownServer, visit: OpenVisit) -> None:
        """Learn from a visit, once, after its end. By default nothing is kept beyond the counts of pages."""


def unfetched(paths: Iterable[str], server: KnownServer, visit: OpenVisit) -> list[str]:
    """Return the known pages that this visit has not seen, each once."""
    return [
        path for path in dict.fromkeys(paths) if path in server.pages and not visit.has_seen(path, server)
    ]
