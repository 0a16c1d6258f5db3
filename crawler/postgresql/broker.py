"""Message queues in PostgreSQL: kombu's transport `pgmq` on the schema of PyPI's `pgmq`, installed from SQL.

A message that a worker takes is hidden until it is acknowledged or its visibility timeout ends, so a killed
worker loses none. `release` ends that wait for the messages of a dead worker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
from pgmq.install import install_pgmq_from_sql
from psycopg import sql

# Any fixed number, so that two processes that start at once do not both install.
_INSTALL_LOCK = 7_120_601
# Minimum time between two notifications of a queue. With kombu's default of 250 ms a message that comes soon
# after another waits for a worker's next look, two seconds later: benchmarks/refresh.py read a quarter of the
# unchanged feeds a second.
NOTIFY_MILLISECONDS = 0


def install(dsn: str) -> bool:
    """Install the queue schema in this database unless it is there. Returns whether it was installed."""
    with psycopg.connect(dsn, connect_timeout=30) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_INSTALL_LOCK,))
        # Two installations at the same time would fail on each other's tables.
        row = connection.execute("SELECT to_regclass('pgmq.meta')").fetchone()
        if row is not None and row[0] is not None:
            return False
        install_pgmq_from_sql(conn=connection)
    return True


def make_queues(dsn: str, queues: Iterable[str]) -> None:
    """Create the missing queues and their notifications, so that no worker has to."""
    with psycopg.connect(dsn, connect_timeout=30) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_INSTALL_LOCK,))
        notified = connection.execute("SELECT queue_name FROM pgmq.list_notify_insert_throttles()").fetchall()
        for queue in sorted(set(queues) - {name for (name,) in notified}):
            connection.execute("SELECT pgmq.create(%s)", (queue,))
            connection.execute("SELECT pgmq.enable_notify_insert(%s, %s)", (queue, NOTIFY_MILLISECONDS))
        # Also for queues of an older version, which were made with kombu's default.
        connection.execute(
            "UPDATE pgmq.notify_insert_throttle SET throttle_interval_ms = %(now)s"
            " WHERE throttle_interval_ms <> %(now)s",
            {"now": NOTIFY_MILLISECONDS},
        )
        # At the start, because the clock may have been turned back while nothing ran.
        turn_back(connection)


def turn_back(connection: psycopg.Connection[Any]) -> None:
    """Move what was noted ahead of a clock that was turned back, so that messages are seen and told of again.

    pgmq hides a message until the time at which it was sent, and notifies of no message within
    NOTIFY_MILLISECONDS of the time of the last notification. With the clock 400 days back, workers learnt of
    work by their polls alone, every half minute, and of what was under way not at all.
    """
    connection.execute(
        "UPDATE pgmq.notify_insert_throttle SET last_notified_at = to_timestamp(0)"
        " WHERE last_notified_at > clock_timestamp()"
    )
    for (queue,) in connection.execute("SELECT queue_name FROM pgmq.meta").fetchall():
        statement = sql.SQL(
            "UPDATE {} SET enqueued_at = clock_timestamp(),"
            " vt = clock_timestamp() + greatest(vt - enqueued_at, interval '0')"
            " WHERE enqueued_at > clock_timestamp() + interval '1 second'"
        )
        connection.execute(statement.format(sql.Identifier("pgmq", f"q_{queue}")))


def release(dsn: str, queues: tuple[str, ...]) -> int:
    """Make the messages taken by a dead worker visible again at once. Returns their number.

    Use it only for queues whose one worker is known to be dead: a task still running would run twice.
    """
    released = 0
    with psycopg.connect(dsn, connect_timeout=30) as connection:
        queue_names = {row[0] for row in connection.execute("SELECT queue_name FROM pgmq.meta")}
        for queue in queue_names.intersection(queues):
            statement = sql.SQL(
                "UPDATE {} SET vt = clock_timestamp() WHERE read_ct > 0 AND vt > clock_timestamp()"
            ).format(sql.Identifier("pgmq", f"q_{queue}"))
            released += connection.execute(statement).rowcount
    return released
