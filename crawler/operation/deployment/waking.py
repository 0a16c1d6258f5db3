"""Processes that exist while they have work: what starts them, and what ends them.

A worker with nothing to do keeps some 20 MB and a connection or two to PostgreSQL; one that is forked when a
message comes is at work within a second (benchmarks/footprint.py).
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from celery.signals import task_postrun, task_prerun

from crawler.celery import app
from crawler.isolation import lifeline

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
REMOTE_LOOK_SECONDS = 2.0
"""Time between two looks into Redis or RabbitMQ, each by a connection of its own, as either may restart."""
OTHER_WORK_EVERY = 10
"""Looks into the queues for each look at other work."""
REST_SECONDS = 120.0
"""Time without a task after which a process that is started on demand ends."""

HasWork = Callable[[], bool]


def watch(queues: Mapping[str, tuple[str, ...]], other_work: Mapping[str, HasWork]) -> None:
    """Ask the supervisor forever for the processes of these `queues` that have messages waiting.

    `other_work` holds, by the name of a process, a function that says whether it has work without a message;
    these are called less often.
    """
    trouble = ""
    for look in count():
        try:
            waiting = with_messages({queue for names in queues.values() for queue in names})
            process_names = {name for name, served in queues.items() if waiting.intersection(served)}
            if look % OTHER_WORK_EVERY == 0:
                process_names |= {name for name, has_work in other_work.items() if has_work()}
            for name in sorted(process_names):
                lifeline.tell_wanted(name)
            trouble = ""
        except Exception as error:  # the broker or the database is away for a moment
            if trouble != (trouble := f"{type(error).__name__}: {error}"):
                log.warning("it cannot be seen which processes have work: %s", trouble)
        time.sleep(LOOK_SECONDS if is_in_postgresql() else REMOTE_LOOK_SECONDS)


def is_in_postgresql() -> bool:
    """Return whether the queues are in PostgreSQL."""
    return str(app.conf.broker_url).startswith("pgmq:")


def with_messages(queues: set[str]) -> set[str]:
    """Return those of these queues in which a message waits that no worker has taken."""
    if is_in_postgresql():
        return _with_visible_messages(sorted(queues))
    with app.connection_for_read() as connection:
        return {queue for queue in queues if _message_count(connection, queue)}


def _with_visible_messages(queues: list[str]) -> set[str]:
    from psycopg import sql  # noqa: PLC0415 - workers without a database load no driver

    look = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {} WHERE vt <= clock_timestamp())")
    looks = [look.format(queue, sql.Identifier("pgmq", f"q_{queue}")) for queue in queues]
    from crawler.postgresql.transport import connection_to  # noqa: PLC0415 - other brokers have none

    with connection_to(app.conf.broker_transport_options["conn_string"]) as connection:
        return {queue for (queue,) in connection.execute(sql.SQL(" UNION ALL ").join(looks))}


def _message_count(connection: Any, queue: str) -> int:
    """Return how many messages wait in a queue of Redis or RabbitMQ, 0 if there is no such queue."""
    channel = connection.channel()
    try:
        return int(channel.queue_declare(queue=queue, passive=True).message_count)
    except connection.channel_errors:
        return 0
    finally:
        channel.close()


class Idleness:
    """The time for which this process, a worker, has had no task."""

    def __init__(self) -> None:
        self._running = 0
        self._since = time.monotonic()

    def seconds(self) -> float:
        """Return how long no task has run, 0 while one runs."""
        return 0.0 if self._running else time.monotonic() - self._since

    def start(self) -> None:
        """Begin to count tasks."""
        task_prerun.connect(self._begun, weak=False)
        task_postrun.connect(self._ended, weak=False)

    def _begun(self, **_: object) -> None:
        self._running += 1

    def _ended(self, **_: object) -> None:
        self._running -= 1
        self._since = time.monotonic()


def end_when_idle(is_busy: HasWork = lambda: False, seconds: float = REST_SECONDS) -> None:
    """Let this worker end in order once it has had no task for some seconds.

    A message that comes meanwhile waits for its next start.
    """
    idleness = Idleness()
    idleness.start()

    def look() -> None:
        while idleness.seconds() < seconds or is_busy():
            time.sleep(min(seconds / 10, 5.0))
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=look, name="idleness", daemon=True).start()
