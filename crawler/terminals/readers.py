"""Documents are read in other processes: one that takes too long, or ends its reader, harms itself alone.

Parsers are C and Python on bytes that anybody wrote. Some documents keep them busy for minutes, a few crash
them, and no thread can be stopped. So a terminal's threads only fetch, and hand what they fetched to a
kept process (`reader_process`): one document at a time, because more at once would only share the
processors. A document that is not read within HELD_SECONDS gets out of the way: the next goes to another
process, and the slow one may use its processor time up, with MOST_SLOW beside it at most.
"""

from __future__ import annotations

import atexit
import io
import logging
import os
import pickle
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from crawler.http.failures import Failure
from crawler.process import fork_server, walls
from crawler.process.fork_server import ForkServer
from crawler.reading import documents
from crawler.reading.errors import ReadingError
from crawler.terminals import reader_process
from crawler.terminals.handlers import modules
from crawler.terminals.reader_process import LENGTH
from crawler.text.records import Record

log = logging.getLogger(__name__)

CPU_SECONDS = 10
"""Processor time for one document."""
WALL_SECONDS = 60.0
"""The same by the clock, for a machine that is busy with other things."""
START_SECONDS = 120.0
GOING_SECONDS = 5.0
HELD_SECONDS = 1.0
MOST_SLOW = 3
MOST_KEPT = 2
MOST_BYTES = 300_000_000
"""Resident memory beyond which a process is not given another document."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_KINDS = frozenset(Failure)

P = ParamSpec("P")
R = TypeVar("R")


class Readers:
    """The processes that read for this one. Safe to share by threads."""

    def __init__(
        self,
        cpu_seconds: int = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
        server: ForkServer | None = None,
    ) -> None:
        """They are forked by this server, or by one of our own, started with the first document."""
        self._cpu_seconds, self._wall_seconds = cpu_seconds, wall_seconds
        self._server = server
        self._turn = threading.Lock()
        self._slow = threading.BoundedSemaphore(MOST_SLOW)
        self._idle: list[_Process] = []
        self._lock = threading.Lock()

    def read(self, function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """What the function of a module makes of the arguments, in another process.

        Raises ReadingError where it raises an error with `kind` and `detail`, where it takes more than
        its processor time or memory, and where it fails in any other way or ends its process.
        """
        job = pickle.dumps((function, arguments, named), pickle.HIGHEST_PROTOCOL)
        try:
            answer = self._ask(job)
        except EndedError as ended:
            if ended.by_limit:
                raise ReadingError(*ended.meaning(self._cpu_seconds)) from None
            try:  # it may have been killed for another's sake: once more, in a new process
                answer = self._ask(job)
            except EndedError as again:
                raise ReadingError(*again.meaning(self._cpu_seconds)) from None
        if answer is None:
            raise ReadingError(Failure.TOO_COSTLY, f"it was not read within {self._wall_seconds:g} s")
        return cast(R, _result(answer))

    def _ask(self, job: bytes) -> bytes | None:
        """The answer to a job; None when it takes too long by the clock. Raises EndedError, ReadingError."""
        with ExitStack() as turn:
            turn.enter_context(self._turn)
            process = self._take()
            try:
                process.ask(job)
                answer = process.answer(HELD_SECONDS)
                if answer is None:
                    with self._out_of_the_way(turn):
                        answer = process.answer(self._wall_seconds)
            finally:
                self._give_back(process)
        return answer

    @contextmanager
    def _out_of_the_way(self, turn: ExitStack) -> Iterator[None]:
        """Let others have their turn, unless MOST_SLOW are out of the way already."""
        aside = self._slow.acquire(blocking=False)
        if aside:
            turn.close()
        try:
            yield
        finally:
            if aside:
                self._slow.release()

    def close(self) -> None:
        """End the processes that have nothing to do, and with the last of them their server."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()
        if self._server is not None:
            self._server.close()
            self._server = None

    def _take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.end()
        try:
            process = self._started()
            ready = process.answer(START_SECONDS)
        except EndedError as ended:
            raise ReadingError(Failure.BUSY, f"no reader could be started ({ended.code})") from None
        if ready is None:
            process.end()
            raise ReadingError(Failure.BUSY, f"no process to read it was ready within {START_SECONDS:g} s")
        return process

    def _started(self) -> _Process:
        """A new one. Where the server has ended, it is of another."""
        with self._lock:
            if self._server is not None:
                with suppress(OSError):
                    return _Process(self._cpu_seconds, self._server)
            self._server = _own_server()
            return _Process(self._cpu_seconds, self._server)

    def _give_back(self, process: _Process) -> None:
        """Keep it for the next document, unless it is busy, dead, large, or one too many."""
        if process.free and process.alive and process.size() <= MOST_BYTES:
            with self._lock:
                if len(self._idle) < MOST_KEPT:
                    self._idle.append(process)
                    return
        process.end()


def _own_server() -> ForkServer:
    """A server that has loaded all that reads, and knows nothing of this process's environment."""
    return fork_server.started([reader_process.__name__, *modules()], walls.environment())


given_server: list[ForkServer] = []
"""The server of whoever started this process, where there is one; set before the first document is read."""


@cache
def terminal_readers() -> Readers:
    """Those of this process."""
    readers = Readers(server=given_server[0] if given_server else None)
    atexit.register(readers.close)
    return readers


def read(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """See Readers.read."""
    return terminal_readers().read(function, *arguments, **named)


class EndedError(Exception):
    """The process ended before it answered."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
        self.by_limit = code == -signal.SIGXCPU

    def meaning(self, cpu_seconds: int) -> tuple[str, str]:
        """Kind and detail of the failure."""
        if self.by_limit:
            detail = f"reading it takes more than {cpu_seconds} s of processor time"
            return Failure.TOO_COSTLY, detail
        return Failure.TOO_COSTLY, f"the process that read it ended ({self.code})"


class _Process:
    """One process and the pipes to it."""

    def __init__(self, cpu_seconds: int, server: ForkServer) -> None:
        self._read = bytearray()
        self.free = False
        """Whether it has answered what it was asked, and first of all that it is ready."""
        jobs, self._jobs = os.pipe()
        self._answers, answers = os.pipe()
        try:
            words = {"name": "reader", "cpu_seconds": cpu_seconds}
            self._process = server.fork("reader", words, [jobs, answers])
        except OSError:
            os.close(self._jobs)
            os.close(self._answers)
            raise
        finally:
            os.close(jobs)
            os.close(answers)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, job: bytes) -> None:
        """Send a job. Raises EndedError."""
        self.free = False
        try:
            view = memoryview(LENGTH.pack(len(job)) + job)
            while view:
                view = view[os.write(self._jobs, view) :]
        except OSError:
            raise EndedError(self._process.wait()) from None

    def answer(self, seconds: float) -> bytes | None:
        """Its answer; None when it takes longer. Raises EndedError."""
        until = time.monotonic() + seconds
        waiting = select.poll()
        waiting.register(self._answers, select.POLLIN)
        while True:
            whole = LENGTH.size + (LENGTH.unpack_from(self._read)[0] if len(self._read) >= LENGTH.size else 0)
            if len(self._read) >= max(whole, LENGTH.size + 1):
                answer = bytes(self._read[LENGTH.size :])
                self._read.clear()
                self.free = True
                return answer
            left = until - time.monotonic()
            if left <= 0 or not waiting.poll(left * 1000):
                return None
            got = os.read(self._answers, 1 << 20)
            if not got:
                raise EndedError(self._process.wait())
            self._read += got

    def size(self) -> int:
        """Resident bytes; 0 where the system does not tell."""
        try:
            return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * _PAGE
        except (OSError, ValueError):
            return 0

    def end(self) -> None:
        """Kill it, and wait a moment for that."""
        self._process.kill()
        os.close(self._jobs)
        os.close(self._answers)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GOING_SECONDS)
        self._process.close()


class _Records(pickle.Unpickler):
    """Answers hold documents, tuples, texts and numbers; nothing else is made of them."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(documents, name, None) if module == documents.__name__ else None
        if isinstance(found, type) and issubclass(found, Record):
            return found
        raise pickle.UnpicklingError(f"an answer may not hold {module}.{name}")


def _result(answer: bytes) -> Any:
    """What the function made. Raises ReadingError."""
    try:
        what, *given = _Records(io.BytesIO(answer)).load()
    except Exception as error:  # a damaged pickle raises whatever it likes
        raise ReadingError(Failure.MALFORMED, f"the answer of the reader is damaged: {error}") from None
    if what == "read":
        return given[0]
    if what == "refused":
        kind, detail = given
        raise ReadingError(kind if kind in _KINDS else Failure.MALFORMED, detail)
    log.warning("a document breaks its reader: %s", given[0])
    raise ReadingError(Failure.MALFORMED, f"the analysis failed: {given[0]}")
