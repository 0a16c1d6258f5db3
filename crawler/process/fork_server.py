"""A process that has loaded what others need, knows no secret, and forks them when it is asked.

What handles hostile bytes must not be a fork of a process that knows passwords: they would still be in
its memory. So it is forked from a server that was started as a program of its own, behind whatever walls,
with an environment in which there are none. `ForkServer` is the side of whoever asks; the server imports the
modules that it is given, and these add what may be forked to `PROGRAMS`.

A request is a length, JSON and descriptors on a local socket. The last descriptor is the child's status: its
process id is written there when it has begun and its exit code when it has ended.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler.process import forks

MOST_CHILDREN = 64

Run = Callable[[dict[str, Any], list[int]], object]
"""What a child does with the words and the descriptors that it was given."""


@dataclass(frozen=True, slots=True)
class Program:
    """What may be forked. With `asks` its last descriptor is a socket where it may ask for these programs."""

    run: Run
    asks: tuple[str, ...] = ()


PROGRAMS: dict[str, Program] = {}

_LENGTH = struct.Struct("<I")
_STATUS = struct.Struct("<i")
_MOST_DESCRIPTORS = 8
_MOST_BYTES = 65_536
_PATIENCE_SECONDS = 5.0
_ROOT = Path(__file__).resolve().parents[2]
_KILLED = -int(signal.SIGKILL)


class ForkServer:
    """A server to ask, at the other end of this socket. Safe to share by threads."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def fork(self, program: str, words: Mapping[str, Any], descriptors: Sequence[int]) -> Served:
        """Start a program of the server with these words and copies of these descriptors.

        Raises OSError when the server has ended.
        """
        told, tell = os.pipe()
        try:
            body = json.dumps({"program": program, "words": dict(words)}).encode()
            with self._lock:
                head = _LENGTH.pack(len(body))
                socket.send_fds(self._connection, [head], [*descriptors, tell])
                self._connection.sendall(body)
        except BaseException:
            os.close(told)
            raise
        finally:
            os.close(tell)
        return Served(told)

    def close(self) -> None:
        """Let it end, if nobody else asks it."""
        self._connection.close()


class Served(forks.Forked):
    """A child of the server. It counts as killed when the server, with which it dies, has ended."""

    def __init__(self, status: int) -> None:
        self._status = status
        super().__init__(0)

    def begun(self, seconds: float) -> bool:
        """Whether it has, after so many seconds at most; from then on `pid` is known."""
        self._hear(seconds)
        return self.pid != 0

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        self._hear(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises subprocess.TimeoutExpired after so many seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            left = 60.0 if until is None else until - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self._hear(left)
        return self.returncode

    def _hear(self, seconds: float) -> None:
        while self.returncode is None and select.select([self._status], [], [], seconds)[0]:
            said = os.read(self._status, _STATUS.size)
            if said and not self.pid:
                (self.pid,) = _STATUS.unpack(said)
            else:
                self.returncode = _STATUS.unpack(said)[0] if said else _KILLED
                os.close(self._status)
            seconds = 0.0


def started(
    modules: Sequence[str],
    environment: Mapping[str, str],
    walled: Callable[[list[str]], list[str]] = lambda command: command,
) -> tuple[ForkServer, subprocess.Popen[bytes]]:
    """A new server that loads these modules, and its process, which ends with this one and its last asker.

    `walled` makes of its command one that puts up walls first.
    """
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", f"from {__name__} import main; main()", str(theirs.fileno()), *modules]
    with theirs:
        process = subprocess.Popen(  # noqa: S603 - this very interpreter
            walled(command),
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            cwd=_ROOT,
            env=dict(environment),
            process_group=0,
        )
    return ForkServer(ours), process


class _Server:
    """The side that forks: one thread, which waits for requests and for the ends of its children."""

    def __init__(self, connection: socket.socket, programs: Mapping[str, Program]) -> None:
        self._askers: dict[socket.socket, Mapping[str, Program]] = {}
        self._status: dict[int, int] = {}
        self._wake, wake = os.pipe()
        for end in (self._wake, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._listen(connection, programs)

    def serve(self) -> None:
        """Until nobody is there who could ask."""
        while self._askers:
            ready = select.select([self._wake, *(asker.fileno() for asker in self._askers)], [], [])[0]
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 4096)
            for asker in [asker for asker in self._askers if asker.fileno() in ready]:
                self._answer(asker)
            self._tell_ends()

    def _listen(self, asker: socket.socket, programs: Mapping[str, Program]) -> None:
        asker.settimeout(_PATIENCE_SECONDS)
        self._askers[asker] = programs

    def _answer(self, asker: socket.socket) -> None:
        """Fork what is asked for. A status that is closed with nothing on it says that nothing was."""
        descriptors: list[int] = []
        try:
            name, words = _received(asker, descriptors)
        except (OSError, ValueError, KeyError):  # it has gone, or writes nonsense
            del self._askers[asker]
            asker.close()
        else:
            program = self._askers[asker].get(name)
            if program is not None and len(self._status) < MOST_CHILDREN:
                status = descriptors.pop()
                self._status[self._start(program, words, descriptors, status)] = status
        for descriptor in descriptors:
            os.close(descriptor)

    def _start(self, program: Program, words: dict[str, Any], given: list[int], status: int) -> int:
        """The process id of a child that runs the program."""
        kept = list(given)
        if program.asks:
            ours, theirs = socket.socketpair()
            kept.append(theirs.detach())
        child = forks.fork(lambda: program.run(words, kept), str(words.get("name", "")), kept).pid
        if program.asks:
            os.close(kept[-1])
            self._listen(ours, {name: PROGRAMS[name] for name in program.asks})
        with contextlib.suppress(OSError):
            os.write(status, _STATUS.pack(child))
        return child

    def _tell_ends(self) -> None:
        """Tell of the children that have ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                child, code = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                status = self._status.pop(child)
                with contextlib.suppress(OSError):
                    os.write(status, _STATUS.pack(os.waitstatus_to_exitcode(code)))
                os.close(status)


def _received(asker: socket.socket, descriptors: list[int]) -> tuple[str, dict[str, Any]]:
    """Program and words of the next request, whose descriptors are added to the list.

    Raises OSError when the asker has gone, ValueError or KeyError for what is no request.
    """
    head, found, _, _ = socket.recv_fds(asker, _LENGTH.size, _MOST_DESCRIPTORS)
    descriptors += found
    if len(head) < _LENGTH.size or not found:
        raise ConnectionResetError
    (length,) = _LENGTH.unpack(head)
    body = b""
    while len(body) < min(length, _MOST_BYTES):
        more = asker.recv(length - len(body))
        if not more:
            raise ConnectionResetError
        body += more
    request = json.loads(body)
    if not isinstance(request, dict) or not isinstance(request["words"], dict):
        raise ValueError("no request")
    return str(request["program"]), request["words"]


def main() -> None:
    """`-c "from crawler.process.fork_server import main; main()" SOCKET MODULE...`"""
    connection = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in sys.argv[2:]:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    _Server(connection, PROGRAMS).serve()
