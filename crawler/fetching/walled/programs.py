"""The program that fetches, and the limits under which other programs read what was fetched."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from crawler.failures import FetchError
from crawler.fetching.http.client import Client, ClientConfig
from crawler.fetching.http.gate import HostGate
from crawler.isolation import memory, walls
from crawler.isolation.fork_server import PROGRAMS, Program

FETCH = "fetch"
CPU_SECONDS = 8
MEMORY_BYTES = memory.share(1 / 5, 250, 600)
MAX_LINK_CHARACTERS = 10_000
OK, FAILED = b"+", b"-"


class Fetched(msgspec.Struct, frozen=True):
    """A document of the web: its address after redirects, its content type, its bytes, its Link header."""

    url: str
    content_type: str
    body: bytes
    link: str = ""


class _OpenGate(HostGate):
    """A gate that lets everybody pass: a person who reads waits for the answer, as in a browser."""

    def __init__(self) -> None:
        """Need no directory."""

    @contextmanager
    def turn(self, host: str, deadline: float, spacing: float | None = None) -> Iterator[None]:
        """Let a request pass at once."""
        yield


def fetch(words: dict[str, Any], descriptors: list[int]) -> None:
    """Write OK and the document at an address to a pipe; or the failure."""
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
            response = client.get(words["url"], accept=words["accept"])
        except FetchError as error:
            out.write(failure(error.label, error.detail))
            return
        link = response.headers.get("link", "")[:MAX_LINK_CHARACTERS]
        fetched = Fetched(response.url, response.content_type, response.body, link)
        out.write(OK + msgspec.msgpack.encode(fetched))


def read_alone(descriptors: list[int], read: Callable[[bytes], bytes]) -> None:
    """Read a body from a pipe, without a way to the network, and write what `read` makes of it to another."""
    limit = memory.address_space() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    walls.shut()
    with os.fdopen(descriptors[0], "rb") as source, os.fdopen(descriptors[1], "wb") as out:
        body = source.read()
        try:
            out.write(read(body))
        except MemoryError:
            out.write(failure("too-costly", "reading it takes more memory than is allowed"))


def failure(kind: str, detail: str) -> bytes:
    """Return a failure as programs write it."""
    return FAILED + f"{kind}\n{detail}".encode("utf-8", "replace")


PROGRAMS[FETCH] = Program(fetch)
