"""Ties between a child process and its supervisor: the child dies with it, and reports when it is ready."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time

READY_FD = "FRESHET_READY_FD"
PROCESS_NAME = "FRESHET_PROCESS"
WANTED = "wanted:"
"""Before a process's name on the pipe to the supervisor: work waits for it."""

ending = threading.Event()
"""Set when this process was asked to end: what has not begun is given back."""

_PR_SET_PDEATHSIG = 1
# Loaded here, not in the child: between fork and exec nothing may import or allocate much.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(number: int = signal.SIGKILL, parent: int | None = None) -> None:
    """Ask the kernel for this signal when the parent dies (prctl(2), Linux only; elsewhere nothing).

    Call it in the child, after fork and after any change of user, which clears the setting. With the parent's
    process id given, a parent that died before this call counts too.
    """
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if parent is not None and os.getppid() != parent:
            os.kill(os.getpid(), number)


def die_when_stuck(seconds: int = 60) -> None:
    """Let the kernel end this process when none of its Python threads could run for so long.

    A parser that loops in C and keeps the interpreter's lock stops every thread; the timer set before still
    ends, and the default action of its signal is the end of the process. It measures processor time
    (ITIMER_PROF): with an alarm, which goes on while a process is stopped, the processes of a container that
    was paused for 45 s died when it went on (issue 56).
    """

    def watch() -> None:
        while True:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            time.sleep(seconds / 4)

    threading.Thread(target=watch, name="watchdog", daemon=True).start()


def tell_ready() -> None:
    """Write this process's name to the pipe that the supervisor handed down, if there is one."""
    if name := os.environ.get(PROCESS_NAME):
        _tell(name)


def tell_wanted(name: str) -> None:
    """Ask the supervisor to start the process of this name, if it does not run."""
    _tell(WANTED + name)


def _tell(line: str) -> None:
    if fd := os.environ.get(READY_FD):
        with contextlib.suppress(OSError):
            os.write(int(fd), f"{line}\n".encode())
