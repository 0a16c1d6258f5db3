"""The queue of a crawl with many URLs waiting: insertions, leases and drops a second; the time of a lease.

    python benchmarks/frontier.py [--urls 1000000]

In an embedded PostgreSQL of its own. Every host has a hundred URLs, at each size, so that leases are alike.
A lease is that of the best host on 50 of its URLs; below it, one handing out that leases the 32 best hosts.
"""

from __future__ import annotations

import argparse
import sys
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database

BATCH, URLS_A_LEASE, URLS_A_HOST = 2_000, 50, 100
LEASES = {1: 300, 32: 30}  # how often so many hosts at once; a tenth of the URLs is enough for all


def main() -> None:
    """Fill the queue, and measure at a tenth of its size and at its whole."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=1_000_000)
    options = parser.parse_args()
    with own_database("frontier"):
        _measure(options.urls)


def _measure(urls: int) -> None:
    from django.db import connection

    from crawler.frontier.crawls import begin
    from crawler.frontier.models import Crawl

    crawl = begin(Crawl(seeds=["http://host0.example/"], anywhere=True))
    print("  waiting  inserted/s  hosts at once  leased/s  ms p50    p99")
    done = 0
    for goal in (urls // 10, urls):
        started = time.perf_counter()
        _insert(crawl, range(done, goal))
        inserted = (goal - done) / (time.perf_counter() - started)
        done = goal
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        for hosts_at_once in LEASES:
            times, leased = _lease(crawl, hosts_at_once)
            print(
                f"{goal:9} {inserted:11.0f} {hosts_at_once:14} {leased / sum(times):9.0f} "
                f"{1000 * times[len(times) // 2]:7.1f} {1000 * times[int(0.99 * len(times))]:6.1f}",
                flush=True,
            )
    from crawler.frontier.queue import drop_expired

    started = time.perf_counter()
    dropped = drop_expired(crawl, datetime.now(UTC) + timedelta(days=1))
    print(f"dropped {dropped} at once: {dropped / (time.perf_counter() - started):.0f}/s")


def _insert(crawl: object, numbers: range) -> None:
    """URLs of so many new hosts, a turn of one URL of each after the other."""
    from django.db import transaction

    from crawler.frontier.admission import Found, admit
    from crawler.frontier.queue import keep_statistics

    hosts = len(numbers) // URLS_A_HOST
    for begin in range(numbers.start, numbers.stop, BATCH):
        keep_statistics()  # as it is done every few seconds of a crawl
        found = [
            Found(
                f"http://host{numbers.start}-{n % hosts}.example/page/{n:x}",
                "inter",
                (n * 7919 % 1000) / 1000,
                1,
            )
            for n in range(begin, min(begin + BATCH, numbers.stop))
        ]
        with transaction.atomic():
            admit(crawl, found, datetime.now(UTC))  # type: ignore[arg-type]


def _lease(crawl: object, hosts: int) -> tuple[list[float], int]:
    """Seconds of each lease in order of length, and URLs leased."""
    from django.db import transaction

    from crawler.engine.leased import BatchSpace
    from crawler.frontier.queue import hosts_in_order, lease_urls

    times, leased = [], 0
    for _ in range(LEASES[hosts]):
        now = datetime.now(UTC) + timedelta(seconds=1)
        started = time.perf_counter()
        with transaction.atomic():
            chosen = {host.pk: uuid.uuid4() for host in hosts_in_order(crawl, hosts, now)}  # type: ignore[arg-type]
            room = dict.fromkeys(chosen, BatchSpace(URLS_A_LEASE))
            taken = lease_urls(chosen, room, crawl, now)  # type: ignore[arg-type]
        times.append(time.perf_counter() - started)
        leased += sum(len(urls) for urls in taken.values())
    return sorted(times), leased


if __name__ == "__main__":
    main()
