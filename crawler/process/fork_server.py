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

    def __init__(self, connection: socket.socket, process: subprocess.Popen[bytes] | None = None) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._process = process
        self.pid = process.pid if process else 0
        """Of its process, where it was started by this one."""

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

    @property
    def alive(self) -> bool:
        """Whether the process that was started runs."""
        return self._process is not None and self._process.poll() is None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code of the process that was started, once it has ended."""
        return self._process.wait(timeout) if self._process else 0

    def close(self) -> int:
        """Let it end, if nobody else asks it; its exit code. One started here that does not end is killed."""
        self._connection.close()
        try:
            return self.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        return self.wait()


class Served(forks.Forked):
    """A child of the server. It counts as killed when the server, with which it dies, has ended."""

    def __init__(self, status: int) -> None:
        self._status = status
        self._unwanted = False
        self.lost = False
        """Whether it ended, or never began, because the server did."""
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

    def kill(self) -> None:
        """Kill it with its group, if it runs; one that has not begun, as soon as it is heard of."""
        self._unwanted = True
        super().kill()

    def close(self) -> None:
        """Kill it, and hear of it no more."""
        self.kill()
        if self.returncode is None:
            self._ended(_KILLED)

    def _hear(self, seconds: float) -> None:
        while self.returncode is None and readable(self._status, seconds):
            said = os.read(self._status, _STATUS.size)
            if said and not self.pid:
                (self.pid,) = _STATUS.unpack(said)
                if self._unwanted:
                    super().kill()
            else:
                self.lost = not said
                self._ended(_STATUS.unpack(said)[0] if said else _KILLED)
            seconds = 0.0

    def _ended(self, code: int) -> None:
        self.returncode = code
        os.close(self._status)


def started(
    modules: Sequence[str],
    environment: Mapping[str, str],
    walled: Callable[[list[str]], list[str]] = lambda command: command,
    idle_seconds: float | None = None,
) -> ForkServer:
    """A new server that loads these modules. It ends with this process and its last asker.

    `walled` makes of its command one that puts up walls first. With `idle_seconds` it ends, too, when it has
    had no child and no request for so long.
    """
    ours, theirs = socket.socketpair()
    told = json.dumps({"socket": theirs.fileno(), "modules": list(modules), "idle_seconds": idle_seconds})
    with theirs:
        try:
            process = subprocess.Popen(  # noqa: S603 - this very interpreter
                walled([sys.executable, "-c", f"from {__name__} import main; main()", told]),
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=_ROOT,
                env=dict(environment),
                process_group=0,
            )
        except BaseException:
            ours.close()
            raise
    return ForkServer(ours, process)


def readable(descriptor: int, seconds: float) -> bool:
    """Whether there is something to read, or the end, within so many seconds. select(2) ends at 1,023."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


class _Server:
    """The side that forks: one thread, which waits for requests and for the ends of its children."""

    def __init__(
        self,
        connection: socket.socket,
        programs: Mapping[str, Program],
        idle_seconds: float | None = None,
    ) -> None:
        self._askers: dict[int, tuple[socket.socket, Mapping[str, Program]]] = {}
        self._status: dict[int, int] = {}
        self._idle_seconds = idle_seconds
        self._waiting = select.poll()
        self._wake, wake = os.pipe()
        for end in (self._wake, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._waiting.register(self._wake, select.POLLIN)
        self._listen(connection, programs)

    def serve(self) -> None:
        """Until nobody is there who could ask, or nobody has asked for long."""
        while self._askers:
            patience = None if self._status or self._idle_seconds is None else 1000 * self._idle_seconds
            ready = {descriptor for descriptor, _ in self._waiting.poll(patience)}
            if not ready:
                return
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 4096)
            for asker in ready & self._askers.keys():
                self._answer(asker)
            self._tell_ends()

    def _listen(self, asker: socket.socket, programs: Mapping[str, Program]) -> None:
        asker.settimeout(_PATIENCE_SECONDS)
        self._askers[asker.fileno()] = asker, programs
        self._waiting.register(asker, select.POLLIN)

    def _answer(self, asking: int) -> None:
        """Fork what is asked for. A status that is closed with nothing on it says that nothing was."""
        descriptors: list[int] = []
        asker, programs = self._askers[asking]
        try:
            name, words = _received(asker, descriptors)
        except (OSError, ValueError, KeyError):  # it has gone, or writes nonsense
            del self._askers[asking]
            self._waiting.unregister(asking)
            asker.close()
        else:
            program = programs.get(name)
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
        try:
            os.write(status, _STATUS.pack(child))
        except OSError:  # whoever asked for it has gone meanwhile
            os.kill(child, signal.SIGKILL)
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
    """`-c "from crawler.process.fork_server import main; main()" '{"socket": 3, "modules": [...], ...}'`"""
    told = json.loads(sys.argv[1])
    connection = socket.socket(fileno=told["socket"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in told["modules"]:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    _Server(connection, PROGRAMS, told["idle_seconds"]).serve()
