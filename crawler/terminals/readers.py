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
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from crawler.http.failures import Failure
from crawler.process import walls
from crawler.reading import documents
from crawler.reading.errors import ReadingError
from crawler.terminals.handlers import modules
from crawler.terminals.reader_process import LENGTH
from crawler.text.records import Record

log = logging.getLogger(__name__)

CPU_SECONDS = 10
"""Processor time for one document."""
WALL_SECONDS = 60.0
"""The same by the clock, for a machine that is busy with other things."""
START_SECONDS = 120.0
HELD_SECONDS = 1.0
MOST_SLOW = 3
MOST_KEPT = 2
MOST_BYTES = 300_000_000
"""Resident memory beyond which a process is not given another document."""

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KINDS = frozenset(Failure)

P = ParamSpec("P")
R = TypeVar("R")


class Readers:
    """The processes that read for this one. Safe to share by threads."""

    def __init__(self, cpu_seconds: int = CPU_SECONDS, wall_seconds: float = WALL_SECONDS) -> None:
        self._cpu_seconds, self._wall_seconds = cpu_seconds, wall_seconds
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
        """End the processes that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.end()
        process = _Process(self._cpu_seconds)
        try:
            ready = process.answer(START_SECONDS)
        except EndedError as ended:
            raise ReadingError(Failure.BUSY, f"no reader could be started ({ended.code})") from None
        if ready is None:
            process.end()
            raise ReadingError(Failure.BUSY, f"no process to read it was ready within {START_SECONDS:g} s")
        return process

    def _give_back(self, process: _Process) -> None:
        """Keep it for the next document, unless it is busy, dead, large, or one too many."""
        if process.free and process.alive and process.size() <= MOST_BYTES:
            with self._lock:
                if len(self._idle) < MOST_KEPT:
                    self._idle.append(process)
                    return
        process.end()


@cache
def terminal_readers() -> Readers:
    """Those of this process."""
    readers = Readers()
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

    def __init__(self, cpu_seconds: int) -> None:
        self._read = bytearray()
        self.free = False
        """Whether it has answered what it was asked, and first of all that it is ready."""
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-m", "crawler.terminals.reader_process", str(cpu_seconds), *modules()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
            env=walls.environment(),
            bufsize=0,
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, job: bytes) -> None:
        """Send a job. Raises EndedError."""
        self.free = False
        pipe = self._process.stdin
        try:
            view = memoryview(LENGTH.pack(len(job)) + job)
            while view and pipe is not None:
                view = view[pipe.write(view) or 0 :]
        except OSError:
            raise EndedError(self._process.wait()) from None

    def answer(self, seconds: float) -> bytes | None:
        """Its answer; None when it takes longer. Raises EndedError."""
        until = time.monotonic() + seconds
        out = self._process.stdout.fileno()  # type: ignore[union-attr]
        waiting = select.poll()
        waiting.register(out, select.POLLIN)
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
            got = os.read(out, 1 << 20)
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
        """Kill it and wait for that."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


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
