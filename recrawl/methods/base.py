"""What every method answers: which pages a visit should fetch next. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from recrawl.known_server import KnownServer, OpenVisit


class Method:
    """Decides from what is known alone, so that a visit can be left and taken up again at any time."""

    name: str

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        """Pages to fetch now, the most wanted first, none that this visit has fetched; [] ends the visit."""
        raise NotImplementedError

    def finish(self, server: KnownServer, visit: OpenVisit) -> None:
        """Learn from a visit when it is over; once for each. Most keep nothing but the pages' own figures."""


def unfetched(paths: Iterable[str], server: KnownServer, visit: OpenVisit) -> list[str]:
    """Those that are known and that this visit has not seen, each once."""
    return [
        path for path in dict.fromkeys(paths) if path in server.pages and not visit.has_seen(path, server)
    ]
