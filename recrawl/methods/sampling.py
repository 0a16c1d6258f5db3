"""Server sampling (Cho and Ntoulas 2002): a sample of pages decides whether a server is worth a visit. Pure.

Used alone, or with one of the methods A, B, C on the servers that are worth it (section 6.3.3 of Kumagai and
Yamana 2004).
"""

from __future__ import annotations

import hashlib

from recrawl.methods.base import Method, unfetched
from recrawl.visiting.known_server import KnownServer, OpenVisit

SHARE = 0.05
MIN_SAMPLE = 3
WORTH = 0.1
"""The share of changed pages from which a server is visited: the paper's 10 %."""


class ServerSampling(Method):
    """A method that fetches a new sample in every visit, and goes on if enough of it has changed."""

    def __init__(self, inner: Method | None = None) -> None:
        self.inner = inner
        self.name = f"server-sampling+{inner.name}" if inner is not None else "server-sampling"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        sample = chosen(server, visit.now)
        unfetched_sample = unfetched(sample, server, visit)
        if unfetched_sample:
            return unfetched_sample
        changed = sum(visit.changed(path) for path in sample)
        return self.within(server, visit) if changed >= WORTH * len(sample) and sample else []

    def within(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        """Return the pages to fetch on a server that is worth it: the pages of `inner`, or all, longest
        unfetched first.
        """
        if self.inner is not None:
            return self.inner.following(server, visit)
        order = sorted(server.pages, key=lambda path: (server.pages[path].fetched, path))
        return unfetched(order, server, visit)


def chosen(server: KnownServer, now: float) -> list[str]:
    """Return the sample of a visit: pseudo-random, but the same for the same `now`."""
    size = max(MIN_SAMPLE, round(SHARE * len(server.pages)))

    # Drawn by a hash of the visit: a visit that is resumed has the same sample.
    def lot(path: str) -> bytes:
        return hashlib.blake2b(f"{now} {path}".encode("utf-8", "replace"), digest_size=8).digest()

    return sorted(server.pages, key=lot)[:size]
