"""People who read while feeds are fetched: do they get every page, and how much slower are the feeds?

    python -m benchmarks.readers [--feeds 1000] [--readers 50] [--seconds 60] [--rounds 2]

Each round reads the feeds in a new product without readers, and in another one with them. A reader asks for
a page, waits for it, and asks for another a second later: mostly articles and lists of them, now and then a
search, a feed, or the API. Prints feeds per second of both runs with their ratio, and what the readers got.
Exits with 1 when a request failed or the ratio of the medians is below 0.85.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.feed_server import feed_url
from benchmarks.goals import Goal
from benchmarks.hostile.api import SECONDS
from benchmarks.people import Readers, readers_of
from benchmarks.refresh import Result, feed_server, free_port, freshet

ITEMS = 20
MIN_RATIO = 0.85


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
        for name, found in rates.items():  # in separate processes: Django knows one database
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
        group = readers_of(work / "freshet.log", options.readers)
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
            result = freshet(urls, [], work, begin, only_cold=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return _report(result, readers)


def _report(result: Result, readers: list[Readers]) -> int:
    print(f"{result.feeds / result.cold:.1f} feeds/s", end="")
    for group in readers:
        p50, p95 = group.percentile(0.5), group.percentile(0.95)
        statuses = ", ".join(f"{count} times {status}" for status, count in sorted(group.answers.items()))
        slow = [Goal("a page beside the cold run, p95", p95, 100, "ms", most=True)]
        print(f"; {len(group.milliseconds)} requests, {statuses}, p50 {p50:.0f} ms, p95 {p95:.0f} ms", end="")
        print(
            f", {len(group.failures)} failed (limit {SECONDS:.0f} s)",
            *group.failures[:5], *slow, sep="\n  ", end="",
        )  # fmt: skip
    print()
    return 1 if any(group.failures for group in readers) else 0


if __name__ == "__main__":
    sys.exit(main())
