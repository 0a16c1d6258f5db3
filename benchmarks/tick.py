"""Planning one tick by number of feeds: read state from PostgreSQL, rank, select, lease, build assignments.

    python benchmarks/tick.py [--feeds 10000 100000 1000000] [--controllers 2]

Feeds of the normal phase with learned histories and plans, each on a host of its own, in an embedded
PostgreSQL of its own; the budget of one tick is 2.5 % of them (0.15 per feed and hour at ten minutes). With
`--controllers` so many processes tick and hand out at the same time: one of them makes the plan, and no feed
may be handed out twice, or be left.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.database import own_database  # noqa: E402
from benchmarks.goals import Goal  # noqa: E402

LARGEST = 1_000_000
BLOCK = 20_000
HOSTS = """
    INSERT INTO crawler_host (name, robots_origin, robots_text, turns)
    SELECT 'host' || n || '.example', '', '', 0 FROM generate_series(1, %s) AS n ORDER BY n
"""
# All like the first feed, but for what must differ.
FEEDS = """
    INSERT INTO feeds_feed (url, canonical_url, host_id, last_success, last_attempt, not_before, {same})
    SELECT 'https://host' || n || '.example/feed', 'https://host' || n || '.example/feed', n,
           seen, seen, seen + interval '10 minutes', {same}
    FROM (
        SELECT n, now() - (600 + random() * 172200) * interval '1 second' AS seen
        FROM generate_series(2, %s) AS n
    ) AS others CROSS JOIN LATERAL (SELECT {same} FROM feeds_feed WHERE id = 1) AS first ORDER BY n
"""
DIFFERENT = {"id", "url", "canonical_url", "host_id", "last_success", "last_attempt", "not_before"}
HISTORY = {
    "feed_id": "int8", "hourly": "bytea", "week_counts": "bytea", "week_exposure": "bytea",
    "days": "float8", "levels": "bytea", "rates": "bytea", "updated": "timestamptz",
}  # fmt: skip
PLAN = {"feed_id": "int8", "shape": "bytea"}


def main() -> None:
    """Start a server, and measure each size on an empty database."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--controllers", type=int, default=1)
    options = parser.parse_args()
    unsafe_but_fast = {"fsync": "off", "synchronous_commit": "off", "max_wal_size": "4GB"}
    with own_database("tick", unsafe_but_fast, FEED_BUDGET="0.15"):
        if options.controllers > 1:
            for feeds in options.feeds:
                _fill(feeds)
                print(f"{feeds} feeds", *_together(options.controllers), sep="\n", flush=True)
            return
        print("     feeds  prepare   tick s  hand out s  selected  peak MB")
        for feeds in options.feeds:
            line, ticked = _line(feeds)
            print(line, flush=True)
            if feeds == LARGEST:
                print(Goal("tick of a million feeds", ticked, 5, "s", most=True))


def _line(feeds: int) -> tuple[str, float]:
    """Return the row of this many feeds, and the seconds of its tick."""
    from crawler.engine.leases import hand_out
    from feeds.visiting.ticks import tick

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
    return f"{feeds:10} {prepared:8.0f} {ticked:8.2f} {handed:11.2f} {selected:9} {peak:8.0f}", ticked


CONTROLLER = """
import json, sys, time
import django
django.setup()
from datetime import UTC, datetime
from crawler.engine.leases import hand_out
from feeds.models import Feed
from feeds.visiting.ticks import tick
time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
began = time.time()
done = tick(datetime.now(UTC))
planned = time.time() - began
while not Feed.objects.filter(selected_at__isnull=False).exists() and time.time() - began < 120:
    time.sleep(0.1)
batches, seconds, handed = 0, 0.0, []
while True:
    started = time.time()
    some = hand_out(datetime.now(UTC), 512)
    if not some:
        break
    seconds += time.time() - started
    handed += [assignment.id for batch in some for assignment in batch.assignments]
print(json.dumps({"ranked": done and done.ranked, "planned": planned, "seconds": seconds, "handed": handed}))
"""


def _together(controllers: int) -> Iterator[Goal | str]:
    """Yield a line for each of several controllers that tick and hand out together, and the goals."""
    environment = os.environ | {"CRAWL_HOSTS_IN_FLIGHT": "1000000"}
    command = [sys.executable, "-c", CONTROLLER, str(time.time() + 10)]
    processes = [
        subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(controllers)
    ]
    results = [json.loads(process.communicate()[0]) for process in processes]
    for number, result in enumerate(results, 1):
        plan = (
            f"planned {result['ranked']} in {result['planned']:.1f} s" if result["ranked"] else "planned none"
        )
        yield f"controller {number}: {plan}, handed out {len(result['handed'])} in {result['seconds']:.1f} s"
    handed = [feed for result in results for feed in result["handed"]]
    selected = sum(result["ranked"] or 0 for result in results)
    yield Goal("plans made", sum(result["ranked"] is not None for result in results), 1, most=True)
    yield Goal("feeds handed out twice", len(handed) - len(set(handed)), 0, most=True)
    yield Goal("selected feeds left", selected - len(set(handed)), 0, most=True)


def _fill(feeds: int) -> None:
    """Feeds with random histories, last retrieved at random times of the last two days."""
    from django.db import connection

    from feeds.models import Feed, Tick

    now = datetime.now(UTC)
    same = ", ".join(sorted({str(field.column) for field in Feed._meta.concrete_fields} - DIFFERENT))
    connection.ensure_connection()
    with connection.connection.cursor() as cursor:
        cursor.execute("TRUNCATE feeds_feed, crawler_host, crawler_tick RESTART IDENTITY CASCADE")
        cursor.execute(HOSTS, [feeds])
        url = "https://host1.example/feed"
        Feed.objects.create(url=url, canonical_url=url, host_id=1, phase="normal", last_success=now)
        cursor.execute(FEEDS.format(same=same), [feeds])
        for table, columns, rows in (
            ("feeds_postinghistory", HISTORY, _histories),
            ("feeds_postingplan", PLAN, _plans),
        ):
            with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(list(columns.values()))
                for begin in range(1, feeds + 1, BLOCK):
                    for row in rows(range(begin, min(begin + BLOCK, feeds + 1)), now):
                        copy.write_row(row)
    # The tick before this one, so that one tick's budget is due.
    before = now - timedelta(minutes=10)
    Tick.objects.create(started=before, finished=before, policy="freshness", swept=0, training=0, ranked=0,
                        candidates=0, budget=0, carried=0.0)  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _histories(ids: range, now: datetime) -> Iterator[tuple[object, ...]]:
    import numpy as np

    rng = np.random.default_rng(ids.start)
    means = rng.lognormal(-3, 1.5, len(ids))
    watched = rng.uniform(5, 15, len(ids)).astype("<f4")
    counts = rng.poisson(means[:, None] * watched[:, None], (len(ids), 168)).astype("<f4")
    rates = (means[:, None] * rng.uniform(0.5, 1.5, (len(ids), 168))).astype("<f4")
    for i, feed in enumerate(ids):
        levels = np.array([counts[i].sum(), watched[i] * 168, counts[i].sum() / 8, watched[i] * 21], "<f4")
        yield (
            feed,
            np.full(24, means[i], "<f4").tobytes(),
            counts[i].tobytes(),
            np.full(168, watched[i], "<f4").tobytes(),
            60.0,
            levels.tobytes(),
            rates[i].tobytes(),
            now,
        )


def _plans(ids: range, now: datetime) -> Iterator[tuple[object, ...]]:
    import numpy as np

    shapes = np.random.default_rng(ids.start).uniform(0.5, 2, (len(ids), 168)).astype("<f4")
    for feed, shape in zip(ids, shapes, strict=True):
        yield feed, shape.tobytes()


if __name__ == "__main__":
    main()
