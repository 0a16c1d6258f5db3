"""The broker in PostgreSQL goes away and comes back: senders wait, and nothing that was sent is lost."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from celery import Celery

from crawler import environment
from crawler.postgresql import broker, transport
from crawler.postgresql.postgresql import PostgreSQL
from crawler.settings import CELERY_TASK_PUBLISH_RETRY_POLICY
from tests.crawler.postgresql.test_broker import TASKS, count, dsn, send, wait_for, worker

QUEUE = "freshet_transport"


@pytest.fixture
def server(data_dir: Path) -> Iterator[PostgreSQL]:
    server = PostgreSQL(data_dir, {"fsync": "off", "shared_buffers": "16MB"})
    server.start()
    broker.install(dsn(server.credentials.broker_url))
    yield server
    server.stop()


@pytest.fixture
def app(server: PostgreSQL) -> Iterator[Celery]:
    url = server.credentials.broker_url
    with Celery("sender", broker=url, set_as_current=False) as app:
        app.conf.broker_transport_options = environment.transport_options(url, 600)
        app.conf.task_publish_retry_policy = CELERY_TASK_PUBLISH_RETRY_POLICY
        yield app


def test_threads_that_begin_at_once_share_one_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each opened its own, and the one that was lost warned of its thread when it was collected."""
    opened = []

    def slow(*arguments: Any, **options: Any) -> object:
        time.sleep(0.05)
        opened.append(arguments)
        return object()

    monkeypatch.setattr(transport, "ConnectionPool", slow)
    monkeypatch.setattr(transport, "_pools", {})
    with ThreadPoolExecutor(4) as threads:
        pools = list(threads.map(transport._pool_of, ["dbname=x"] * 4))
    assert len(opened) == len(set(map(id, pools))) == 1


def waiting(server: PostgreSQL) -> int:
    with psycopg.connect(dsn(server.credentials.broker_url)) as connection:
        row = connection.execute(f"SELECT count(*) FROM pgmq.q_{QUEUE}").fetchone()
    assert row is not None
    return int(row[0])


def kill(server: PostgreSQL) -> None:
    """With all that serves connections: a backend learns of the death only when it is idle again."""
    assert server.process is not None
    pid = server.process.pid
    backends = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    server.process.kill()
    server.process.wait()
    assert wait_for(lambda: not any(map(runs, backends)), 30)


def runs(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_a_connection_lost_while_a_queue_is_declared_costs_no_message(
    app: Celery, server: PostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kombu then publishes on the channel that was closed, which had no client any more."""
    channel: Any = app.connection_for_write().transport.Channel
    declare, lost = channel._queue_bind, []

    def lose(self: Any, *arguments: Any) -> None:
        if not lost:
            lost.append(1)
            raise psycopg.OperationalError("the connection is lost")
        declare(self, *arguments)

    monkeypatch.setattr(channel, "_queue_bind", lose)
    app.send_task("work", queue=QUEUE, ignore_result=True)
    assert lost
    assert waiting(server) == 1


def test_sending_outlasts_a_server_that_is_killed_and_started_again(app: Celery, server: PostgreSQL) -> None:
    app.send_task("work", queue=QUEUE, ignore_result=True)
    kill(server)
    # In a thread: the server would end with the thread that starts it.
    sending = threading.Thread(target=lambda: app.send_task("work", queue=QUEUE, ignore_result=True))
    sending.start()
    time.sleep(4.0)
    assert sending.is_alive()
    server.recover()
    sending.join(30)
    assert waiting(server) == 2


def test_a_worker_outlasts_a_server_that_is_killed_and_started_again(
    server: PostgreSQL, tmp_path: Path
) -> None:
    url = server.credentials.broker_url
    send(url, tmp_path, seconds=0.2)
    with worker(url, visibility=6) as process:
        assert wait_for(lambda: count(tmp_path, "done") > 0, 90)
        kill(server)
        time.sleep(1.0)
        server.recover()
        assert wait_for(lambda: count(tmp_path, "done") == TASKS, 90)
        assert process.poll() is None


def test_declaring_a_queue_again_takes_no_lock_that_its_readers_wait_for(
    app: Celery, server: PostgreSQL
) -> None:
    app.send_task("work", queue=QUEUE, ignore_result=True)
    with psycopg.connect(dsn(server.credentials.broker_url)) as reader:
        reader.execute(f"SELECT * FROM pgmq.read('{QUEUE}', 0, 1)")  # its transaction stays open
        options = app.conf.broker_transport_options
        app.conf.broker_transport_options = {
            **options, "conn_string": options["conn_string"] + "?options=-c%20lock_timeout%3D1s"
        }  # fmt: skip
        with app.connection_for_write() as link:  # declares anew, as every process does
            app.send_task("work", queue=QUEUE, connection=link, retry=False, ignore_result=True)
    assert waiting(server) == 2


def test_an_idle_worker_ends_at_once(server: PostgreSQL, tmp_path: Path) -> None:
    url = server.credentials.broker_url
    with worker(url, visibility=600) as process:
        send(url, tmp_path, seconds=0)
        assert wait_for(lambda: count(tmp_path, "done") == TASKS, 90)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
