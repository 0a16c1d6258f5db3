"""A terminal's client and threads, and batches for it, without any of the other side."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.fetching.http.client import Client, ClientConfig
from crawler.fetching.http.gate import HostGate
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Assignment, Batch
from tests.servers import WebServer

AGENT = "Freshet/1.0 (+https://freshet.test/bot)"


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    config = ClientConfig(AGENT, deadline=3.0, max_bytes=1_000_000, allowed_networks=("127.0.0.0/8",))
    with Client(config, HostGate(tmp_path / "hosts", 0.0)) as opened:
        yield opened


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


def batch(
    *assignments: Assignment,
    seconds: float = 60.0,
    host: str = "127.0.0.1",
    robots: Robots | None = None,
    spacing: float = 0.0,
) -> Batch:
    """A batch whose lease lasts so many seconds from now."""
    return Batch(host, f"lease of {host}", time.time() + seconds, spacing, assignments, robots)


def feed(web: WebServer, path: str = "/feed", **fields: object) -> Assignment:
    """The assignment to retrieve this feed, about which nothing is known yet."""
    return replace(Assignment("feed", 1, web.origin + path), **fields)  # type: ignore[arg-type]


def page(web: WebServer, path: str = "/page1", **fields: object) -> Assignment:
    """The assignment to download this article's page."""
    return replace(Assignment("page", 2, web.origin + path), **fields)  # type: ignore[arg-type]
