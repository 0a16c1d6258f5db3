"""The processes that answer queries: a few at one time, each query in one of its own (`child.py`)."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from crawler.isolation.calls import ProgramError, Programs

MAX_AT_ONCE = 4
"""Queries that are answered at one time: each may use a processor and 2 GB."""

PATIENCE_SECONDS = 2.0
"""How long one more waits for its turn."""

IDLE_SECONDS = 60.0


class QueryServer(Programs):
    """The processes for the queries of this process. Threads may share it."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        super().__init__(["crawler.pipeline.sparql.child"], idle_seconds)
        self._turns = threading.BoundedSemaphore(MAX_AT_ONCE)

    def answer(self, snapshot: Path, query: bytes, seconds: int, max_bytes: int) -> bytes:
        """Return the answer to a query. Raises ProgramError: "busy" if the query was not run at all."""
        if not self._turns.acquire(timeout=PATIENCE_SECONDS):
            raise ProgramError("busy", f"{MAX_AT_ONCE} queries are being answered: ask again in a moment")
        try:
            request = {"snapshot": str(snapshot), "cpu_seconds": seconds}
            return self.call("query", request, query, seconds=seconds, max_bytes=max_bytes)
        finally:
            self._turns.release()


@cache
def server() -> QueryServer:
    """Return the query server of this process."""
    return QueryServer()
