"""The broker in PostgreSQL: a worker killed in the middle of its tasks loses none of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from celery import Celery

from crawler import environment
from crawler.postgresql import broker
from crawler.postgresql.postgresql import PostgreSQL

TASKS = 8
WORKER = "tests.crawler.postgresql.broker_worker"


@pytest.fixture
def broker_url(standing_server: PostgreSQL) -> str:
    url = standing_server.credentials.broker_url
    broker.install(dsn(url))
    with psycopg.connect(dsn(url)) as connection:
        if connection.execute("SELECT 1 FROM pgmq.meta WHERE queue_name = 'freshet_test'").fetchone():
            connection.execute("SELECT pgmq.purge_queue('freshet_test')")
    return url


def dsn(url: str) -> str:
    return str(environment.transport_options(url, 1)["conn_string"])


@contextmanager
def worker(url: str, visibility: int, queue: str = "freshet_test") -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process group of its own, killed at the end if it still lives."""
    command = [sys.executable, "-m", "celery", "--quiet", "-A", WORKER, "worker", "-Q", queue]
    command += [
        "--pool",
        "threads",
        "--concurrency",
        "4",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
        "--loglevel",
        "ERROR",
    ]
    known = {**os.environ, "TEST_BROKER_URL": url, "TEST_VISIBILITY": str(visibility)}
    with subprocess.Popen(command, env=known, start_new_session=True, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def send(url: str, directory: Path, seconds: float, queue: str = "freshet_test") -> None:
    with Celery("sender", broker=url, set_as_current=False) as app:
        app.conf.broker_transport_options = environment.transport_options(url, 600)
        for number in range(TASKS):
            app.send_task("work", (str(directory), number, seconds), queue=queue, ignore_result=True)


def wait_for(promise: Callable[[], bool], seconds: float = 90.0) -> bool:
    deadline = time.monotonic() + seconds
    while not promise() and time.monotonic() < deadline:
        time.sleep(0.05)
    return promise()


def count(directory: Path, mark: str) -> int:
    return len(list(directory.glob(f"{mark}-*")))


def kill_in_the_middle(url: str, directory: Path, visibility: int) -> None:
    """Send all tasks and kill the worker, pool and all, while it works on some and holds others."""
    send(url, directory, seconds=0.8)
    with worker(url, visibility):
        # More than its four processes began: some are acknowledged, some are under way.
        assert wait_for(lambda: count(directory, "begun") > 4)
    assert 0 < count(directory, "done") < count(directory, "begun")


def test_a_killed_worker_loses_no_task_and_release_spares_the_wait(broker_url: str, tmp_path: Path) -> None:
    kill_in_the_middle(broker_url, tmp_path, visibility=600)
    assert broker.release(dsn(broker_url), ("freshet_test",)) > 0
    with worker(broker_url, visibility=600):
        assert wait_for(lambda: count(tmp_path, "done") == TASKS)


def test_without_release_the_visibility_timeout_brings_tasks_back(broker_url: str, tmp_path: Path) -> None:
    kill_in_the_middle(broker_url, tmp_path, visibility=4)
    with worker(broker_url, visibility=4):
        assert wait_for(lambda: count(tmp_path, "done") == TASKS)


def test_release_leaves_other_queues_and_unread_messages_alone(broker_url: str) -> None:
    with psycopg.connect(dsn(broker_url)) as connection:
        connection.execute("SELECT pgmq.create('other'), pgmq.create('freshet_test')")
        connection.execute("SELECT pgmq.send('other', '{}'), pgmq.send('freshet_test', '{}', 600)")
        connection.execute("SELECT * FROM pgmq.read('other', 600, 1)")
    assert broker.release(dsn(broker_url), ("freshet_test", "never_made")) == 0


def test_installing_again_changes_nothing(broker_url: str) -> None:
    assert broker.install(dsn(broker_url)) is False


def test_after_the_clock_was_turned_back_messages_are_told_of_and_seen(broker_url: str) -> None:
    """Workers learnt of work by their polls alone, every half minute, and of what had waited not at all."""
    with psycopg.connect(dsn(broker_url)) as connection:
        broker.make_queues(dsn(broker_url), ["freshet_clock"])
        for delay in (0, 3600):
            connection.execute("SELECT pgmq.send('freshet_clock', '{}'::jsonb, %s)", (delay,))
        connection.execute(
            "UPDATE pgmq.q_freshet_clock SET enqueued_at = enqueued_at + interval '400 days',"
            " vt = vt + interval '400 days'"
        )
        connection.execute(
            "UPDATE pgmq.notify_insert_throttle"
            " SET last_notified_at = clock_timestamp() + interval '400 days'"
        )
        connection.commit()
        broker.turn_back(connection)
        connection.commit()
        connection.execute('LISTEN "pgmq.q_freshet_clock.INSERT"')
        connection.commit()
        hidden = connection.execute(
            "SELECT round(extract(epoch FROM vt - clock_timestamp()))"
            " FROM pgmq.q_freshet_clock ORDER BY msg_id"
        ).fetchall()
        assert [float(seconds) for (seconds,) in hidden] == [0.0, 3600.0]
        connection.execute("SELECT pgmq.send('freshet_clock', '{}'::jsonb)")
        connection.commit()
        assert len(list(connection.notifies(timeout=5, stop_after=1))) == 1
        connection.execute("SELECT pgmq.drop_queue('freshet_clock')")
