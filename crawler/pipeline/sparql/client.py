"""The process that queries are children of, as its starter sees it: started when first asked, and again once.

It keeps the interpreter and Oxigraph, never sees a query, and forks a child for each (`child.py`). Two
descriptors go to the child: a file in memory with the query, and the writing end of a pipe for the answer.
The server ends by itself when it is idle, and when this process ends.
"""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

from crawler.isolation import fork_server
from crawler.isolation.fork_server import ForkServer, ServedChild
from crawler.isolation.walls import environment as bare_environment
from crawler.pipeline.sparql.child import LENGTH

MAX_AT_ONCE = 4
"""Queries that are answered at one time: each may use a processor and 2 GB."""

PATIENCE_SECONDS = 2.0
"""How long one more waits for its turn."""

IDLE_SECONDS = 60.0
START_SECONDS = 60.0
GOING_SECONDS = 5.0

_PROGRAM = "crawler.pipeline.sparql.child"
_CHUNK = 1 << 20


class TurnedAwayError(Exception):
    """An error for a query that was not run, with the reason."""


class GoneError(Exception):
    """An error for a server that ended before it answered, with the reason."""


class QueryServer:
    """The query server of this process, running or not. Threads may share it."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._turns = threading.BoundedSemaphore(MAX_AT_ONCE)
        self._starting = threading.Lock()
        self._server: ForkServer | None = None

    @property
    def pid(self) -> int:
        """The process id of the server that was started last."""
        return self._server.pid if self._server else 0

    def answer(self, snapshot: Path, request: bytes, seconds: int) -> bytes:
        """Ask a child and return its answer, which is empty where its limits ended it.

        Raises TimeoutError after so many seconds, TurnedAwayError when it was not asked at all.
        """
        if not self._turns.acquire(timeout=PATIENCE_SECONDS):
            raise TurnedAwayError(f"{MAX_AT_ONCE} queries are being answered: ask again in a moment")
        try:
            return self._tried_again(snapshot, request, seconds)
        finally:
            self._turns.release()

    def close(self) -> None:
        """End the server and its queries."""
        with self._starting:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _tried_again(self, snapshot: Path, request: bytes, seconds: int) -> bytes:
        with suppress(GoneError):  # idle, or killed for another's sake
            return self._answer(snapshot, request, seconds)
        try:
            return self._answer(snapshot, request, seconds)
        except GoneError as gone:
            raise TurnedAwayError(f"the process that answers queries {gone}") from gone

    def _answer(self, snapshot: Path, request: bytes, seconds: int) -> bytes:
        server = self._running()
        reader, writer = os.pipe()
        try:
            try:
                with closing(_File(request)) as query:
                    words = {"name": "query", "snapshot": str(snapshot), "seconds": seconds}
                    child = server.fork("query", words, [query.descriptor, writer])
            except OSError as error:
                self._gone(server, error)
            finally:
                os.close(writer)
            with closing(child):
                reply = _answered(child, reader, seconds)
        finally:
            os.close(reader)
        if child.lost:
            self._gone(server)
        return reply

    def _gone(self, server: ForkServer, error: OSError | None = None) -> NoReturn:
        """Discard the server, so that the next query starts another. Raises GoneError."""
        with self._starting:
            if self._server is server:
                self._server = None
        code = server.close()
        raise GoneError("could not be started" if code and code > 0 else "ended twice") from error

    def _running(self) -> ForkServer:
        """Return the server, started if necessary."""
        with self._starting:
            if self._server is None:
                environment = bare_environment()
                self._server = fork_server.start_server(
                    [_PROGRAM], environment, idle_seconds=self._idle_seconds
                )
                # It must not stay a zombie when it ends, and nobody else waits for it.
                wait = self._server.wait
                threading.Thread(target=wait, name="wait for the query server", daemon=True).start()
            return self._server


def _answered(child: ServedChild, reader: int, seconds: int) -> bytes:
    """Read the child's answer, which is empty where a limit ended it. Raises TimeoutError."""
    if not child.begun(START_SECONDS) and not child.lost:
        raise TimeoutError
    reply = child_answer(_read(reader, time.monotonic() + seconds))
    if not reply:
        with suppress(subprocess.TimeoutExpired):
            child.wait(GOING_SECONDS)
    return reply


@cache
def server() -> QueryServer:
    """Return the query server of this process."""
    return QueryServer()


# A process that is forked from this one starts its own: two cannot share the socket.
os.register_at_fork(after_in_child=server.cache_clear)


class _File:
    """A file without a name that holds bytes and is read from its beginning."""

    def __init__(self, content: bytes) -> None:
        self.descriptor = os.memfd_create("query")
        with os.fdopen(os.dup(self.descriptor), "wb") as file:
            file.write(content)
        os.lseek(self.descriptor, 0, os.SEEK_SET)

    def close(self) -> None:
        os.close(self.descriptor)


def _read(reader: int, until: float) -> bytes:
    """Read until the other end is closed. Raises TimeoutError at `until` (monotonic seconds)."""
    received = bytearray()
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    while True:
        remaining_seconds = until - time.monotonic()
        if remaining_seconds <= 0 or not waiting.poll(remaining_seconds * 1000):
            raise TimeoutError
        piece = os.read(reader, _CHUNK)
        if not piece:
            return bytes(received)
        received += piece


def child_answer(reply: bytes) -> bytes:
    """Strip the length that `child.sealed` added. Returns an empty result for a truncated one."""
    whole = len(reply) - LENGTH
    return reply[LENGTH:] if whole == int.from_bytes(reply[:LENGTH], "little") else b""
