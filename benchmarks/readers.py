"""People who read while a thousand feeds are read for the first time: how long do they wait for pages?

    python -m benchmarks.readers [--feeds 1000] [--items 20] [--stored 2000] [--people 0 1 50]

Freshet runs as in `benchmarks/refresh.py`, once for each number of people, with so many articles stored
before. Each person opens a page, reads it for a second, and opens the next, beginning WARM_SECONDS before the
first feed is asked. Prints p50 and p95 of their pages from then on beside the goals, and the feeds a second
that were read meanwhile. Ends with 1 when a page failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.feed_server import feed_url
from benchmarks.goals import Goal
from benchmarks.people import Readers, readers_of
from benchmarks.refresh import feed_server, free_port, freshet, in_own_process

WARM_SECONDS = 10.0
GOALS = {1: 100.0, 50: 500.0}
"""Milliseconds at p95 by the number of people."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--stored", type=int, default=2000, help="articles of other feeds, read before")
    parser.add_argument("--people", type=int, nargs="*", default=[0, *GOALS])
    options = parser.parse_args()
    port = free_port()
    others = -(-options.stored // options.items)
    urls = [feed_url(number, port) for number in range(options.feeds)]
    stored = [feed_url(options.feeds + number, port) for number in range(others)]
    with feed_server(options.feeds + others, options.items, port):
        failures = 0
        for count in options.people:
            lines, failed = in_own_process(waits, urls, stored, count)
            print(lines, flush=True)
            failures += failed
    return 1 if failures else 0


def waits(urls: list[str], stored: list[str], count: int) -> tuple[str, int]:
    """Read all feeds beside so many people. Returns lines with their waits, and how many pages failed."""
    work = Path(tempfile.mkdtemp(prefix="freshet-benchmark-"))
    work.chmod(0o711)
    people: list[Readers] = []

    def begin() -> Callable[[], object]:
        people.append(readers_of(work / "freshet.log", count))
        people[0].start()
        time.sleep(WARM_SECONDS)
        people[0].milliseconds.clear()
        return people[0].stop

    try:
        result = freshet(urls, stored, work, begin, only_cold=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    (readers,) = people
    rate = f"{result.feeds / result.cold:.1f} feeds/s"
    if not count:
        return f"nobody reads: {rate}", 0
    statuses = ", ".join(f"{number} times {status}" for status, number in sorted(readers.answers.items()))
    pages, p50 = len(readers.milliseconds), readers.percentile(0.5)
    lines = [f"{count} people: {pages} pages ({statuses}), p50 {p50:.0f} ms; {rate}", *readers.failures[:5]]
    if goal := GOALS.get(count):
        p95 = readers.percentile(0.95)
        lines.append(str(Goal(f"a page, with {count} people, p95", p95, goal, "ms", most=True)))
    return "\n".join(lines), len(readers.failures)


if __name__ == "__main__":
    sys.exit(main())
