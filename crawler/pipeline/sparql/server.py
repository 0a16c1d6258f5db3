"""The process that queries are children of: `python -m crawler.pipeline.sparql.server`.

It keeps the interpreter, Oxigraph and the newest snapshot, opened to read, and never sees a query: a message
on standard input (a socket) names a snapshot and seconds, and brings two descriptors, from which a child
forked for it (`child.py`) reads the query and to which it writes the answer. Python has one thread here, so
that a child is whole. Oxigraph's store (RocksDB) has three more, that wait for files to compact or flush: on
a snapshot there are none, so no child misses them (tests/crawler/pipeline/test_server.py asks many at once).

A child that takes longer than its seconds by the clock is killed. The server ends when the other side has
gone, and its children with it, and when nobody has asked anything for IDLE_SECONDS.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any

import pyoxigraph

from crawler.pipeline.sparql import child

IDLE_SECONDS = 60.0
LONGEST_MESSAGE = 65_536
_DIE_WITH_PARENT = 1  # prctl(2)
_LIBC = ctypes.CDLL(None)


class QueryForks:
    """The loop, and what it keeps."""

    def __init__(self, questions: socket.socket, idle_seconds: float = IDLE_SECONDS) -> None:
        self._questions, self._idle_seconds = questions, idle_seconds
        self._pid = os.getpid()
        self._ends: dict[int, float] = {}
        """When each child is killed (monotonic seconds), by process id."""
        self._path = ""
        self._store: Any = None
        self._woken, waker = os.pipe()
        for end in (self._woken, waker):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    def run(self) -> None:
        """Answer until the other side has gone or nobody asks any more."""
        waiting = select.poll()
        waiting.register(self._questions, select.POLLIN)
        waiting.register(self._woken, select.POLLIN)
        self._questions.send(b"ready")
        idle_since = time.monotonic()
        while self._ends or time.monotonic() < idle_since + self._idle_seconds:
            until = min(self._ends.values(), default=idle_since + self._idle_seconds)
            ready = dict(waiting.poll(max(until - time.monotonic(), 0.0) * 1000 + 1))
            self._end_children()
            if self._questions.fileno() in ready and not self._next():
                return
            if self._ends or self._questions.fileno() in ready:
                idle_since = time.monotonic()

    def _end_children(self) -> None:
        """Kill those that are late, and wait for those that have ended."""
        with suppress(BlockingIOError):
            os.read(self._woken, 1024)
        now = time.monotonic()
        for pid, end in self._ends.items():
            if now >= end:
                os.kill(pid, signal.SIGKILL)
        for pid in list(self._ends):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del self._ends[pid]

    def _next(self) -> bool:
        """Start a child for the next message; whether the other side is still there."""
        message, descriptors, _, _ = socket.recv_fds(self._questions, LONGEST_MESSAGE, 2)
        if not message:
            return False
        asked, answers = descriptors
        wanted = json.loads(message)
        store = self._opened(wanted["snapshot"])
        try:
            pid = os.fork()
        except OSError as error:
            os.write(answers, child.sealed({"error": f"no process for it: {error}"}))
        else:
            if not pid:
                self._answer(asked, answers, wanted, store)
            self._ends[pid] = time.monotonic() + wanted["seconds"]
        os.close(asked)
        os.close(answers)
        return True

    def _opened(self, path: str) -> Any:
        """The snapshot, opened once; None where it cannot be, which the child then says."""
        if path != self._path:
            self._path, self._store = "", None  # the old one's files go before the new one's come
            try:
                self._path, self._store = path, pyoxigraph.Store.read_only(path)
            except (OSError, ValueError, RuntimeError):
                self._path = ""
        return self._store

    def _answer(self, asked: int, answers: int, wanted: dict[str, Any], store: Any) -> None:
        """In the child; it does not come back."""
        code = 1
        try:
            _LIBC.prctl(_DIE_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0)
            if os.getppid() == self._pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                self._questions.close()
                with open(os.devnull, "wb") as nothing:
                    os.dup2(nothing.fileno(), 2)  # what Oxigraph prints when a query breaks it
                with os.fdopen(asked, "rb") as question, os.fdopen(answers, "wb") as answer:
                    child.serve(question, answer, wanted["snapshot"], store, wanted["seconds"])
                code = 0
        finally:
            os._exit(code)


def main(idle_seconds: float) -> None:
    """Serve the socket that is standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the end of input ends us
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=os.dup(0)) as questions:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        QueryForks(questions, idle_seconds).run()


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2] or [str(IDLE_SECONDS)]))
