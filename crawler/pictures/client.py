"""Requests of the web server to the processes that fetch and decode pictures; started when needed."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from django.conf import settings

from crawler.http.failures import Failure
from crawler.pictures.render import PictureError, Rendered
from crawler.process import confine, fork_server, walls

MODULES = ("crawler.pictures.programs",)
IDLE_SECONDS = 120.0
"""The processes end when no picture was wanted for so long."""
FETCH_SECONDS = 12.0
DECODE_SECONDS = 20.0
MAX_BYTES = 12_000_000
"""Bytes of a picture as its publisher sends it."""
_PIECE = 65_536

Made = TypeVar("Made")
_lock = threading.Lock()
_server: fork_server.ForkServer | None = None


def fetched(url: str) -> tuple[bytes, str]:
    """Return the document at an address, and the address after redirects. Raises PictureError."""
    words = {
        "name": "picture-fetch",
        "url": url,
        "user_agent": settings.FETCH_USER_AGENT,
        "deadline": FETCH_SECONDS - 2,
        "max_bytes": MAX_BYTES,
        "allowed_networks": [str(network) for network in settings.FETCH_ALLOWED_NETWORKS],
    }
    answer = _run("picture-fetch", words, None, FETCH_SECONDS)
    final, _, body = answer.partition(b"\n")
    return body, final.decode("utf-8", "replace")


def rendered(body: bytes) -> Rendered:
    """Return a picture encoded anew. Raises PictureError."""
    words = {"name": "picture-decode", "task": "picture"}
    return _decoded(Rendered, words, body)


def icon_links(body: bytes, url: str) -> list[str]:
    """Return the addresses of icons that a page names. Raises PictureError."""
    words = {"name": "picture-decode", "task": "icons", "url": url}
    return _decoded(list[str], words, body)


def _decoded(kind: type[Made], words: dict[str, Any], body: bytes) -> Made:
    answer = _run("picture-decode", words, body, DECODE_SECONDS)
    try:
        return msgspec.msgpack.decode(answer, type=kind)
    except msgspec.MsgspecError as error:
        raise PictureError(Failure.MALFORMED, "the decoder wrote nonsense") from error


def _run(program: str, words: dict[str, Any], body: bytes | None, seconds: float) -> bytes:
    """Let a process of its own do something, with a body to read. Returns its answer; raises PictureError."""
    until = time.monotonic() + seconds
    out_read, out_write = os.pipe()
    in_read, in_write = os.pipe() if body is not None else (-1, -1)
    theirs = [descriptor for descriptor in (in_read, out_write) if descriptor >= 0]
    ours = [descriptor for descriptor in (in_write, out_read) if descriptor >= 0]
    try:
        child = _forked(program, words, theirs)
    except OSError as error:
        _close(ours)
        raise PictureError(Failure.BUSY, "no process could be started for it") from error
    finally:
        _close(theirs)
    try:
        answer = _exchanged(in_write, body or b"", out_read, until)
    finally:
        child.close()
    if answer[:1] == b"+":
        return answer[1:]
    kind, _, detail = answer[1:].decode("utf-8", "replace").partition("\n")
    raise PictureError(kind or Failure.TOO_COSTLY, detail if kind else "its process ended")


def _forked(program: str, words: dict[str, Any], descriptors: Sequence[int]) -> fork_server.Served:
    """Fork a program of the server, which is started where there is none. Raises OSError."""
    global _server  # noqa: PLW0603 - one for all threads of this process
    with _lock:
        if _server is None or not _server.alive:
            if _server is not None:
                _server.close()
            walled = partial(confine.command, hide=settings.DATA_DIR, read=[settings.BASE_DIR], write=())
            _server = fork_server.started(MODULES, walls.environment(), walled, IDLE_SECONDS)
        server = _server
    return server.fork(program, words, descriptors)


def close() -> None:
    """End the processes."""
    global _server  # noqa: PLW0603 - see above
    with _lock:
        if _server is not None:
            _server.close()
            _server = None


def _exchanged(writer: int, body: bytes, reader: int, until: float) -> bytes:
    """Write a body to one pipe and return what comes from another, closing both. Raises PictureError."""
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    left = memoryview(body)
    if writer >= 0:
        os.set_blocking(writer, False)
        waiting.register(writer, select.POLLOUT)
    pieces: list[bytes] = []
    size = 0
    try:
        while True:
            remaining = until - time.monotonic()
            if remaining <= 0 or size > 3 * MAX_BYTES:
                raise PictureError(Failure.TOO_SLOW if remaining <= 0 else Failure.TOO_LARGE)
            for descriptor, _ in waiting.poll(remaining * 1000):
                if descriptor == writer:
                    try:
                        left = left[os.write(writer, left[:_PIECE]) :] if left else left
                    except OSError:  # it has ended; its answer says why, if anything does
                        left = left[:0]
                    if not left:
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
