"""Ties between a child process and its supervisor: the child dies with it, and reports when it is ready."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import sys
import threading
import time
from typing import Any

log = logging.getLogger(__name__)

READY_FD = "FRESHET_READY_FD"
PROCESS_NAME = "FRESHET_PROCESS"

# Of billiard.pool: its states while it works and ends, and the exit of a process replaced for its size.
POOL_RUNS, POOL_TERMINATES, RECYCLED = 0, 2, 0x9B

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


def watch_parent(seconds: float = 1.0) -> None:
    """End this process within `seconds` of its parent's death, whichever thread of the parent made it.

    For pool processes: the kernel's signal above comes when the *thread* that forked ends, and Celery
    replaces pool processes from a thread that ends before they have finished their tasks.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(seconds)
        os._exit(1)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


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


def die_with_a_pool_process(pool: Any) -> None:
    """End this process when one of its pool's was killed, because the others might wait for ever.

    Billiard's pool processes share one queue, and the idle process that waits for its next message holds the
    lock on the queue: killed at that moment it never releases it. The supervisor then restarts this process,
    and the broker redelivers its messages. Pools of Celery's event loop give every process a queue of its
    own, and are left alone.
    """
    if not getattr(pool, "threads", False):
        return

    def down(process: Any) -> None:
        if pool._state == POOL_RUNS and process.exitcode != RECYCLED:
            log.critical("pool process %s died (%s): this worker starts anew", process.pid, process.exitcode)
            os.kill(os.getpid(), signal.SIGKILL)

    pool.on_process_down = down


def end_idle_pool_at_once(pool: Any) -> None:
    """Make a Celery pool of processes that is idle end at once when closed, not seconds later.

    Billiard's supervising threads and its processes sleep a second each, one after the other. Running tasks
    still finish as usual.
    """
    close = pool.on_close

    def end() -> None:
        processes = pool._pool
        if processes is None or processes._cache:
            close()
            return
        processes._state = POOL_TERMINATES
        # It would wait at the exit for the lock that an idle process held when it was killed.
        processes._terminate.cancel()
        for process in list(processes._pool):
            with contextlib.suppress(OSError):
                os.kill(process.pid, signal.SIGKILL)

    pool.on_close = end


def tell_ready() -> None:
    """Write this process's name to the pipe that the supervisor handed down, if there is one."""
    fd, name = os.environ.get(READY_FD), os.environ.get(PROCESS_NAME)
    if fd and name:
        with contextlib.suppress(OSError):
            os.write(int(fd), f"{name}\n".encode())
