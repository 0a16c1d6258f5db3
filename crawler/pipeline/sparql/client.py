"""The process that queries are children of, as its starter sees it: started when first asked, and again once.

For every query two descriptors go to it: a file in memory with the query, and the writing end of a pipe for
the answer. It ends by itself when it is idle (`server.py`), and when this process ends: its socket is closed.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from functools import cache
from pathlib import Path

from crawler.pipeline.sparql.child import LENGTH
from crawler.process.light import light_environment

MOST_AT_ONCE = 4
"""Queries that are answered at one time: each may use a processor and 2 GB."""

PATIENCE_SECONDS = 2.0
"""How long one more waits for its turn."""

START_SECONDS = 60.0
SLACK_SECONDS = 2.0
"""The server kills what is late; one that does not is not waited for longer than this."""

GOING_SECONDS = 0.5
"""A server that is killed may close its socket after its children have gone: its threads end one by one."""

_ROOT = Path(__file__).resolve().parents[3]
_CHUNK = 1 << 20


class TurnedAwayError(Exception):
    """A query that was not asked, with the reason."""


class GoneError(Exception):
    """The server has ended before it answered."""


class QueryServer:
    """The server of this process, whether it runs or not. Safe to share by threads."""

    def __init__(self, idle_seconds: float | None = None) -> None:
        self._options = [] if idle_seconds is None else [str(idle_seconds)]
        self._turns = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._starting = threading.Lock()
        self._socket: socket.socket | None = None
        self.pid = 0
        """Of the server that was started last."""

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
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    def _tried_again(self, snapshot: Path, asked: bytes, seconds: int) -> bytes:
        try:
            return self._answer(snapshot, asked, seconds)
        except GoneError:  # idle, or killed for another's sake
            pass
        try:
            return self._answer(snapshot, asked, seconds)
        except GoneError as error:
            raise TurnedAwayError("the process that answers queries ended twice") from error

    def _answer(self, snapshot: Path, asked: bytes, seconds: int) -> bytes:
        server = self._running()
        until = time.monotonic() + seconds
        reader, writer = os.pipe()
        try:
            try:
                with closing(_File(asked)) as query:
                    message = json.dumps({"snapshot": str(snapshot), "seconds": seconds}).encode()
                    socket.send_fds(server, [message], [query.descriptor, writer])
            except OSError as error:
                raise GoneError from error
            finally:
                os.close(writer)
            answer = child_answer(_read(reader, until + SLACK_SECONDS))
        finally:
            os.close(reader)
        if answer:
            return answer
        if time.monotonic() >= until:
            raise TimeoutError
        if _has_gone(server, GOING_SECONDS):
            raise GoneError
        return b""

    def _running(self) -> socket.socket:
        """The socket to the server, which is started where it is not there. Raises TurnedAwayError."""
        with self._starting:
            if self._socket is not None and not _has_gone(self._socket):
                return self._socket
            if self._socket is not None:
                self._socket.close()
            self._socket = None
            self._socket = self._started()
            return self._socket

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                process = subprocess.Popen(  # noqa: S603 - this very interpreter
                    [sys.executable, "-m", "crawler.pipeline.sparql.server", *self._options],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    cwd=_ROOT,
                    env=light_environment(),
                )
            # It must not stay a zombie when it ends, and nobody else waits for it.
            threading.Thread(target=process.wait, name=f"wait for {process.pid}", daemon=True).start()
            ours.settimeout(START_SECONDS)
            if not ours.recv(16):
                raise TurnedAwayError("the process that answers queries could not be started")
            ours.settimeout(None)
        except OSError as error:
            ours.close()
            raise TurnedAwayError(f"the process that answers queries was not ready: {error}") from error
        except TurnedAwayError:
            ours.close()
            raise
        self.pid = process.pid
        return ours


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


def _has_gone(server: socket.socket, seconds: float = 0.0) -> bool:
    """Whether the other side closes the socket by then: it says nothing but that it is ready."""
    waiting = select.poll()
    try:
        waiting.register(server, select.POLLIN)
    except ValueError:  # another thread found that out
        return True
    return bool(waiting.poll(seconds * 1000))
