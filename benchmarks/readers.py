"""People who read while feeds are fetched: do they get every page, and how much slower are the feeds?

    python -m benchmarks.readers [--feeds 1000] [--readers 50] [--seconds 60] [--rounds 2]

Each round reads the feeds in a new product without readers, and in another one with them. A reader asks for
a page, waits for it, and asks for another a second later: mostly articles and lists of them, now and then a
search, a feed, or the API. Prints feeds per second of both runs with their ratio, and what the readers got.
Exits with 1 when a request failed or the ratio of the medians is below 0.85.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.feed_server import feed_url
from benchmarks.goals import Goal
from benchmarks.hostile.api import SECONDS, Api
from benchmarks.refresh import Result, feed_server, free_port, freshet

ITEMS = 20
PAGES = (
    "/me/", "/me/", "/me/", "/articles/", "/articles/?page=2", "/articles/?q=river",
    "/articles/{}/", "/articles/{}/", "/articles/{}/", "/articles/{}/", "/articles/{}/",
    "/articles/stories/", "/feeds/", "/feeds/1/", "/api/articles/", "/api/articles/{}/", "/api/articles/{}/",
)  # fmt: skip
MIN_RATIO = 0.85


class Readers:
    """People with a session each, who read until they are told to stop."""

    def __init__(self, port: int, password: str, count: int) -> None:
        self.answers: Counter[int] = Counter()
        self.failures: list[str] = []
        self.milliseconds: list[float] = []
        self._stop = threading.Event()
        api = Api(f"http://127.0.0.1:{port}")
        api.sign_in("admin", password)
        self._threads = [
            threading.Thread(target=self._read, args=(Api(api.base, cookies=dict(api.cookies)), number))
            for number in range(count)
        ]

    def start(self) -> None:
        """Let all of them begin within a second."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let them finish the page that they are reading."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _read(self, api: Api, number: int) -> None:
        chance = random.Random(number)
        self._stop.wait(chance.random())
        while not self._stop.is_set():
            target = chance.choice(PAGES).format(chance.randrange(1, 1000))
            began = time.monotonic()
            try:
                reply = api.page(target)
                self.answers[reply.status] += 1
                if reply.status >= 500:
                    self.failures.append(f"{target}: {reply.status} {reply.body[:100]!r}")
            except OSError as error:
                self.failures.append(f"{target}: {error}")
            self.milliseconds.append(1000 * (time.monotonic() - began))
            self._stop.wait(1.0)


def main() -> int:
    """Run the rounds and print their lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--one", choices=["alone", "read"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return one_run(options)
    rates: dict[str, list[float]] = {"alone": [], "read": []}
    failed = False
    for _ in range(options.rounds):
        for name, found in rates.items():  # in processes of their own: Django knows one database
            command = [
                sys.executable,
                "-m",
                "benchmarks.readers",
                "--one",
                name,
                "--feeds",
                str(options.feeds),
            ]
            command += ["--readers", str(options.readers), "--seconds", str(options.seconds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            print(done.stdout, end="", flush=True)
            failed |= done.returncode != 0
            if rate := re.search(r"([\d.]+) feeds/s", done.stdout):
                found.append(float(rate[1]))
    ratio = statistics.median(rates["read"]) / statistics.median(rates["alone"])
    print(f"with readers {ratio:.2f} times the feeds/s of without")
    return 1 if failed or ratio < MIN_RATIO else 0


def one_run(options: argparse.Namespace) -> int:
    """Read all feeds once, with readers where they are asked for."""
    port, work = free_port(), Path(tempfile.mkdtemp(prefix="freshet-readers-"))
    work.chmod(0o711)
    readers: list[Readers] = []

    def begin() -> Callable[[], None]:
        if options.one == "alone":
            return lambda: None
        password = re.search(r"user admin, password (\S+)", (work / "freshet.log").read_text())
        group = Readers(int(os.environ["PORT"]), password[1] if password else "", options.readers)
        readers.append(group)
        began = time.monotonic()
        group.start()
        time.sleep(3)

        def end() -> None:
            time.sleep(max(0.0, began + options.seconds - time.monotonic()))
            group.stop()

        return end

    try:
        with feed_server(options.feeds, ITEMS, port):
            urls = [feed_url(number, port) for number in range(options.feeds)]
            result = freshet(urls, [], work, begin)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return _report(result, readers)


def _report(result: Result, readers: list[Readers]) -> int:
    print(f"{result.feeds / result.cold:.1f} feeds/s", end="")
    for group in readers:
        ranked = sorted(group.milliseconds)
        p50, p95 = ranked[len(ranked) // 2], ranked[int(0.95 * len(ranked))]
        statuses = ", ".join(f"{count} times {status}" for status, count in sorted(group.answers.items()))
        slow = [Goal("a page beside the cold run, p95", p95, 100, "ms", most=True)]
        print(f"; {len(ranked)} requests, {statuses}, p50 {p50:.0f} ms, p95 {p95:.0f} ms", end="")
        print(
            f", {len(group.failures)} failed (limit {SECONDS:.0f} s)",
            *group.failures[:5], *slow, sep="\n  ", end="",
        )  # fmt: skip
    print()
    return 1 if any(group.failures for group in readers) else 0


if __name__ == "__main__":
    sys.exit(main())
