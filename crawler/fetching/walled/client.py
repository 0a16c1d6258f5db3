"""Requests of the web server to the processes that fetch and read for it; started when needed."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from django.conf import settings

from crawler.failures import Failure
from crawler.fetching.walled.programs import FAILED, FETCH, OK, Fetched
from crawler.isolation import confine, fork_server, walls

IDLE_SECONDS = 120.0
"""Time without a request after which the processes end."""
_PIECE = 65_536

_modules = ["crawler.fetching.walled.programs"]
_lock = threading.Lock()
_server: fork_server.ForkServer | None = None


class ProgramError(Exception):
    """Error for a program without a result: `kind` is a failure's name, `detail` a sentence."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The bounds of one fetch, with its Accept header."""

    accept: str
    seconds: float
    max_bytes: int


def add_programs(module: str) -> None:
    """Let the server of programs load a module that adds to `fork_server.PROGRAMS`; called on import."""
    if module not in _modules:
        _modules.append(module)


def fetch(url: str, limits: FetchLimits) -> Fetched:
    """Return the document at an address. Raises ProgramError."""
    if settings.DEMO:
        raise ProgramError(Failure.BLOCKED_ADDRESS, "a demonstration fetches nothing")
    words = {
        "name": FETCH,
        "url": url,
        "accept": limits.accept,
        "user_agent": settings.FETCH_USER_AGENT,
        "deadline": max(limits.seconds - 2, 1.0),
        "max_bytes": limits.max_bytes,
        "allowed_networks": [str(network) for network in settings.FETCH_ALLOWED_NETWORKS],
    }
    encoded = run(FETCH, words, None, limits.seconds, limits.max_bytes + _PIECE)
    try:
        return msgspec.msgpack.decode(encoded, type=Fetched)
    except msgspec.MsgspecError as error:
        raise ProgramError(Failure.MALFORMED, "its process wrote nonsense") from error


def run(program: str, words: dict[str, Any], body: bytes | None, seconds: float, max_bytes: int) -> bytes:
    """Let a process of its own run a program, with a body to read. Returns its answer.

    Raises ProgramError when it fails, takes longer than `seconds`, or answers with more than `max_bytes`.
    """
    until = time.monotonic() + seconds
    out_read, out_write = os.pipe()
    in_read, in_write = os.pipe() if body is not None else (-1, -1)
    child_ends = [descriptor for descriptor in (in_read, out_write) if descriptor >= 0]
    parent_ends = [descriptor for descriptor in (in_write, out_read) if descriptor >= 0]
    try:
        child = _fork(program, words, child_ends)
    except OSError as error:
        _close(parent_ends)
        raise ProgramError(Failure.BUSY, "no process could be started for it") from error
    finally:
        _close(child_ends)
    try:
        reply = _exchange(in_write, body or b"", out_read, until, max_bytes)
    finally:
        child.close()
    if reply[:1] == OK:
        return reply[1:]
    kind, _, detail = reply.removeprefix(FAILED).decode("utf-8", "replace").partition("\n")
    raise ProgramError(kind or Failure.TOO_COSTLY, detail if kind else "its process ended")


def close() -> None:
    """End the processes."""
    global _server  # noqa: PLW0603 - one for all threads of this process
    with _lock:
        if _server is not None:
            _server.close()
            _server = None


def _fork(program: str, words: dict[str, Any], descriptors: Sequence[int]) -> fork_server.ServedChild:
    """Fork a program of the server, which is started where there is none. Raises OSError."""
    global _server  # noqa: PLW0603 - see above
    with _lock:
        if _server is None or not _server.alive:
            if _server is not None:
                _server.close()
            walled = partial(confine.command, hide=settings.DATA_DIR, read=[settings.BASE_DIR], write=())
            _server = fork_server.start_server(tuple(_modules), walls.environment(), walled, IDLE_SECONDS)
        server = _server
    return server.fork(program, words, descriptors)


def _exchange(writer: int, body: bytes, reader: int, until: float, max_bytes: int) -> bytes:
    """Write a body to one pipe and return what comes from another, closing both. Raises ProgramError."""
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    unsent = memoryview(body)
    if writer >= 0:
        os.set_blocking(writer, False)
        waiting.register(writer, select.POLLOUT)
    pieces: list[bytes] = []
    size = 0
    try:
        while True:
            remaining = until - time.monotonic()
            if remaining <= 0 or size > max_bytes:
                raise ProgramError(Failure.TOO_SLOW if remaining <= 0 else Failure.TOO_LARGE)
            for descriptor, _ in waiting.poll(remaining * 1000):
                if descriptor == writer:
                    try:
                        unsent = unsent[os.write(writer, unsent[:_PIECE]) :] if unsent else unsent
                    except OSError:  # it has ended; its answer says why, if anything does
                        unsent = unsent[:0]
                    if not unsent:
                        waiting.unregister(writer)
                        os.close(writer)
                        writer = -1
                else:
                    piece = os.read(reader, _PIECE)
                    if not piece:
                        return b"".join(pieces)
                    pieces.append(piece)
                    size += len(piece)
    finally:
        _close([descriptor for descriptor in (writer, reader) if descriptor >= 0])


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
