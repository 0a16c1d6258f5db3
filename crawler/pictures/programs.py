"""The two processes behind the pictures: one that fetches, and one without network that decodes.

A fork server makes one for each address and each picture; it knows no secret and no database. The first reads
no bytes of the answer, the second can open no socket (`crawler.process.walls`).
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from crawler.http.client import Client, ClientConfig
from crawler.http.failures import FetchError
from crawler.http.gate import HostGate
from crawler.pictures.render import PictureError, icon_links, render
from crawler.process import memory, walls
from crawler.process.fork_server import PROGRAMS, Program

ACCEPT = "image/avif, image/webp, image/png, image/jpeg, image/gif;q=0.9, image/*;q=0.5, text/html;q=0.2"
CPU_SECONDS = 8
MEMORY_BYTES = memory.share(1 / 5, 250, 600)
OK, FAILED = b"+", b"-"


class _OpenGate(HostGate):
    """A gate that lets everybody pass: a person who reads waits for the picture, as in a browser."""

    def __init__(self) -> None:
        """Need no directory."""

    @contextmanager
    def turn(self, host: str, deadline: float, spacing: float | None = None) -> Iterator[None]:
        """Let a request pass at once."""
        yield


def fetch(words: dict[str, Any], descriptors: list[int]) -> None:
    """Write OK, the final address, a line end and the body of an answer to a pipe; or the failure."""
    config = ClientConfig(
        user_agent=words["user_agent"],
        deadline=words["deadline"],
        connect_timeout=min(words["deadline"], 5.0),
        silence=min(words["deadline"], 5.0),
        max_bytes=words["max_bytes"],
        allowed_networks=tuple(words["allowed_networks"]),
    )
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    with os.fdopen(descriptors[0], "wb") as out, Client(config, _OpenGate()) as client:
        try:
            response = client.get(words["url"], accept=ACCEPT)
        except FetchError as error:
            out.write(FAILED + f"{error.kind.value}\n{error.detail}".encode("utf-8", "replace"))
            return
        out.write(OK + response.url.encode() + b"\n" + response.body)


def decode(words: dict[str, Any], descriptors: list[int]) -> None:
    """Read a picture or page from a pipe, and write OK and its new form to another; or the failure."""
    limit = memory.address_space() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    walls.shut()
    with os.fdopen(descriptors[0], "rb") as source, os.fdopen(descriptors[1], "wb") as out:
        body = source.read()
        try:
            made = render(body) if words["task"] == "picture" else icon_links(body, words["url"])
            out.write(OK + msgspec.msgpack.encode(made))
        except PictureError as error:
            out.write(FAILED + f"{error.kind}\n{error.detail}".encode("utf-8", "replace"))
        except MemoryError:
            out.write(FAILED + b"too-costly\ndecoding it takes more memory than is allowed")


PROGRAMS["picture-fetch"] = Program(fetch)
PROGRAMS["picture-decode"] = Program(decode)
