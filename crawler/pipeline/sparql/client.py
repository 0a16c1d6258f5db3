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

from crawler.pipeline.sparql.child import LENGTH
from crawler.process import fork_server
from crawler.process.fork_server import ForkServer, Served
from crawler.process.light import light_environment

MOST_AT_ONCE = 4
"""Queries that are answered at one time: each may use a processor and 2 GB."""

PATIENCE_SECONDS = 2.0
"""How long one more waits for its turn."""

IDLE_SECONDS = 60.0
START_SECONDS = 60.0
GOING_SECONDS = 5.0

_PROGRAM = "crawler.pipeline.sparql.child"
_CHUNK = 1 << 20


class TurnedAwayError(Exception):
    """A query that was not asked, with the reason."""


class GoneError(Exception):
    """The server has ended before it answered; the reason."""


class QueryServer:
    """The server of this process, whether it runs or not. Safe to share by threads."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._turns = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._starting = threading.Lock()
        self._server: ForkServer | None = None

    @property
    def pid(self) -> int:
        """Of the server that was started last."""
        return self._server.pid if self._server else 0

    def answer(self, snapshot: Path, asked: bytes, seconds: int) -> bytes:
        """What the child writes; empty where it was ended by its limits.

        Raises TimeoutError after so many seconds, TurnedAwayError when it was not asked at all.
        """
        if not self._turns.acquire(timeout=PATIENCE_SECONDS):
            raise TurnedAwayError(f"{MOST_AT_ONCE} queries are being answered: ask again in a moment")
        try:
            return self._tried_again(snapshot, asked, seconds)
        finally:
            self._turns.release()

    def close(self) -> None:
        """End the server, and with it what it does."""
        with self._starting:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _tried_again(self, snapshot: Path, asked: bytes, seconds: int) -> bytes:
        with suppress(GoneError):  # idle, or killed for another's sake
            return self._answer(snapshot, asked, seconds)
        try:
            return self._answer(snapshot, asked, seconds)
        except GoneError as gone:
            raise TurnedAwayError(f"the process that answers queries {gone}") from gone

    def _answer(self, snapshot: Path, asked: bytes, seconds: int) -> bytes:
        server = self._running()
        reader, writer = os.pipe()
        try:
            try:
                with closing(_File(asked)) as query:
                    words = {"name": "query", "snapshot": str(snapshot), "seconds": seconds}
                    child = server.fork("query", words, [query.descriptor, writer])
            except OSError as error:
                self._gone(server, error)
            finally:
                os.close(writer)
            with closing(child):
                answer = _answered(child, reader, seconds)
        finally:
            os.close(reader)
        if child.lost:
            self._gone(server)
        return answer

    def _gone(self, server: ForkServer, error: OSError | None = None) -> NoReturn:
        """Start another for the next query. Raises GoneError."""
        with self._starting:
            if self._server is server:
                self._server = None
        code = server.close()
        raise GoneError("could not be started" if code and code > 0 else "ended twice") from error

    def _running(self) -> ForkServer:
        """The server, which is started where it is not there."""
        with self._starting:
            if self._server is None:
                environment = light_environment()
                self._server = fork_server.started([_PROGRAM], environment, idle_seconds=self._idle_seconds)
                # It must not stay a zombie when it ends, and nobody else waits for it.
                wait = self._server.wait
                threading.Thread(target=wait, name="wait for the query server", daemon=True).start()
            return self._server


def _answered(child: Served, reader: int, seconds: int) -> bytes:
    """What the child says; nothing where its limits, or its server's end, ended it. Raises TimeoutError."""
    if not child.begun(START_SECONDS) and not child.lost:
        raise TimeoutError
    answer = child_answer(_read(reader, time.monotonic() + seconds))
    if not answer:
        with suppress(subprocess.TimeoutExpired):
            child.wait(GOING_SECONDS)
    return answer


@cache
def server() -> QueryServer:
    """That of this process."""
    return QueryServer()


# A process that is forked from this one starts its own: two cannot share the socket.
os.register_at_fork(after_in_child=server.cache_clear)


class _File:
    """Bytes in a file without a name, read from its beginning."""

    def __init__(self, content: bytes) -> None:
        self.descriptor = os.memfd_create("query")
        with os.fdopen(os.dup(self.descriptor), "wb") as file:
            file.write(content)
        os.lseek(self.descriptor, 0, os.SEEK_SET)

    def close(self) -> None:
        os.close(self.descriptor)


def _read(reader: int, until: float) -> bytes:
    """All that comes before the other end is closed. Raises TimeoutError at that time (monotonic seconds)."""
    found = bytearray()
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    while True:
        left = until - time.monotonic()
        if left <= 0 or not waiting.poll(left * 1000):
            raise TimeoutError
        piece = os.read(reader, _CHUNK)
        if not piece:
            return bytes(found)
        found += piece


def child_answer(answer: bytes) -> bytes:
    """The answer without its length; nothing of one that was cut off. `child.sealed` made it."""
    whole = len(answer) - LENGTH
    return answer[LENGTH:] if whole == int.from_bytes(answer[:LENGTH], "little") else b""
