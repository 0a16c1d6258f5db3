"""Planning one tick by number of feeds: read state from PostgreSQL, rank, select, lease, build assignments.

    python benchmarks/tick.py [--feeds 10000 100000 1000000]

Feeds of the normal phase with learned histories and plans, each on a host of its own, in an embedded
PostgreSQL of its own; the budget of one tick is 2.5 % of them (0.15 per feed and hour at ten minutes).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

BLOCK = 20_000


def main() -> None:
    """Start a server, and measure each size on an empty database."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, nargs="+", default=[10_000, 100_000])
    options = parser.parse_args()
    from crawler.embedded.postgresql import PostgreSQL

    directory = Path(tempfile.mkdtemp(prefix="freshet-tick-"))
    directory.chmod(0o711)
    server = PostgreSQL(directory, {"fsync": "off", "synchronous_commit": "off", "max_wal_size": "4GB"})
    server.start()
    try:
        os.environ["DATABASE_URL"] = server.credentials.database_url
        os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings"
        os.environ["CRAWL_BUDGET"] = "0.15"
        os.environ["DATA_DIR"] = str(directory / "data")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print("     feeds  prepare   tick s  hand out s  selected  peak MB")
        for feeds in options.feeds:
            print(_line(feeds), flush=True)
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _line(feeds: int) -> str:
    from crawler.controller.leases import hand_out
    from crawler.controller.tick import tick

    started = time.perf_counter()
    _fill(feeds)
    prepared = time.perf_counter() - started
    now = datetime.now(UTC)
    started = time.perf_counter()
    done = tick(now)
    ticked = time.perf_counter() - started
    started = time.perf_counter()
    hand_out(now)
    handed = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    selected = done.ranked if done else 0
    return f"{feeds:10} {prepared:8.0f} {ticked:8.2f} {handed:11.2f} {selected:9} {peak:8.0f}"


def _fill(feeds: int) -> None:
    """Feeds with random histories, last retrieved at random times of the last two days."""
    import numpy as np
    from django.db import connection

    from crawler.models import Host, Tick
    from crawler.rows import insert_rows
    from feeds.models import Feed, PostingHistory, PostingPlan

    rng = np.random.default_rng(1)
    now = datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE feeds_feed, crawler_host, crawler_tick RESTART IDENTITY CASCADE")
    for begin in range(1, feeds + 1, BLOCK):
        numbers = range(begin, min(begin + BLOCK, feeds + 1))
        names = [f"host{number}.example" for number in numbers]
        hosts = Host.objects.named(set(names))
        ages = rng.uniform(600, 2 * 86400, len(names))
        rows = [
            Feed(
                url=f"https://{name}/feed",
                canonical_url=f"https://{name}/feed",
                host_id=hosts[name],
                phase=Feed.Phase.NORMAL,
                status=Feed.Status.ACTIVE,
                last_success=now - timedelta(seconds=age),
                last_attempt=now - timedelta(seconds=age),
                not_before=now - timedelta(seconds=age - 600),
            )
            for name, age in zip(names, ages.tolist(), strict=True)
        ]
        Feed.objects.bulk_create(rows, batch_size=2000)
        watched = rng.uniform(5, 15, len(names)).astype("<f4")
        means = rng.lognormal(-3, 1.5, len(names))
        counts = rng.poisson(means[:, None] * watched[:, None], (len(names), 168)).astype("<f4")
        histories = [
            PostingHistory(
                feed_id=feed.id,
                hourly=np.full(24, mean, "<f4").tobytes(),
                days=60.0,
                week_counts=count.tobytes(),
                week_exposure=np.full(168, hours, "<f4").tobytes(),
                levels=np.array([count.sum(), hours * 168, count.sum() / 8, hours * 21], "<f4").tobytes(),
                updated=now,
            )
            for feed, mean, count, hours in zip(rows, means.tolist(), counts, watched.tolist(), strict=True)
        ]
        insert_rows(PostingHistory, histories)
        shapes = rng.uniform(0.5, 2, (len(names), 168)).astype("<f4")
        insert_rows(
            PostingPlan,
            [PostingPlan(feed_id=f.id, shape=s.tobytes()) for f, s in zip(rows, shapes, strict=True)],
        )
    # The tick before this one, so that one tick's budget is due.
    before = now - timedelta(minutes=10)
    Tick.objects.create(started=before, finished=before, policy="freshness", swept=0, training=0, ranked=0,
                        candidates=0, budget=0, carried=0.0)  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    main()
