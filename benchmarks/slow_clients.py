"""How the web server answers while a thousand slow clients hold connections open.

    python -m benchmarks.slow_clients [--clients 1000] [--seconds 60]

A product of its own, with an administrator who is signed in. A third of the slow clients send half a header
and wait, a third send a byte of a header each second, a third announce a body and send a byte of it each
second; a client whose connection is closed opens another. Meanwhile /healthz, a page and a static file are
asked for ten times a second on new connections. Prints milliseconds without and with the slow clients, and
the processor time and memory of the web process. Exits with 1 when a goal is missed or a request failed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import resource
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.footprint import Product, product_in
from benchmarks.hostile.api import Api
from benchmarks.processes import memory, processor_seconds

EVERY_SECONDS = 0.1
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HALF_BODY = b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"
GOALS = {"/healthz": 200.0, "page": 500.0, "static file": 200.0}
"""Milliseconds that 95 of 100 answers may take while slow clients are there."""


@dataclass
class Latencies:
    """Milliseconds of the answers to one address, and how many requests failed."""

    milliseconds: list[float] = field(default_factory=list)
    failures: int = 0

    def at(self, share: float) -> float:
        """Return the latency that this share of the answers did not exceed."""
        ranked = sorted(self.milliseconds)
        return ranked[min(int(share * len(ranked)), len(ranked) - 1)] if ranked else float("inf")


class SlowClients:
    """Clients in a thread of their own, each of which keeps a slow request open."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._count = count
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.connected = 0
        self.closed = 0

    def __enter__(self) -> SlowClients:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop.run_until_complete(self._keep_all_open())

    async def _keep_all_open(self) -> None:
        clients = asyncio.gather(*(self._keep_open(number) for number in range(self._count)))
        await self._stop.wait()
        clients.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await clients

    async def _keep_open(self, number: int) -> None:
        await asyncio.sleep(5 * number / self._count)
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                await asyncio.sleep(1)
                continue
            self.connected += 1
            try:
                await self._dawdle(reader, writer, number % 3)
            except OSError:
                pass
            finally:
                self.connected -= 1
                self.closed += 1
                writer.close()

    async def _dawdle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, manner: int) -> None:
        writer.write(HALF_BODY if manner == 2 else HALF_HEAD)
        end = asyncio.ensure_future(reader.read())
        end.add_done_callback(lambda done: done.cancelled() or done.exception())  # a reset is an end, too
        while not (await asyncio.wait([end], timeout=1.0))[0]:
            if manner:
                writer.write(b"x")
                await writer.drain()


def main() -> int:
    """Run the product, measure without and with slow clients, print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    work = Path(tempfile.mkdtemp(prefix="freshet-slow-"))
    work.chmod(0o711)
    with product_in(work) as product:
        product.start()
        targets = _targets(product)
        api = signed_in(product)
        (web,) = [pid for pid in product.tree() if _name(pid) == "web"]
        _measure("no slow clients", web, api, targets, min(options.seconds, 20))
        with SlowClients(product.port, options.clients) as slow:
            latencies = _measure(f"{options.clients} slow clients", web, api, targets, options.seconds)
            print(f"{slow.connected} slow clients were connected at the end, {slow.closed} had been closed")
    return 0 if all(_good(name, latencies[name]) for name in GOALS) else 1


def ask_repeatedly(api: Api, targets: dict[str, str], seconds: float) -> dict[str, Latencies]:
    """Ask for each address at a steady pace, each in a separate thread."""
    latencies = {name: Latencies() for name in targets}
    threads = [
        threading.Thread(target=_ask, args=(api, target, latencies[name], time.monotonic() + seconds))
        for name, target in targets.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies


def _ask(api: Api, target: str, latencies: Latencies, until: float) -> None:
    while (began := time.monotonic()) < until:
        try:
            latencies.failures += api.page(target).status not in {200, 503}
        except OSError:
            latencies.failures += 1
        took = time.monotonic() - began
        latencies.milliseconds.append(1000 * took)
        time.sleep(max(EVERY_SECONDS - took, 0.0))


def _targets(product: Product) -> dict[str, str]:
    login = Api(f"http://127.0.0.1:{product.port}").page("/accounts/login/").body.decode()
    static = re.search(r'href="(/static/[^"]+\.css)"', login)
    assert static is not None
    return {"/healthz": "/healthz", "page": "/feeds/", "static file": static[1]}


def signed_in(product: Product) -> Api:
    """Return a client with a session of the administrator, whose password the start has printed."""
    password = re.search(r"user admin, password (\S+)", (product.work / "log").read_text())
    assert password is not None
    api = Api(f"http://127.0.0.1:{product.port}")
    api.sign_in("admin", password[1])
    return api


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _good(name: str, latencies: Latencies) -> bool:
    return not latencies.failures and latencies.at(0.95) <= GOALS[name]


def _measure(
    situation: str, web: int, api: Api, targets: dict[str, str], seconds: float
) -> dict[str, Latencies]:
    """Ask for the addresses, and print the latencies and what the web process used."""
    began = processor_seconds({web})
    latencies = ask_repeatedly(api, targets, seconds)
    share = (processor_seconds({web}) - began) / seconds
    print(f"{situation}: the web process uses {share:.0%} of a core and {memory({web}) / 2**20:.0f} MB")
    for name, measured in latencies.items():
        p50, p95, most = (f"{measured.at(share):.0f}" for share in (0.5, 0.95, 1.0))
        count = len(measured.milliseconds)
        print(f"  {name:12} p50 {p50} ms, p95 {p95} ms, max {most} ms, {measured.failures} of {count} failed")
    sys.stdout.flush()
    return latencies


if __name__ == "__main__":
    sys.exit(main())
