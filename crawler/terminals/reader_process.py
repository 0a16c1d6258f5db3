"""The process that reads documents for a terminal: one job after another, each within its own limits.

A fork server forks it when `crawler.terminals.readers` asks for it. A job comes on one pipe as a length (8
bytes) and a pickle of a function and its arguments; the reply goes back on another pipe in the same form. The
kernel ends the process when a job takes too much processor time, whatever code hangs, and lets it open no
socket and start no program (`walls`).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
from typing import Any, BinaryIO

from crawler.isolation import memory
from crawler.isolation.fork_server import PROGRAMS, Program, readable
from crawler.isolation.limits import ProcessLimits, allow_processor_time

LENGTH = struct.Struct("<Q")
MEMORY_BYTES = memory.share(1 / 5, 280, 2000)
"""Memory that the process may allocate after its start; beyond it an allocation, and so the document, fails.

Models that are loaded with the first document that needs them take up to 150 MB of it.
"""

LARGE = 1_000_000
"""Size of a job in bytes above which freed memory is returned to the system."""

IDLE_SECONDS = 30.0
"""Idle time after which the process ends. A new one takes milliseconds to start."""


def serve(arguments: dict[str, Any], pipes: list[int]) -> None:
    """Answer jobs until their pipe ends or stays empty. Each may take `cpu_seconds` of processor time."""
    cpu_seconds = int(arguments["cpu_seconds"])
    jobs, answers = os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb")
    os.dup2(2, 1)  # what a library prints must not pass for an answer
    ProcessLimits(cpu_seconds=None, memory_bytes=MEMORY_BYTES).apply()
    # The terminal was killed; nobody waits for an answer.
    with contextlib.suppress(BrokenPipeError):
        _send(answers, b"ready")
        while (job := _next(jobs)) is not None:
            allow_processor_time(cpu_seconds)
            reply, large = _answer(job), len(job) > LARGE
            del job
            if large:  # before the reply: the terminal checks the size of the process when it arrives
                memory.give_back()
            _send(answers, reply)
            del reply
            if not large:
                memory.give_back_now_and_then()


def _send(answers: BinaryIO, reply: bytes) -> None:
    answers.write(LENGTH.pack(len(reply)) + reply)
    answers.flush()


def _next(jobs: BinaryIO) -> bytes | None:
    """Return the next job. Returns None when the terminal is gone, or has sent none for IDLE_SECONDS."""
    if not readable(jobs.fileno(), IDLE_SECONDS):
        return None
    head = jobs.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    job = jobs.read(length)
    return job if len(job) == length else None


def _answer(job: bytes) -> bytes:
    """Run a job and return its pickled reply.

    The reply is `("read", result)`, `("refused", kind, detail)` for an error that names a failure, or
    `("broke", detail)` for any other error, which is a bug of ours met by the document.
    """
    reply: tuple[Any, ...]
    try:
        function, arguments, keywords = pickle.loads(job)  # noqa: S301 - written by the terminal, not by the web
        reply = ("read", function(*arguments, **keywords))
    # Beyond its memory the document fails, and the process goes on with the next one.
    except MemoryError:
        reply = ("refused", "too-costly", "reading it takes more memory than is allowed")
    # Told and not raised: the next document needs this process, too.
    except Exception as error:
        kind, detail = getattr(error, "kind", None), getattr(error, "detail", None)
        if isinstance(kind, str) and isinstance(detail, str):
            reply = ("refused", str(kind), detail[:1000])
        else:
            reply = ("broke", f"{type(error).__name__}: {error}"[:500])
    try:
        return pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps(("refused", "too-costly", "what was read takes more memory than is allowed"))


PROGRAMS["reader"] = Program(serve)
