"""The sixteen access patterns of the graph at a million quads: median and 99th percentile of ids, in ms.

    python benchmarks/quads.py [--quads 1000000]

In an embedded PostgreSQL of its own. Every pattern is asked for quads that are there, at most 100 of each
answer, as prepared statements; nothing is turned from ids into terms.
"""

from __future__ import annotations

import argparse
import random
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
    options = parser.parse_args()
    with own_database("quads"):
        _measure(options.quads)


def _measure(count: int) -> None:
    from django.db import connection

    from crawler.pipeline.store import pattern_sql

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
        cursor.execute("VACUUM ANALYZE pipeline_quad")
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
