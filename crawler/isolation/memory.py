"""Memory: how much is installed, return of free memory, and the order in which the kernel kills processes."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

MEGABYTE = 2**20
SMALL_BYTES = 1500 * MEGABYTE
ASSUMED_SMALL_BYTES = 512 * MEGABYTE
"""The memory to work with where FRESHET_SMALL asks for little."""

OOM_SCORES = {
    "supervisor": -800, "fork server": 100, "web": 200, "controller": 300, "terminal": 400,
    "transformer": 700, "graph": 700, "reader": 900, "query": 900,
}  # fmt: skip
"""From -1,000 (never) to 1,000 (first); PostgreSQL has that of the supervisor, which starts it."""

TRIM_SECONDS = 10.0
"""To trim a heap of 100 MB takes some milliseconds."""

IDLE_SECONDS = 30.0
"""Time without a task after which a process empties its caches. The largest, 67 MB, is refilled in 0.4 s."""

_GROUPS = Path("/sys/fs/cgroup")
_M_ARENA_MAX = -8  # malloc.h
_ARENAS = 2


def share_arenas() -> None:
    """Let all threads allocate from two arenas. By default glibc gives each thread one and keeps its memory.

    Call it before there are threads. Does nothing with another C library.
    """
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Return free memory to the system, if the C library is glibc, which would keep most of it."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


_next_trim = 0.0


def give_back_now_and_then() -> None:
    """Return free memory to the system if that was last done TRIM_SECONDS ago; always where memory is small.

    Work comes in bursts, and what a burst has freed stays with each process otherwise.
    """
    global _next_trim  # noqa: PLW0603 - one heap in each process
    now = time.monotonic()
    if now >= _next_trim or is_small():
        _next_trim = now + TRIM_SECONDS
        give_back()


_caches: list[Callable[[], object]] = []


def empty_when_idle(clear: Callable[[], object]) -> None:
    """Register a function that empties a cache, to be called when this process is idle."""
    _caches.append(clear)


class Tidier:
    """A thread that empties the registered caches and returns free memory some time after the last task.

    It starts with the first task, so that forks of a process without tasks have none.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._last_task = 0.0
        self._has_worked = threading.Event()
        self._thread: threading.Thread | None = None

    def note_task(self) -> None:
        """Record that a task has ended just now."""
        self._last_task = time.monotonic()
        self._has_worked.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="tidier", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while self._has_worked.wait():
            while (wait_seconds := self._last_task + self._idle_seconds - time.monotonic()) > 0:
                time.sleep(wait_seconds)
            self._has_worked.clear()
            for clear in _caches:
                clear()
            give_back()


tidier = Tidier()
"""The tidier of this process."""


@cache
def installed() -> int:
    """Return the bytes of memory of this machine, or of its control groups (a container's) if fewer.

    With FRESHET_SMALL=1 in the environment it is ASSUMED_SMALL_BYTES at most.
    """
    size = os.sysconf("SC_PHYS_PAGES") * resource.getpagesize()
    if os.environ.get("FRESHET_SMALL", "").strip().lower() in {"1", "yes", "true", "on"}:
        size = min(size, ASSUMED_SMALL_BYTES)
    for limit in _group_limits():
        with contextlib.suppress(OSError, ValueError):
            size = min(size, int(limit.read_text()))
    return size


def _group_limits() -> Iterator[Path]:
    """Yield the files with the limits of this process's control groups and their parents (cgroups(7))."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    roots = {"": (_GROUPS, "memory.max"), "memory": (_GROUPS / "memory", "memory.limit_in_bytes")}
    for controller, (root, name) in roots.items():
        yield root / name
        for line in lines:
            _, controllers, path = line.split(":", 2)
            if controller not in controllers.split(",") or ".." in path:
                continue
            group = root / path.strip("/")
            yield from (parent / name for parent in (group, *group.parents) if root in parent.parents)


def share(part: float, min_megabytes: int, max_megabytes: int) -> int:
    """Return a part of the installed memory in bytes, between bounds in megabytes."""
    return int(min(max(installed() * part, min_megabytes * MEGABYTE), max_megabytes * MEGABYTE))


def is_small() -> bool:
    """Return whether memory is so small that work is done one piece after another."""
    return installed() < SMALL_BYTES


def offer_to_kernel(name: str) -> None:
    """Set how soon the kernel kills this process when memory runs out, by OOM_SCORES.

    A process may always raise its own score; only root lowers it (proc(5), oom_score_adj).
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORES.get(name, 300)))


def resident() -> int:
    """Return the bytes of resident memory of this process, 0 if the system does not tell."""
    return _statm(1)


def address_space() -> int:
    """Return the bytes of this process's address space; 0 if the system does not tell."""
    return _statm(0)


def _statm(field: int) -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[field]) * resource.getpagesize()
    except (OSError, ValueError):
        return 0


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage while modules are loaded, which make none: a fifth of the time of loading."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def keep_what_is_loaded() -> None:
    """Exclude objects loaded so far from garbage collection: modules and settings stay until the end.

    They are most of what every full collection would visit: a tenth of the time of plans, and a pause of a
    tenth of a second in the middle of a request.
    """
    gc.collect()
    gc.freeze()
