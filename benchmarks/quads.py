"""The graph at a size: its sixteen access patterns, and the replica that answers SPARQL.

    python benchmarks/quads.py [--quads 1000000] [--replica]

In an embedded PostgreSQL of its own. Every pattern is asked for quads that are there, at most 100 of each
answer, as prepared statements; nothing is turned from ids into terms: median and 99th percentile in ms.
With `--replica` the graph is also copied into the replica, in a separate process: how long that takes, how
long it takes to go on after the process has ended, how long until a changed graph can be asked for, and the
memory of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database

ASKED = 300


def main() -> None:
    """Fill the table, ask."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quads", type=int, default=1_000_000)
    parser.add_argument("--replica", action="store_true", help="copy it into the replica, too")
    options = parser.parse_args()
    with own_database("quads", {"fsync": "off"} if options.replica else None):
        began = time.perf_counter()
        _fill(options.quads)
        seconds = time.perf_counter() - began
        print(f"stored in {seconds:.0f} s, {_stored_bytes():.0f} bytes a quad with its terms")
        _measure()
        if options.replica:
            _copy()


FOLLOW = """
import json, os, resource, time
began = time.perf_counter()
import django
django.setup()
from crawler.pipeline.sparql.replica import Replica
replica = Replica()
graphs = replica.follow()
print(json.dumps({"seconds": time.perf_counter() - began, "graphs": graphs,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def _copy() -> None:
    """Copy the graph into the replica, once more, and once more with a changed graph."""
    from django.db import connection

    for what in ("copied into the replica", "a new process goes on", "a changed graph can be asked for"):
        if what.startswith("a changed"):
            with connection.cursor() as cursor:
                cursor.execute(
                    """
                    DELETE FROM pipeline_quad WHERE (s, p, o, c) IN (
                        SELECT s, p, o, c FROM pipeline_quad WHERE c = hashint8extended(7, 4) LIMIT 1
                    );
                    INSERT INTO pipeline_graphchange (context, url, version, added, removed)
                    VALUES (hashint8extended(7, 4), 'http://a.example/7', 2, 0, 1)
                    """
                )
        done = subprocess.run(
            [sys.executable, "-c", FOLLOW], capture_output=True, text=True, check=True, env=os.environ
        )
        row = json.loads(done.stdout)
        print(
            f"{what}: {row['graphs']} graphs, {row['seconds']:.1f} s, {row['peak'] / 2**20:.0f} MB",
            flush=True,
        )


def _stored_bytes() -> float:
    """Return the bytes that a quad takes in the database."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT sum(pg_total_relation_size(oid)) / (SELECT count(*) FROM pipeline_quad)
            FROM pg_class WHERE relkind = 'r' AND relname ~ '^pipeline_(quad|term)'
            """
        )
        return float(cursor.fetchone()[0])


def _fill(count: int) -> None:
    """Store quads, their terms, and the changes that a replica follows."""
    from django.db import connection

    with connection.cursor() as cursor:
        # As in a crawl's graph: a hundred quads a page, few predicates, some things named everywhere.
        cursor.execute(
            """
            INSERT INTO pipeline_quad
            SELECT hashint8extended(n / 20, 1), hashint8extended((n * n) %% 40, 2),
                hashint8extended((n * 7919) %% (%s / 4), 3), hashint8extended(n / 100, 4)
            FROM generate_series(1, %s::bigint) AS n ON CONFLICT DO NOTHING
            """,
            [count, count],
        )
        cursor.execute(
            """
            INSERT INTO pipeline_term (id, mark, kind, lang, datatype, value)
            SELECT id, 0, min(kind), '', '', min(value) FROM (
                SELECT hashint8extended(n, 1) AS id, 0 AS kind, 'http://a.example/thing/' || n AS value
                FROM generate_series(0, %s / 20) AS n
                UNION ALL SELECT hashint8extended(n, 2), 0, 'http://a.example/predicate/' || n
                FROM generate_series(0, 39) AS n
                UNION ALL SELECT hashint8extended(n, 3), CASE WHEN n %% 3 = 0 THEN 0 ELSE 2 END,
                    CASE WHEN n %% 3 = 0 THEN 'http://b.example/' ELSE 'some words about number ' END || n
                FROM generate_series(0, %s / 4) AS n
                UNION ALL SELECT hashint8extended(n, 4), 0, 'http://a.example/' || n
                FROM generate_series(0, %s / 100) AS n
            ) AS terms GROUP BY id ON CONFLICT DO NOTHING;
            INSERT INTO pipeline_graphchange (context, url, version, added, removed)
            SELECT hashint8extended(n, 4), 'http://a.example/' || n, 1, 100, 0
            FROM generate_series(0, %s / 100) AS n
            """,
            [count] * 4,
        )
        cursor.execute("VACUUM ANALYZE")


def _measure() -> None:
    """Ask by every pattern, and print the times."""
    from django.db import connection

    from crawler.pipeline.store import pattern_sql

    with connection.cursor() as cursor:
        cursor.execute("SELECT s, p, o, c FROM pipeline_quad TABLESAMPLE SYSTEM (1) LIMIT 20000")
        known = cursor.fetchall()
        cursor.execute("SELECT count(*) FROM pipeline_quad")
        print(f"{cursor.fetchone()[0]} quads")
        print("pattern  ms median     p99")
        dice = random.Random(1)
        raw = cursor.cursor
        for size in range(5):
            for bound in combinations(range(4), size):
                times = []
                for quad in dice.sample(known, ASKED):
                    keys = [quad[place] if place in bound else None for place in range(4)]
                    statement, parameters = pattern_sql(*keys)
                    started = time.perf_counter()
                    raw.execute(f"{statement} LIMIT 100", parameters, prepare=True)
                    raw.fetchall()
                    times.append(time.perf_counter() - started)
                times.sort()
                name = "".join(letter if place in bound else "-" for place, letter in enumerate("spoc"))
                print(f"{name:7} {1000 * times[ASKED // 2]:10.3f} {1000 * times[int(0.99 * ASKED)]:7.3f}")


if __name__ == "__main__":
    main()
