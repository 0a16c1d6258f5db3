"""Calls of programs in processes of their own: a request and bytes go in, an answer or a failure comes out.

The caller's side is `Programs`, which starts a fork server when it is first needed and again when it has
ended. The program's side is a function given to `register`, which makes an answer of a request and bytes,
within limits. An answer counts only if its process ended by itself: a limit never leaves half of one.
"""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from crawler.isolation import fork_server, walls
from crawler.isolation.fork_server import ForkServer, ServedChild
from crawler.isolation.limits import ProcessLimits

START_SECONDS = 60.0
"""Time in which a process must have begun, longer because the machine may be busy with other things."""
END_SECONDS, ENDING_SECONDS = 5.0, 1.0
_ANSWER, _FAILURE = b"+", b"-"
_PIECE = 65_536

Command = Callable[[list[str]], list[str]]
Make = Callable[[dict[str, Any], bytes], bytes]
Stream = Callable[[dict[str, Any], bytes], Iterator[bytes]]
Hear = Callable[[bytes], None]
HEAR_SECONDS = 1.0
"""Time after which the hearer of an answer is called although nothing has come."""
# Weak, so that instances that nobody uses any more can go.
_every: weakref.WeakSet[Programs] = weakref.WeakSet()


class ProgramError(Exception):
    """Error for a program without a result: `kind` is a failure's name, `detail` a sentence.

    Kinds of this module: "busy" if no process could be started, "too-slow", "too-large", "too-costly" if a
    limit or a fault ended the process.
    """

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


class _ServerEndedError(Exception):
    """Error for a server that ended before the program did."""


class Programs:
    """The programs of some modules, each call in a process of its own. Threads may share it.

    `confined` wraps the command of the server in one that confines it. The server ends after `idle_seconds`
    without a call, and with this process.
    """

    def __init__(
        self, modules: Sequence[str], idle_seconds: float, confined: Command = lambda command: command
    ) -> None:
        self._modules = list(modules)
        self._idle_seconds, self._confined = idle_seconds, confined
        self._forget()
        _every.add(self)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._server: ForkServer | None = None

    @property
    def pid(self) -> int:
        """The process id of the server that was started last, 0 for none."""
        return self._server.pid if self._server else 0

    def add_module(self, module: str) -> None:
        """Let the server load a module that adds to `fork_server.PROGRAMS`; called on import."""
        if module not in self._modules:
            self._modules.append(module)

    def call(
        self,
        program: str,
        request: dict[str, Any],
        body: bytes | None,
        *,
        seconds: float,
        max_bytes: int,
        hear: Hear | None = None,
    ) -> bytes:
        """Run a program with a request, and with a body to read unless it is None. Returns its answer.

        Raises ProgramError if it fails, takes longer than `seconds` from its begin, or answers with more than
        `max_bytes`. If the server ends meanwhile, idle or killed for another's sake, it runs once more.
        `hear` gets the pieces of the answer as they come, and an empty one every HEAR_SECONDS without any;
        what it raises ends the program.
        """
        # The server ends when it is idle, and may do so just as it is asked.
        with suppress(_ServerEndedError):
            return self._called(program, request, body, seconds, max_bytes, hear=hear)
        try:
            return self._called(program, request, body, seconds, max_bytes, hear=hear)
        except _ServerEndedError as error:
            raise ProgramError("busy", f"the process that starts it {error}") from error

    def close(self) -> None:
        """End the server and its programs."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _running(self) -> ForkServer:
        with self._lock:
            if self._server is None or not self._server.alive:
                if self._server is not None:
                    self._server.close()
                self._server = fork_server.start_server(
                    self._modules, walls.environment(), self._confined, self._idle_seconds
                )
                # It must not stay a zombie when it ends, and nobody else waits for it.
                wait = self._server.wait
                threading.Thread(target=wait, name="wait for programs", daemon=True).start()
            return self._server

    def _discard(self, server: ForkServer) -> _ServerEndedError:
        """Forget a server that has ended, so that the next call starts another. Returns why there is none."""
        with self._lock:
            if self._server is server:
                self._server = None
        code = server.close()
        return _ServerEndedError("could not be started" if code and code > 0 else "ended twice")

    def _called(
        self,
        program: str,
        request: dict[str, Any],
        body: bytes | None,
        seconds: float,
        max_bytes: int,
        *,
        hear: Hear | None,
    ) -> bytes:
        server = self._running()
        answers, answers_end = os.pipe()
        bodies_end, bodies = os.pipe() if body is not None else (-1, -1)
        try:
            try:
                ends = [end for end in (bodies_end, answers_end) if end >= 0]
                child = server.fork(program, {"name": program, **request}, ends)
            finally:
                _close(bodies_end, answers_end)
        except OSError as error:
            _close(bodies, answers)
            raise self._discard(server) from error
        try:
            _wait_for_begin(child, bodies, answers)
            reply = _exchanged(bodies, body or b"", answers, time.monotonic() + seconds, max_bytes, hear=hear)
            return _answer_in(reply, child)
        except _ServerEndedError:
            # A server at MAX_CHILDREN refuses without having ended; to start another would only add to the
            # load.
            if not _has_ended(server):  # it has its maximum of children, which go on
                raise ProgramError("busy", "too many processes are running") from None
            raise self._discard(server) from None
        finally:
            child.close()


def register(name: str, make: Make, limits: ProcessLimits) -> None:
    """Register a program that answers with `make(request, body)`, within limits; called on import.

    A request may name other `cpu_seconds`. What `make` raises is a failure: of its kind for an error that has
    `kind` and `detail`, else "malformed", for nothing says what libraries raise on bytes that were made to
    break them.
    """

    def run(request: dict[str, Any], descriptors: list[int]) -> None:
        *bodies, answers = descriptors
        replace(limits, cpu_seconds=request.get("cpu_seconds", limits.cpu_seconds)).apply()
        with os.fdopen(answers, "wb") as out:
            out.write(_made(make, request, bodies))

    fork_server.PROGRAMS[name] = fork_server.Program(run)


def register_stream(name: str, make: Stream, limits: ProcessLimits) -> None:
    """Register a program that answers piece by piece, for callers that hear them; called on import.

    It has to turn its failures into pieces: what `make` raises ends the process, which is "too-costly".
    """

    def run(request: dict[str, Any], descriptors: list[int]) -> None:
        *bodies, answers = descriptors
        limits.apply()
        with os.fdopen(answers, "wb", buffering=0) as out:
            out.write(_ANSWER)
            for piece in make(request, _body_in(bodies)):
                out.write(piece)

    fork_server.PROGRAMS[name] = fork_server.Program(run)


def _body_in(bodies: Sequence[int]) -> bytes:
    body = b""
    for descriptor in bodies:
        with os.fdopen(descriptor, "rb") as file:
            body = file.read()
    return body


def _made(make: Make, request: dict[str, Any], bodies: Sequence[int]) -> bytes:
    try:
        return _ANSWER + make(request, _body_in(bodies))
    except MemoryError:
        return _FAILURE + b"too-costly\nit takes more memory than is allowed"
    except Exception as error:
        kind, detail = getattr(error, "kind", None), getattr(error, "detail", None)
        # Errors of libraries have attributes of their own; only ours have these two as texts.
        if not isinstance(kind, str) or not isinstance(detail, str):
            kind, detail = "malformed", f"{type(error).__name__}: {error}"
        return _FAILURE + f"{kind}\n{detail[:1000]}".encode("utf-8", "replace")


def _has_ended(server: ForkServer) -> bool:
    """Return whether a server that left a program has ended. Its end may take a moment."""
    try:
        server.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _wait_for_begin(child: ServedChild, *pipes: int) -> None:
    """Wait until a child has begun. Closes the pipes and raises if it does not."""
    if not child.begun(START_SECONDS):
        _close(*pipes)
        raise _ServerEndedError if child.lost else ProgramError("too-slow", "it did not begin")


def _answer_in(reply: bytes, child: ServedChild) -> bytes:
    """Return the answer in what a child has written. Raises ProgramError, _ServerEndedError."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(END_SECONDS)
    if child.lost:
        raise _ServerEndedError
    # Half of an answer, cut by a limit, may look like a whole one.
    if child.returncode != 0 or not reply:
        raise ProgramError("too-costly", f"the process ended ({child.returncode})")
    if reply[:1] == _ANSWER:
        return reply[1:]
    kind, _, detail = reply.removeprefix(_FAILURE).decode("utf-8", "replace").partition("\n")
    raise ProgramError(kind, detail)


def _exchanged(
    writer: int, body: bytes, reader: int, until: float, max_bytes: int, *, hear: Hear | None
) -> bytes:
    """Write a body to one pipe and return what comes from another, closing both. Raises ProgramError."""
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    unsent = memoryview(body)
    if writer >= 0:
        os.set_blocking(writer, False)
        waiting.register(writer, select.POLLOUT)
    pieces: list[bytes] = []
    size = 0
    try:
        while True:
            remaining = until - time.monotonic()
            if remaining <= 0 or size > max_bytes:
                raise ProgramError("too-slow" if remaining <= 0 else "too-large")
            ready = waiting.poll((min(remaining, HEAR_SECONDS) if hear else remaining) * 1000)
            if hear and not ready:
                hear(b"")
            for descriptor, _ in ready:
                if descriptor == reader:
                    piece = os.read(reader, _PIECE)
                    if not piece:
                        return b"".join(pieces)
                    pieces.append(piece)
                    size += len(piece)
                    if hear:
                        hear(piece if size > len(piece) else piece[1:])
                    continue
                with suppress(OSError):  # it has ended; its answer says why, if anything does
                    unsent = unsent[os.write(writer, unsent[:_PIECE]) :] if unsent else unsent
                    if unsent:
                        continue
                waiting.unregister(writer)
                os.close(writer)
                writer = -1
    finally:
        _close(writer, reader)


def _forget_servers() -> None:
    """Forget the servers in a forked child: two processes cannot share the socket of one."""
    for programs in _every:
        programs._forget()


os.register_at_fork(after_in_child=_forget_servers)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        if descriptor >= 0:
            os.close(descriptor)
