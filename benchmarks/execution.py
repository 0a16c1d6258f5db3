"""Execution time of one round over all sources, as in the advaRSS papers: serial, distributed, adaptive.

    python benchmarks/execution.py [--feeds 460] [--items 20] [--delay 50] [--rounds 3]

The paper compares three systems on 460 sources: one that asks them one after the other, one whose terminals
ask side by side, and one that asks so for the 15 % that are worth it, keeping what it has read
(hash, date and titles), so that what is unchanged is not read again. Each feed is on a host of its own and
answers after `--delay` milliseconds. All three use the functions of a terminal, without the database.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))
PORT = 8719
SHARE = 0.15
"""Of all feeds, those that a round of the adaptive system asks (section 5 of the paper)."""


def main() -> None:
    """Print the seconds of each system, the mean of some rounds, and their ratio to the least."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=460)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--delay", type=float, default=50.0, help="milliseconds before each answer")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    command = [
        sys.executable, str(HERE / "feed_server.py"), "--feeds", str(options.feeds),
        "--items", str(options.items), "--port", str(PORT), "--delay", str(options.delay),
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DATABASE_URL": "none", "CELERY_BROKER_URL": "memory://", "DATA_DIR": folder,
            "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8", "FETCH_HOST_SPACING_SECONDS": "0",
            "DJANGO_SETTINGS_MODULE": "crawler.settings",
        }  # fmt: skip
        try:
            _compare(options.feeds, options.rounds)
        finally:
            server.kill()


def _compare(feeds: int, rounds: int) -> None:
    import django

    django.setup()
    from benchmarks.feed_server import feed_url
    from crawler.messages import Assignment, Harvest
    from crawler.terminals.client import terminal_client, terminal_threads
    from feeds.terminal import retrieve_feed

    client = terminal_client()

    def visit(assignment: Assignment) -> Harvest:
        return retrieve_feed(client, assignment, None, 0.0)

    def timed(
        assignments: Sequence[Assignment], pool: ThreadPoolExecutor | None
    ) -> tuple[float, list[Harvest]]:
        began = time.perf_counter()
        harvests = list((pool.map if pool else map)(visit, assignments))
        failed = [harvest for harvest in harvests if harvest.failure]
        assert not failed, failed[0]
        return time.perf_counter() - began, harvests

    everything = [Assignment("feed", number, feed_url(number, PORT)) for number in range(feeds)]
    pool = terminal_threads()
    _, first = timed(everything, pool)
    known = {harvest.id: harvest for harvest in first}
    chosen = [
        Assignment(
            "feed",
            each.id,
            each.url,
            etag=known[each.id].etag,
            last_modified=known[each.id].last_modified,
            body_hash=known[each.id].body_hash,
        )
        for each in everything[: round(SHARE * feeds)]
    ]
    systems = (
        ("serial, every feed", everything, None),
        ("distributed, every feed", everything, pool),
        (f"distributed and adaptive, {SHARE:.0%} of the feeds", chosen, pool),
    )
    means = {}
    for name, assignments, threads in systems:
        means[name] = sum(timed(assignments, threads)[0] for _ in range(rounds)) / rounds
    least = min(means.values())
    for name, seconds in means.items():
        print(f"{name:45}{seconds:8.2f} s{seconds / least:8.1f} x")


if __name__ == "__main__":
    main()
