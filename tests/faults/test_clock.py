"""The machine's clock is set forward and back while Freshet runs: visits go on within two ticks."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_faults import Feed, Product, wait

pytestmark = pytest.mark.faults
TICK_SECONDS = 5
FEEDS = 150
HOUR = 3600
DAYS = 86_400
PAST_2038 = 13 * 366 * DAYS
JUMPS = (HOUR, 0, 400 * DAYS, -400 * DAYS, 1, PAST_2038, 0, 400 * DAYS)
"""Seconds from the machine's clock, one after the other: each of them forward, back, or both at once."""


class Clock:
    """The wall clock of the product's processes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.shift(0)

    def shift(self, seconds: int) -> None:
        """Set the clock to the machine's and these seconds, in place: the file is mapped by every process."""
        content = struct.pack("=q", seconds)
        if not self._file.exists():
            self._file.write_bytes(content)
        with self._file.open("r+b") as file:
            file.write(content)


class Visits(http.server.ThreadingHTTPServer):
    """A site of so many feeds that each tick visits some, which counts what is asked of it."""

    count = 0

    def addresses(self) -> list[str]:
        return [f"http://127.0.0.1:{self.server_port}/{number}.xml" for number in range(FEEDS)]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Visits)
        self.server.count += 1
        entry = f"<item><title>news</title><guid>{self.path} {self.server.count}</guid></item>"
        content = f"<rss version='2.0'><channel><title>T</title>{entry}</channel></rss>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Visits]:
    with Visits(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL, which does not run as root, can reach."""
    made = Path(tempfile.mkdtemp(prefix="freshet-clock-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def stop(product: Product) -> None:
    assert product.process is not None
    product.process.send_signal(signal.SIGINT)
    try:
        product.process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(product.process.pid, signal.SIGKILL)


def test_visits_go_on_when_the_clock_is_set(site: Visits, folder: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is here")
    library = folder / "shifted_clock.so"
    source = Path(__file__).with_name("shifted_clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    clock = Clock(folder / "clock")
    home = folder / "home"
    home.mkdir()
    product = Product(
        home, Feed(), site.addresses()[0], LD_PRELOAD=str(library), LD_CLOCK_FILE=str(folder / "clock"),
        FEED_TICK_SECONDS=str(TICK_SECONDS), FEED_BUDGET="3600", FEED_MIN_GAP_SECONDS="1",
        FEED_TRAINING_MAX_TICKS="1",
    )  # fmt: skip

    def is_well() -> bool:
        return product.get("/healthz")[0] == 200

    def goes_on() -> None:
        """Wait until the next tick has sent visits, and health says so."""
        before, began = site.count, time.monotonic()
        wait(lambda: site.count > before, 2 * TICK_SECONDS + 2, product.log)
        print(f"visited after {time.monotonic() - began:.1f} s")
        wait(is_well, 40, product.log)  # the graph gives a sign of life every thirty seconds

    product.start()
    try:
        product.command("add_feeds", *site.addresses(), "--wait", "0")
        wait(lambda: site.count > FEEDS, 60, product.log)
        for seconds in JUMPS:
            clock.shift(seconds)
            goes_on()
        stop(product)
        clock.shift(0)
        product.start()
        goes_on()
    finally:
        stop(product)
