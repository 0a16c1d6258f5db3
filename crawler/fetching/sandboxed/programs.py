"""The program that fetches, and the limits under which other programs read what was fetched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from crawler.failures import FetchError
from crawler.fetching.http.client import Client, ClientConfig
from crawler.fetching.http.gate import HostGate
from crawler.isolation import memory
from crawler.isolation.calls import ProgramError, register
from crawler.isolation.limits import ProcessLimits

FETCH = "fetch"
MAX_LINK_CHARACTERS = 10_000
READING = ProcessLimits(cpu_seconds=8, memory_bytes=memory.share(1 / 5, 250, 600))
"""ProcessLimits of a program that reads what was fetched, without a way to the network."""
SENDING = ProcessLimits(cpu_seconds=10, memory_bytes=memory.share(1 / 5, 250, 600), network=True)
"""ProcessLimits of a program that asks other servers."""


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


def fetch(request: dict[str, Any], _: bytes) -> bytes:
    """Return the document at an address as MessagePack. Raises ProgramError."""
    config = ClientConfig(
        user_agent=request["user_agent"],
        deadline=request["deadline"],
        # Somebody waits before the screen; a server that needs longer fails here and not at the page.
        connect_timeout=min(request["deadline"], 5.0),
        silence=min(request["deadline"], 5.0),
        max_bytes=request["max_bytes"],
        allowed_networks=tuple(request["allowed_networks"]),
    )
    with Client(config, _OpenGate()) as client:
        try:
            response = client.get(request["url"], accept=request["accept"])
        except FetchError as error:
            raise ProgramError(error.label, error.detail) from error
        link = response.headers.get("link", "")[:MAX_LINK_CHARACTERS]
        return msgspec.msgpack.encode(Fetched(response.url, response.content_type, response.body, link))


register(FETCH, fetch, SENDING)
