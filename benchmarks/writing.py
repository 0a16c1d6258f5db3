"""What is written to disk: for ten thousand new articles, and for feeds that have nothing new.

    python -m benchmarks.writing [--feeds 500] [--rounds 2] [--tables 12]

Starts Freshet as `make run` does, in a new directory with a PostgreSQL of its own. Feeds with 20 articles
each are read, enriched and taken into the graph; then all are asked again, unchanged. Prints by part
what was written until it was on the disk: PostgreSQL's log, its data files, and what the kernel counts for
the whole disk, which has the replica in it and which others may use, too. An hour of 10,000 quiet
feeds is what 10,000 such visits write. Of the tables, it prints which have grown most.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.feed_server import feed_url
from benchmarks.footprint import COUNT, ITEMS, Product, product_in, wait_for
from benchmarks.goals import Goal
from benchmarks.refresh import feed_server, free_port

ARTICLES, VISITS = 10_000, 10_000
MEGABYTE = 2**20

READ_WRITTEN = """
SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 || ' ' || (
    SELECT coalesce(sum(write_bytes), 0) FROM pg_stat_io WHERE object <> 'wal'
) || ' ' || (SELECT wal_fpi FROM pg_stat_wal)
"""
READ_TABLES = """
SELECT string_agg(relname || ' ' || heap || ' ' || indexes || ' ' || rows, ',') FROM (
    SELECT relname, pg_table_size(relid) AS heap, pg_indexes_size(relid) AS indexes, n_live_tup AS rows
    FROM pg_stat_user_tables WHERE schemaname = 'public'
) AS sized
"""
VISIT = """
from crawler.engine.tasks import dispatch
from feeds.models import Feed
from feeds.visiting.selection import retrieve_now
retrieve_now(Feed.objects.all(), "benchmark")
dispatch.delay()
"""
VISITED = """
from feeds.models import Retrieval
print(Retrieval.objects.count())
"""


@dataclass(frozen=True)
class Written:
    """Bytes written so far: PostgreSQL's log, its data files, all of the disk; and the full pages logged."""

    log: float
    files: float
    disk: float
    full_pages: float

    def __sub__(self, other: Written) -> Written:
        return Written(
            self.log - other.log,
            self.files - other.files,
            self.disk - other.disk,
            self.full_pages - other.full_pages,
        )


def written(product: Product) -> Written:
    """Return what was written so far, once all of it is on the disk."""
    product.sql("CHECKPOINT")
    time.sleep(1)
    os.sync()
    log, files, full_pages = map(float, str(product.sql(READ_WRITTEN)).split())
    return Written(log, files, disk_bytes(product.work), full_pages)


def disk_bytes(path: Path) -> float:
    """Return the bytes written to the device of a path: proc(5), diskstats, sectors of 512 bytes."""
    device = path.stat().st_dev
    for line in Path("/proc/diskstats").read_text().splitlines():
        fields = line.split()
        if os.makedev(int(fields[0]), int(fields[1])) == device:
            return 512.0 * int(fields[9])
    return 0.0


def sizes(product: Product) -> dict[str, tuple[int, int, int]]:
    """Return the bytes of each table, those of its indexes, and its rows."""
    rows = str(product.sql(READ_TABLES, "freshet")).split(",")
    return {
        name: (int(heap), int(indexes), int(count)) for name, heap, indexes, count in map(str.split, rows)
    }


def line(what: str, part: Written, count: int) -> str:
    """Return a line for what was written for so many articles or visits."""
    each = f"{part.disk / count / 1024:.1f} kB each"
    return (
        f"{what:28} log {part.log / MEGABYTE:7.1f} MB ({part.full_pages:.0f} full pages), data files"
        f" {part.files / MEGABYTE:7.1f} MB, whole disk {part.disk / MEGABYTE:7.1f} MB, {each}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=ARTICLES // ITEMS)
    parser.add_argument("--rounds", type=int, default=2, help="visits to each unchanged feed")
    parser.add_argument("--tables", type=int, default=12, help="tables to list")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="freshet-writing-"))
    work.chmod(0o711)
    port = free_port()
    articles = options.feeds * ITEMS
    try:
        with feed_server(options.feeds, ITEMS, port), product_in(work) as product:
            product.environment |= {"FEED_TICK_SECONDS": "86400", "FEED_MIN_GAP_SECONDS": "0"}
            product.start()
            before, empty = written(product), sizes(product)
            product.manage("add_feeds", *(feed_url(number, port) for number in range(options.feeds)))
            product.manage("shell", "-v", "0", "-c", VISIT)
            wait_for(lambda: _is_settled(product, articles), 900, "not all was settled", 5)
            time.sleep(10)  # the replica follows
            new, full = written(product), sizes(product)
            for _ in range(options.rounds):
                count = int(product.manage("shell", "-v", "0", "-c", VISITED).split()[-1])
                product.manage("shell", "-v", "0", "-c", VISIT)
                wait_for(lambda: _visits(product) >= count + options.feeds, 300, "not all came back", 1)  # noqa: B023
            quiet = written(product)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(line(f"{articles} new articles", new - before, articles))
    print(
        line(f"{options.feeds * options.rounds} unchanged feeds", quiet - new, options.feeds * options.rounds)
    )
    grown = {name: full[name][0] + full[name][1] - sum(empty[name][:2]) for name in full}
    for name in sorted(grown, key=grown.__getitem__, reverse=True)[: options.tables]:
        heap, indexes, rows = full[name]
        print(f"  {name:32} {heap / 1024:8.0f} kB, indexes {indexes / 1024:8.0f} kB, {rows} rows")
    share = ARTICLES / articles
    hour = (quiet - new).disk / options.feeds / options.rounds * VISITS
    print(f"in the database: {sum(grown.values()) / articles / 1024:.2f} kB an article")
    print(Goal("10,000 new articles settled", (new - before).disk * share / MEGABYTE, 1024, "MB", most=True))
    print(Goal("an hour of 10,000 quiet feeds", hour / MEGABYTE, 300, "MB", most=True))


def _is_settled(product: Product, articles: int) -> bool:
    stored, enriched, waiting = map(int, product.manage("shell", "-v", "0", "-c", COUNT).split()[-3:])
    return stored == enriched == articles and not waiting


def _visits(product: Product) -> int:
    return int(product.manage("shell", "-v", "0", "-c", VISITED).split()[-1])


if __name__ == "__main__":
    main()
