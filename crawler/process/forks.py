"""Processes made by fork: they share what their parent has loaded, and begin at once.

A process that loads Django and its libraries takes seconds and a hundred megabytes; a fork of one that has
takes milliseconds, and only the pages that it changes. `fork` must be called while there is one thread: the
others are not in the child, and what they had locked stays locked there.
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

from crawler.process import lifeline

_LOOK_SECONDS = 0.01
_PR_SET_NAME = 15
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Process(Protocol):
    """A process that somebody keeps; its `pid` is 0 until it is known."""

    pid: int

    def poll(self) -> int | None:
        """Its exit code, negative where a signal ended it; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises subprocess.TimeoutExpired after so many seconds."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """Kill it, with all of its group."""


class Forked:
    """A child of this process, which leads a group."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises subprocess.TimeoutExpired after so many seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            time.sleep(_LOOK_SECONDS)
        return code

    def terminate(self) -> None:
        """Ask it to end, if it runs."""
        if self.poll() is None and self.pid:
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill it with its group, if it runs."""
        if self.poll() is None and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def fork(run: Callable[[], object], name: str, kept: Collection[int] = ()) -> Forked:
    """Run the function in a child, which ends with it; its exit code is 0, or 1 after an exception.

    The child leads a group of its own, dies with this process, handles no signal yet, and has of the open
    files only the standard ones (its input is empty) and those `kept`.
    """
    parent, opened = os.getpid(), _opened()
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
        call_it(name)
        _forget_signals()
        for descriptor in opened - {0, 1, 2, *kept}:
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


def call_it(name: str) -> None:
    """Let `ps` show this name for the process, where the kernel is Linux; its first 15 bytes."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)


def _opened() -> set[int]:
    """Descriptors that are open now: what is done right after a fork may open others."""
    return {int(name) for name in os.listdir("/dev/fd") if name.isdigit()}


def _empty_input() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


class ResultError(Exception):
    """What a function raised in another process: the name of its class, and what it said."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ForkedResult:
    """What a function will have said, which runs in a process of its own: what it took is given back."""

    def __init__(self, function: Callable[[], str], name: str) -> None:
        self._said, say = os.pipe()

        def run() -> None:
            try:
                answer = ["", function()]
            except Exception as error:
                answer = [type(error).__name__, str(error)]
            with os.fdopen(say, "w") as pipe:
                json.dump(answer, pipe)

        self._process = fork(run, name, [say])
        os.close(say)

    def get(self) -> str:
        """The answer, once it is there. Raises ResultError where the function raised, or its process died."""
        with os.fdopen(self._said) as pipe:
            said = pipe.read()
        code = self._process.wait()
        if not said:
            raise ResultError("Ended", f"its process ended ({code})")
        kind, answer = json.loads(said)
        if kind:
            raise ResultError(kind, answer)
        return str(answer)
