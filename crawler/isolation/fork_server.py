"""A process that preloads modules, holds no secrets and forks children on request.

A process that handles hostile bytes must not be a fork of one that knows passwords: they would still be in
its memory. So it is forked from a server that was started as a separate program, confined as needed, with
an environment without secrets. `ForkServer` is the client's side. The server imports the modules named in
its command, and these add programs to `PROGRAMS`.

A request is a length, JSON and descriptors on a local socket. The last descriptor is the status
pipe: the server writes the child's process id to it at the start, and its exit code at the end.
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

from crawler.isolation import forks, memory

MAX_CHILDREN = 64

Run = Callable[[dict[str, Any], list[int]], object]
"""The function of a child, called with the words and the descriptors of its request."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to fork. If `asks` has names, the child gets a socket as its last descriptor, and can request
    these programs on it.
    """

    run: Run
    asks: tuple[str, ...] = ()


PROGRAMS: dict[str, Program] = {}

_LENGTH = struct.Struct("<I")
_STATUS = struct.Struct("<i")
_MAX_DESCRIPTORS = 8
_MAX_BYTES = 65_536
_PATIENCE_SECONDS = 5.0
_ROOT = Path(__file__).resolve().parents[2]
_KILLED = -int(signal.SIGKILL)


class ForkServer:
    """A client of a fork server, over this socket. Threads may share it."""

    def __init__(self, connection: socket.socket, process: subprocess.Popen[bytes] | None = None) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._process = process
        self.pid = process.pid if process else 0
        """The server's process id, 0 if another process started the server."""

    def fork(self, program: str, arguments: Mapping[str, Any], descriptors: Sequence[int]) -> ServedChild:
        """Start a program of the server with these words and copies of these descriptors.

        Raises OSError when the server has ended.
        """
        status_read, status_write = os.pipe()
        try:
            body = json.dumps({"program": program, "words": dict(arguments)}).encode()
            with self._lock:
                head = _LENGTH.pack(len(body))
                # Descriptors go with the first bytes; a large body in the same call could be sent in part.
                socket.send_fds(self._connection, [head], [*descriptors, status_write])
                self._connection.sendall(body)
        except BaseException:
            os.close(status_read)
            raise
        finally:
            # Only the server may hold its end, or its death would not be seen.
            os.close(status_write)
        return ServedChild(status_read)

    @property
    def alive(self) -> bool:
        """True when this process started the server and the server runs."""
        return self._process is not None and self._process.poll() is None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the server to end. Returns its exit code, 0 where this process did not start it."""
        return self._process.wait(timeout) if self._process else 0

    def close(self) -> int:
        """End the server with all its children. Returns its exit code.

        A server that this process started and that does not end in time is killed.
        """
        self._connection.close()
        try:
            return self.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        return self.wait()


class ServedChild(forks.Forked):
    """A child of the fork server. It dies with the server; its exit code is then that of a kill."""

    def __init__(self, status: int) -> None:
        self._status = status
        self._kill_requested = False
        self.lost = False
        """True when the server ended before it reported the exit code of the child."""
        super().__init__(0)

    def begun(self, seconds: float) -> bool:
        """Wait until the child has begun and its `pid` is known. Returns False after `seconds`."""
        self._read_status(seconds)
        return self.pid != 0

    def poll(self) -> int | None:
        """Return the child's exit code, None while it runs."""
        self._read_status(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the child to end and return its exit code.

        Raises subprocess.TimeoutExpired after `timeout`.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            remaining_seconds = 60.0 if until is None else until - time.monotonic()
            if remaining_seconds <= 0:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self._read_status(remaining_seconds)
        return self.returncode

    def kill(self) -> None:
        """Kill the child with its group. A child without a known process id is killed as soon
        as the server reports the id.
        """
        self._kill_requested = True
        super().kill()

    def close(self) -> None:
        """Kill the child and stop listening to its status."""
        self.kill()
        if self.returncode is None:
            self._set_exit_code(_KILLED)

    def _read_status(self, seconds: float) -> None:
        while self.returncode is None and readable(self._status, seconds):
            message = os.read(self._status, _STATUS.size)
            if message and not self.pid:
                (self.pid,) = _STATUS.unpack(message)
                if self._kill_requested:
                    super().kill()
            else:
                self.lost = not message
                self._set_exit_code(_STATUS.unpack(message)[0] if message else _KILLED)
            seconds = 0.0

    def _set_exit_code(self, code: int) -> None:
        self.returncode = code
        os.close(self._status)


def start_server(
    modules: Sequence[str],
    environment: Mapping[str, str],
    confined: Callable[[list[str]], list[str]] = lambda command: command,
    idle_seconds: float | None = None,
    niceness: int = 0,
) -> ForkServer:
    """Start a server that loads these modules.

    The server ends with this process, its children with the server.

    `walled` wraps the server's command in one that confines it. With `idle_seconds` the server also ends when
    it has had no child and no request for that long. Children begin with its `niceness`.
    """
    own_end, other_end = socket.socketpair()
    options = json.dumps(
        {
            "socket": other_end.fileno(),
            "modules": list(modules),
            "idle_seconds": idle_seconds,
            "niceness": niceness,
        }
    )
    with other_end:
        try:
            process = subprocess.Popen(  # noqa: S603 - this very interpreter
                confined([sys.executable, "-c", f"from {__name__} import main; main()", options]),
                stdin=subprocess.DEVNULL,
                pass_fds=[other_end.fileno()],
                cwd=_ROOT,
                env=dict(environment),
                process_group=0,
            )
        except BaseException:
            own_end.close()
            raise
    return ForkServer(own_end, process)


def readable(descriptor: int, seconds: float) -> bool:
    """Wait until there is something to read, or the end of file. Returns False after `seconds`."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


class _Server:
    """The server's side: one thread, which waits for requests and for the ends of its children."""

    def __init__(
        self,
        connection: socket.socket,
        programs: Mapping[str, Program],
        idle_seconds: float | None = None,
    ) -> None:
        self._clients: dict[int, tuple[socket.socket, Mapping[str, Program]]] = {}
        self._owner = connection.fileno()
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
        """Fork on request until the client that started this process has gone, or after `idle_seconds`.

        Children die with this process. Children with a request socket of their own do not keep it alive.
        """
        while self._owner in self._clients:
            patience = None if self._status or self._idle_seconds is None else 1000 * self._idle_seconds
            ready = {descriptor for descriptor, _ in self._waiting.poll(patience)}
            if not ready:
                return
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 4096)
            for client in ready & self._clients.keys():
                self._answer(client)
            self._report_exits()

    def _listen(self, client: socket.socket, programs: Mapping[str, Program]) -> None:
        client.settimeout(_PATIENCE_SECONDS)
        self._clients[client.fileno()] = client, programs
        self._waiting.register(client, select.POLLIN)

    def _answer(self, number: int) -> None:
        """Fork the requested program.

        Closes the status pipe without a word if the program is unknown or there are MAX_CHILDREN already.
        """
        descriptors: list[int] = []
        client, programs = self._clients[number]
        try:
            name, words = _read_request(client, descriptors)
        except (OSError, ValueError, KeyError):  # it has gone, or its request is invalid
            del self._clients[number]
            self._waiting.unregister(number)
            client.close()
        else:
            program = programs.get(name)
            if program is not None and len(self._status) < MAX_CHILDREN:
                status = descriptors.pop()
                self._status[self._start(program, words, descriptors, status)] = status
        for descriptor in descriptors:
            os.close(descriptor)

    def _start(self, program: Program, arguments: dict[str, Any], descriptors: list[int], status: int) -> int:
        """Fork a child that runs the program. Returns its process id."""
        inherited = list(descriptors)
        if program.asks:
            own_end, other_end = socket.socketpair()
            inherited.append(other_end.detach())
        child = forks.fork(
            lambda: program.run(arguments, inherited), str(arguments.get("name", "")), inherited
        ).pid
        if program.asks:
            os.close(inherited[-1])
            self._listen(own_end, {name: PROGRAMS[name] for name in program.asks})
        try:
            os.write(status, _STATUS.pack(child))
        except OSError:  # the client has gone meanwhile
            os.kill(child, signal.SIGKILL)
        return child

    def _report_exits(self) -> None:
        """Report the exit codes of children that have ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                child, code = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                status = self._status.pop(child, None)
                if status is None:  # the server runs in a thread, and this is a child of its process
                    continue
                with contextlib.suppress(OSError):
                    os.write(status, _STATUS.pack(os.waitstatus_to_exitcode(code)))
                os.close(status)


def _read_request(client: socket.socket, descriptors: list[int]) -> tuple[str, dict[str, Any]]:
    """Read the program and words of the next request, and add its descriptors to the list.

    Raises OSError when the client has gone, ValueError or KeyError for an invalid request.
    """
    head, received, _, _ = socket.recv_fds(client, _LENGTH.size, _MAX_DESCRIPTORS)
    descriptors += received
    if len(head) < _LENGTH.size or not received:
        raise ConnectionResetError
    (length,) = _LENGTH.unpack(head)
    body = b""
    while len(body) < min(length, _MAX_BYTES):
        piece = client.recv(length - len(body))
        if not piece:
            raise ConnectionResetError
        body += piece
    request = json.loads(body)
    if not isinstance(request, dict) or not isinstance(request["words"], dict):
        raise ValueError("no request")
    return str(request["program"]), request["words"]


def main() -> None:
    """Serve with the settings that the command line gives as JSON.

    `-c "from crawler.isolation.fork_server import main; main()" '{"socket": 3, "modules": [...], ...}'`
    """
    options = json.loads(sys.argv[1])
    memory.offer_to_kernel("fork server")
    connection = socket.socket(fileno=options["socket"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with memory.without_collection():
        for module in options["modules"]:
            importlib.import_module(module)
    gc.collect()
    gc.freeze()
    os.nice(options["niceness"])  # now that it is loaded, which a start waits for
    _Server(connection, PROGRAMS, options["idle_seconds"]).serve()
