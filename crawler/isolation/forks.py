"""Processes made by fork: they share the memory that their parent has loaded, and begin at once.

A process that loads Django and its libraries takes seconds and a hundred megabytes; a fork of a loaded
process takes milliseconds, and memory only for the pages that it changes. `fork` must be called while there
is one thread: other threads do not exist in the child, and their locks stay locked there.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Collection
from typing import Protocol

from crawler.isolation import lifeline, memory

_LOOK_SECONDS = 0.01
_PR_SET_NAME = 15
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Process(Protocol):
    """A process under supervision; its `pid` is 0 until it is known."""

    pid: int

    def poll(self) -> int | None:
        """Return its exit code, negative where a signal ended it, None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for it to end. Returns its exit code. Raises subprocess.TimeoutExpired after `timeout`."""

    def terminate(self) -> None:
        """Send it SIGTERM."""

    def kill(self) -> None:
        """Kill it with its group."""


class Forked:
    """A child of this process, which leads a group."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for it to end. Returns its exit code. Raises subprocess.TimeoutExpired after `timeout`."""
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            time.sleep(_LOOK_SECONDS)
        return code

    def terminate(self) -> None:
        """Ask the child to end, if it runs."""
        if self.poll() is None and self.pid:
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the child with its group, if it runs."""
        if self.poll() is None and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def fork(run: Callable[[], object], name: str, inherited: Collection[int] = ()) -> Forked:
    """Run the function in a child, which exits with 0 after a return, 1 after an exception, or the code of a
    SystemExit.

    The child leads a group of its own, dies with this process and handles no signal yet. Its only open files
    are the standard ones (its input is empty) and those in `inherited`.
    """
    parent, open_files = os.getpid(), _open_descriptors()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):  # it leads a group before it is signalled
            os.setpgid(pid, pid)
        return Forked(pid)
    code = 1
    try:
        os.setpgid(0, 0)
        lifeline.die_with_parent(signal.SIGKILL, parent)
        set_process_name(name)
        memory.offer_to_kernel(name)
        _forget_signals()
        for descriptor in open_files - {0, 1, 2, *inherited}:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        _empty_input()
        run()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def set_process_name(name: str) -> None:
    """Set the name that `ps` shows, at most 15 bytes. Does nothing outside Linux."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)


def _open_descriptors() -> set[int]:
    """Return the open descriptors. To be called before the fork, which opens others."""
    return {int(name) for name in os.listdir("/dev/fd") if name.isdigit()}


def _empty_input() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


class ResultError(Exception):
    """An error raised by a function in another process: the name of its class, and its message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ForkedResult:
    """The result of a function that runs in its own process, so that its memory is freed afterwards."""

    def __init__(self, function: Callable[[], str], name: str) -> None:
        self._reader, writer = os.pipe()

        def run() -> None:
            try:
                outcome = ["", function()]
            except Exception as error:
                outcome = [type(error).__name__, str(error)]
            with os.fdopen(writer, "w") as pipe:
                json.dump(outcome, pipe)

        self._process = fork(run, name, [writer])
        os.close(writer)

    def get(self) -> str:
        """Wait for the result. Raises ResultError if the function raised or its process died."""
        with os.fdopen(self._reader) as pipe:
            message = pipe.read()
        code = self._process.wait()
        if not message:
            raise ResultError("Ended", f"its process ended ({code})")
        kind, text = json.loads(message)
        if kind:
            raise ResultError(kind, text)
        return str(text)
