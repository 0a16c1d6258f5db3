"""Reading of documents in other processes, so that a slow or crashing document harms only its own process.

Parsers are C and Python code on untrusted bytes. Some documents keep them busy for minutes, a few crash them,
and a thread cannot be stopped. So a terminal's threads only fetch, and hand the documents to a long-lived
process (`reader_process`): one document at a time, because several would only share the processors. After
MAX_TURN_SECONDS a slow document is set aside: the next one goes to another process, and the slow one may use
up its processor time. At most MAX_SLOW documents are set aside at once.
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

from crawler.failures import Failure
from crawler.isolation import fork_server, memory, walls
from crawler.isolation.fork_server import ForkServer
from crawler.reading import documents
from crawler.reading.errors import ReadingError
from crawler.terminals import reader_process
from crawler.terminals.handlers import modules
from crawler.terminals.reader_process import LENGTH
from crawler.text.records import Record

log = logging.getLogger(__name__)

CPU_SECONDS = 10
"""Maximum processor time for one document."""
WALL_SECONDS = 60.0
"""Maximum wall-clock time for one document, longer because the machine may be busy with other things."""
MAX_START_SECONDS = 120.0
MAX_END_SECONDS = 5.0
MAX_TURN_SECONDS = 1.0
# Each keeps a process with up to MEMORY_BYTES for its processor time.
MAX_SLOW = 1 if memory.is_small() else 3
MAX_IDLE = 1 if memory.is_small() else 2
MAX_BYTES = memory.share(1 / 4, 150, 300)
"""Resident memory beyond which a process is not given another document."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_KINDS = frozenset(Failure)

P = ParamSpec("P")
R = TypeVar("R")


class Readers:
    """The processes that read documents for this process. Thread-safe."""

    def __init__(
        self,
        cpu_seconds: int = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
        server: ForkServer | None = None,
    ) -> None:
        """Fork readers from `server`, or from a server of its own, which starts with the first document."""
        self._cpu_seconds, self._wall_seconds = cpu_seconds, wall_seconds
        self._server = server
        self._turn = threading.Lock()
        self._waiting = 0
        self._slow = threading.BoundedSemaphore(MAX_SLOW)
        self._idle: list[_Process] = []
        self._lock = threading.Lock()

    def read(self, function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> R:
        """Call a module's function in another process and return its result.

        Raises ReadingError when the function raises an error with `kind` and `detail`, exceeds its processor
        time or memory, fails in any other way, or ends its process.
        """
        job = pickle.dumps((function, arguments, keywords), pickle.HIGHEST_PROTOCOL)
        try:
            reply = self._ask(job)
        except EndedError as ended:
            # Not once more: it would take its ten seconds a second time.
            if ended.by_limit:
                raise ReadingError(*ended.meaning(self._cpu_seconds)) from None
            try:  # another document may have caused the kill: once more, in a new process
                reply = self._ask(job)
            except EndedError as again:
                raise ReadingError(*again.meaning(self._cpu_seconds)) from None
        if reply is None:
            raise ReadingError(Failure.TOO_COSTLY, f"it was not read within {self._wall_seconds:g} s")
        return cast(R, _result(reply))

    @property
    def is_busy(self) -> bool:
        """True while documents wait for their turn."""
        return self._waiting > 0

    def _take_turn(self) -> bool:
        with self._lock:
            self._waiting += 1
        try:
            return self._turn.acquire()
        finally:
            with self._lock:
                self._waiting -= 1

    def _ask(self, job: bytes) -> bytes | None:
        """Return the reply to a job. Returns None on timeout. Raises EndedError or ReadingError."""
        with ExitStack() as turn:
            self._take_turn()
            turn.callback(self._turn.release)
            process = self._take()
            try:
                process.ask(job)
                reply = process.answer(MAX_TURN_SECONDS)
                if reply is None:
                    with self._out_of_the_way(turn):
                        reply = process.answer(self._wall_seconds)
            finally:
                self._give_back(process)
        return reply

    @contextmanager
    def _out_of_the_way(self, turn: ExitStack) -> Iterator[None]:
        """Let others read documents meanwhile, unless MAX_SLOW slow ones are set aside already."""
        is_set_aside = self._slow.acquire(blocking=False)
        if is_set_aside:
            turn.close()
        try:
            yield
        finally:
            if is_set_aside:
                self._slow.release()

    def close(self) -> None:
        """End the idle processes and the fork server."""
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
            process = self._start_process()
            ready = process.answer(MAX_START_SECONDS)
        except EndedError as ended:
            raise ReadingError(Failure.BUSY, f"no reader could be started ({ended.code})") from None
        if ready is None:
            process.end()
            raise ReadingError(Failure.BUSY, f"no reader was ready within {MAX_START_SECONDS:g} s")
        return process

    def _start_process(self) -> _Process:
        """Start a reader process, from a new server of our own where the present one has ended."""
        with self._lock:
            if self._server is not None:
                with suppress(OSError):
                    return _Process(self._cpu_seconds, self._server)
            self._server = _own_server()
            return _Process(self._cpu_seconds, self._server)

    def _give_back(self, process: _Process) -> None:
        """Keep the process for the next document, unless it is busy, dead, too large, or one too many."""
        # Parsers keep what a large document has taken; a new process takes milliseconds.
        if process.free and process.alive and process.size() <= MAX_BYTES:
            with self._lock:
                if len(self._idle) < MAX_IDLE:
                    self._idle.append(process)
                    return
        process.end()


def _own_server() -> ForkServer:
    """Start a fork server that has loaded all handlers and has none of this process's environment."""
    return fork_server.start_server([reader_process.__name__, *modules()], walls.environment())


inherited_servers: list[ForkServer] = []
"""The fork server that the parent process passed on, if any; set before the first document is read."""


@cache
def terminal_readers() -> Readers:
    """Return the readers of this process."""
    readers = Readers(server=inherited_servers[0] if inherited_servers else None)
    atexit.register(readers.close)
    return readers


def read(function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> R:
    """Call a function in a reader of this process. See Readers.read."""
    return terminal_readers().read(function, *arguments, **keywords)


def is_busy() -> bool:
    """Return whether documents wait for a reader of this process."""
    return terminal_readers().is_busy


class EndedError(Exception):
    """An error raised when the reader process ended before it answered."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
        # The kernel's signal for used-up processor time (setrlimit).
        self.by_limit = code == -signal.SIGXCPU

    def meaning(self, cpu_seconds: int) -> tuple[str, str]:
        """Return the kind and detail of the failure."""
        if self.by_limit:
            detail = f"reading it takes more than {cpu_seconds} s of processor time"
            return Failure.TOO_COSTLY, detail
        return Failure.TOO_COSTLY, f"the process that read it ended ({self.code})"


class _Process:
    """A reader process and the pipes to it."""

    def __init__(self, cpu_seconds: int, server: ForkServer) -> None:
        self._read = bytearray()
        self.free = False
        """True when the process has answered its last job; first set when it reports that it is ready."""
        jobs, self._jobs = os.pipe()
        self._answers, answers = os.pipe()
        try:
            request = {"name": "reader", "cpu_seconds": cpu_seconds}
            self._process = server.fork("reader", request, [jobs, answers])
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
        """Send a job. Raises EndedError when the process has ended."""
        self.free = False
        try:
            view = memoryview(LENGTH.pack(len(job)) + job)
            while view:
                view = view[os.write(self._jobs, view) :]
        except OSError:
            raise EndedError(self._process.wait()) from None

    def answer(self, seconds: float) -> bytes | None:
        """Return the reply. Returns None after `seconds` without one. Raises EndedError."""
        until = time.monotonic() + seconds
        waiting = select.poll()
        waiting.register(self._answers, select.POLLIN)
        while True:
            has_head = len(self._read) >= LENGTH.size
            message_size = LENGTH.size + (LENGTH.unpack_from(self._read)[0] if has_head else 0)
            # A reply may come in pieces, its length first.
            if len(self._read) >= max(message_size, LENGTH.size + 1):
                reply = bytes(self._read[LENGTH.size :])
                self._read.clear()
                self.free = True
                return reply
            remaining_seconds = until - time.monotonic()
            if remaining_seconds <= 0 or not waiting.poll(remaining_seconds * 1000):
                return None
            chunk = os.read(self._answers, 1 << 20)
            if not chunk:
                raise EndedError(self._process.wait())
            self._read += chunk

    def size(self) -> int:
        """Return the resident memory in bytes. Returns 0 if the system does not tell."""
        try:
            return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * _PAGE
        except (OSError, ValueError):
            return 0

    def end(self) -> None:
        """Kill the process and wait up to MAX_END_SECONDS for its end."""
        self._process.kill()
        os.close(self._jobs)
        os.close(self._answers)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(MAX_END_SECONDS)
        self._process.close()


class _Records(pickle.Unpickler):
    """An unpickler that admits only our document records and built-in values, since replies are untrusted."""

    def find_class(self, module: str, name: str) -> Any:
        record_class = getattr(documents, name, None) if module == documents.__name__ else None
        if isinstance(record_class, type) and issubclass(record_class, Record):
            return record_class
        # pickle runs what it names: a reader that was taken over must not reach the terminal through its
        # answer.
        raise pickle.UnpicklingError(f"an answer may not hold {module}.{name}")


def _result(reply: bytes) -> Any:
    """Return the result in a reply. Raises ReadingError."""
    try:
        outcome, *values = _Records(io.BytesIO(reply)).load()
    except Exception as error:  # a damaged pickle raises whatever it likes
        raise ReadingError(Failure.MALFORMED, f"the answer of the reader is damaged: {error}") from None
    if outcome == "read":
        return values[0]
    if outcome == "refused":
        kind, detail = values
        # Only names of failures that exist, for the answer is a stranger's.
        raise ReadingError(kind if kind in _KINDS else Failure.MALFORMED, detail)
    log.warning("a document breaks its reader: %s", values[0])
    raise ReadingError(Failure.MALFORMED, f"the analysis failed: {values[0]}")
