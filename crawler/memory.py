"""What the C library does with memory that is free again."""

from __future__ import annotations

import ctypes

_M_ARENA_MAX = -8  # malloc.h
_ARENAS = 2


def share_arenas() -> None:
    """Let all threads take memory from two arenas; glibc alone gives each thread one and keeps what it freed.

    To be called before there are threads. Does nothing where the C library is another one.
    """
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(_M_ARENA_MAX, _ARENAS)
