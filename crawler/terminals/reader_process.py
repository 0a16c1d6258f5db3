"""The process that reads documents for a terminal: one job after another, each within its own limits.

Forked by a fork server when `crawler.terminals.readers` asks for it. A job comes on one pipe as a length (8
bytes) and a pickle of a function and its arguments; the answer goes back on another in the same form. The
kernel ends the process when a job takes too much processor time, whatever code it hangs in, and
lets it open no socket and start no program (`walls`).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import struct
from typing import Any, BinaryIO

from crawler.process import memory, walls
from crawler.process.fork_server import PROGRAMS, Program, readable

LENGTH = struct.Struct("<Q")
MEMORY_BYTES = 2_000_000_000
"""Address space of the process: beyond it an allocation fails, and with it the document."""

LARGE = 1_000_000
"""Bytes of a job after which freed memory goes back to the system."""

IDLE_SECONDS = 30.0
"""A process that has had nothing to read for so long ends; another is there within milliseconds."""


def serve(words: dict[str, Any], pipes: list[int]) -> None:
    """Answer jobs until their pipe ends or stays empty; each may take `cpu_seconds` of processor time."""
    cpu_seconds = int(words["cpu_seconds"])
    jobs, answers = os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb")
    os.dup2(2, 1)  # what a library prints must not pass for an answer
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    walls.shut()
    with contextlib.suppress(BrokenPipeError):
        _send(answers, b"ready")
        while (job := _next(jobs)) is not None:
            _allow(cpu_seconds)
            answer, large = _answer(job), len(job) > LARGE
            del job
            if large:
                memory.give_back()
            _send(answers, answer)


def _send(answers: BinaryIO, answer: bytes) -> None:
    answers.write(LENGTH.pack(len(answer)) + answer)
    answers.flush()


def _next(jobs: BinaryIO) -> bytes | None:
    """The next job; None when the terminal has gone, or has had none for long."""
    if not readable(jobs.fileno(), IDLE_SECONDS):
        return None
    head = jobs.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    job = jobs.read(length)
    return job if len(job) == length else None


def _allow(cpu_seconds: int) -> None:
    """So much processor time from now on; the limit counts from the start of the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def _answer(job: bytes) -> bytes:
    """`("read", result)`, or `("refused", kind, detail)` of an error that names a failure, or
    `("broke", detail)` of any other: a fault of ours on bytes of theirs.
    """
    answer: tuple[Any, ...]
    try:
        function, arguments, named = pickle.loads(job)  # noqa: S301 - written by the terminal, not by the web
        answer = ("read", function(*arguments, **named))
    except MemoryError:
        answer = ("refused", "too-costly", "reading it takes more memory than is allowed")
    except Exception as error:
        kind, detail = getattr(error, "kind", None), getattr(error, "detail", None)
        if isinstance(kind, str) and isinstance(detail, str):
            answer = ("refused", str(kind), detail[:1000])
        else:
            answer = ("broke", f"{type(error).__name__}: {error}"[:500])
    try:
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps(("refused", "too-costly", "what was read takes more memory than is allowed"))


PROGRAMS["reader"] = Program(serve)
