"""What every method answers: which pages a visit should fetch next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from recrawl.known_server import KnownServer, OpenVisit


class Method(Protocol):
    """Decides from what is known alone, so that a visit can be left and taken up again at any time."""

    @property
    def name(self) -> str: ...

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        """Pages to fetch now, the most wanted first, none that this visit has fetched; [] ends the visit."""
        ...


@runtime_checkable
class Learning(Protocol):
    """A method that keeps more than the pages' own figures."""

    def finish(self, server: KnownServer, visit: OpenVisit) -> None:
        """Learn from a visit when it is over; once for each."""
        ...


def unfetched(paths: Iterable[str], server: KnownServer, visit: OpenVisit) -> list[str]:
    """Those that are known and that this visit has not seen, each once."""
    return [
        path for path in dict.fromkeys(paths) if path in server.pages and not visit.has_seen(path, server)
    ]
