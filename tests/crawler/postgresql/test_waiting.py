"""A worker waits for word of messages instead of asking for them, and misses none."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from celery import Celery

from crawler import environment
from crawler.postgresql import broker
from crawler.postgresql.postgresql import PostgreSQL
from tests.crawler.postgresql.test_broker import dsn

QUEUE = "freshet_waiting"
ROUND = 60.0
"""Seconds of a round so long that a message which comes in its first half did not wait for its end."""


@pytest.fixture
def address(standing_server: PostgreSQL) -> str:
    url = standing_server.credentials.broker_url
    broker.install(dsn(url))
    broker.make_queues(dsn(url), [QUEUE])
    with psycopg.connect(dsn(url)) as connection:
        connection.execute("SELECT pgmq.purge_queue(%s)", (QUEUE,))
    return url


@pytest.fixture
def app(address: str) -> Iterator[Celery]:
    with Celery("waiting", broker=address, set_as_current=False) as app:
        app.conf.broker_transport_options = environment.transport_options(address, 600)
        yield app


class Receiver:
    """Takes messages in this thread, as a worker does: when each came, by its task's name."""

    def __init__(self, app: Celery, prefetch: int = 0) -> None:
        self.link = app.connection_for_read()
        self.came: dict[str, float] = {}
        self.messages: list[Any] = []
        self.consumer = self.link.Consumer(
            [app.amqp.queues.select_add(QUEUE) or app.amqp.queues[QUEUE]],
            on_message=self._take,
            prefetch_count=prefetch,
        )

    def __enter__(self) -> Receiver:
        self.consumer.consume()
        return self

    def __exit__(self, *error: object) -> None:
        self.link.release()

    def _take(self, message: Any) -> None:
        self.came[message.headers["task"]] = time.monotonic()
        self.messages.append(message)

    def until(self, promise: Callable[[], bool], seconds: float, a_round: float = 2.0) -> bool:
        """Wait as a worker does, in rounds; a long one ends only when something wakes it."""
        end = time.monotonic() + seconds
        while not promise() and time.monotonic() < end:
            with contextlib.suppress(socket.timeout):
                self.link.drain_events(timeout=min(a_round, max(0.01, end - time.monotonic())))
        return promise()


def send(app: Celery, name: str, **options: Any) -> None:
    app.send_task(name, queue=QUEUE, ignore_result=True, **options)


def insert(address: str, name: str, connection: psycopg.Connection[Any] | None = None) -> None:
    """A message as another machine sends it."""
    body = (
        f'{{"body": "W10=", "headers": {{"task": "{name}"}}, "content-type": "application/json",'
        f' "content-encoding": "utf-8", "properties": {{"delivery_tag": "{name}", "delivery_info": {{}},'
        ' "body_encoding": "base64"}}'
    )
    with connection or psycopg.connect(dsn(address), autocommit=True) as opened:
        opened.execute("SELECT pgmq.send(%s, %s::jsonb)", (QUEUE, body))


def quiet(receiver: Receiver, seconds: float = 1.5) -> None:
    """Until nothing is expected soon."""
    assert not receiver.until(lambda: False, seconds)


def test_a_message_sent_before_anybody_listened_is_taken_at_once(app: Celery) -> None:
    send(app, "early")
    with Receiver(app) as receiver:
        began = time.monotonic()
        assert receiver.until(lambda: "early" in receiver.came, ROUND, ROUND)
        assert receiver.came["early"] - began < ROUND / 2, "not at the end of a round"


def test_a_message_wakes_whoever_waits(app: Celery, address: str) -> None:
    with Receiver(app) as receiver:
        quiet(receiver, 4.0)
        timer = threading.Timer(0.5, insert, (address, "word"))
        timer.start()
        began = time.monotonic()
        assert receiver.until(lambda: "word" in receiver.came, ROUND, ROUND)
        assert receiver.came["word"] - began < ROUND / 2, "not at the end of a round"
        timer.join()


def test_the_last_of_many_messages_is_not_late_though_there_was_no_word_of_it(
    app: Celery, address: str
) -> None:
    """PostgreSQL says a word of a queue at most every quarter of a second."""
    with Receiver(app) as receiver:
        quiet(receiver, 4.0)
        insert(address, "first")
        assert receiver.until(lambda: "first" in receiver.came, 5)
        insert(address, "last")
        assert receiver.until(lambda: "last" in receiver.came, 20)


def test_a_task_with_a_time_is_hidden_until_then_and_comes_on_time(app: Celery, address: str) -> None:
    with Receiver(app) as receiver:
        quiet(receiver)
        began = time.monotonic()
        due = datetime.now(UTC) + timedelta(seconds=3.5)
        send(app, "later", eta=due)
        with psycopg.connect(dsn(address)) as connection:
            row = connection.execute(f"SELECT min(vt) FROM pgmq.q_{QUEUE}").fetchone()
        assert row is not None
        assert row[0] == due
        assert receiver.until(lambda: "later" in receiver.came, 35)
        assert receiver.came["later"] - began > 3.4
        # With it, Celery would run the task in a thread of its timer, beside the one task of a solo pool.
        assert "eta" not in receiver.messages[-1].headers


def test_what_a_dead_worker_had_taken_comes_when_its_time_is_over(app: Celery, address: str) -> None:
    insert(address, "taken")
    began = time.monotonic()
    with psycopg.connect(dsn(address), autocommit=True) as connection:
        connection.execute("SELECT * FROM pgmq.read(%s, 3, 1)", (QUEUE,))
    with Receiver(app) as receiver:
        assert receiver.until(lambda: "taken" in receiver.came, 30)
        assert receiver.came["taken"] - began > 2.9


def test_waiting_asks_next_to_nothing_of_postgresql(
    app: Celery, address: str, standing_server: PostgreSQL
) -> None:
    def statements() -> int:
        with standing_server.connect() as connection:
            connection.execute("SELECT pg_stat_force_next_flush()")
            row = connection.execute(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = 'broker'"
            ).fetchone()
        assert row is not None
        return int(row[0])

    with Receiver(app) as receiver:
        quiet(receiver, 6.0)
        before = statements()
        quiet(receiver, 4.0)
        assert statements() - before <= 8  # a look each two seconds, and what counts these


def test_a_receiver_that_has_all_it_may_take_is_woken_by_an_acknowledgement(
    app: Celery, address: str
) -> None:
    with Receiver(app, prefetch=1) as receiver:
        insert(address, "one")
        insert(address, "two")
        assert receiver.until(lambda: bool(receiver.came), 5)
        timer = threading.Timer(1.0, receiver.messages[0].ack)
        timer.start()
        assert receiver.until(lambda: len(receiver.came) == 2, ROUND, ROUND)
        timer.join()
        first, second = sorted(receiver.came.values())
        assert 0.9 < second - first < ROUND / 2, "after the acknowledgement, and not at the end of a round"


def test_one_that_is_given_back_comes_again_at_once(app: Celery, address: str) -> None:
    with Receiver(app) as receiver:
        insert(address, "again")
        assert receiver.until(lambda: len(receiver.messages) == 1, 5)
        receiver.messages[0].requeue()
        assert receiver.until(lambda: len(receiver.messages) == 2, 20)  # it would be hidden for 600 s


def test_a_process_has_few_connections_to_the_broker(app: Celery, standing_server: PostgreSQL) -> None:
    with Receiver(app) as receiver:
        send(app, "one")
        assert receiver.until(lambda: bool(receiver.came), 5)
        with standing_server.connect() as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = 'broker' AND backend_type = 'client backend'"
            ).fetchone()
        assert row is not None and row[0] <= 3  # one to wait, one to use, and one of a thread before


def test_a_connection_that_is_ended_is_noticed_and_replaced(
    app: Celery, address: str, standing_server: PostgreSQL
) -> None:
    """Whoever waits hears of it as an error of the connection, which a worker answers by connecting anew."""
    with Receiver(app) as receiver:
        quiet(receiver)
        with standing_server.connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'broker'"
            )
        with pytest.raises(psycopg.OperationalError):
            receiver.until(lambda: False, 5)
    insert(address, "meanwhile")
    with Receiver(app) as receiver:
        assert receiver.until(lambda: "meanwhile" in receiver.came, 5)
