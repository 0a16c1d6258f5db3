"""What the C library does with memory that is free again, and Python's collector with what stays."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
from pathlib import Path

_M_ARENA_MAX = -8  # malloc.h
_ARENAS = 2


def share_arenas() -> None:
    """Let all threads take memory from two arenas; glibc alone gives each thread one and keeps what it freed.

    To be called before there are threads. Does nothing where the C library is another one.
    """
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Return what is free to the system, where the C library is glibc, which would keep most of it."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


def installed() -> int:
    """Bytes of memory that this machine has, or that its control group (a container's) may use."""
    bytes_ = os.sysconf("SC_PHYS_PAGES") * resource.getpagesize()
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            bytes_ = min(bytes_, int((Path("/sys/fs/cgroup") / name).read_text()))
    return bytes_


def resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError):
        return 0


def keep_what_is_loaded() -> None:
    """Let the collector pass over what is there now: modules and settings, which stay as long as the process.

    They are most of what every full collection would look at: a tenth of the time of plans, and a pause of
    a tenth of a second in the middle of a request.
    """
    gc.collect()
    gc.freeze()
