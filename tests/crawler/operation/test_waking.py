"""Processes that exist while they have work: what wants them, and when they end."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from celery.signals import task_postrun, task_prerun

from crawler.celery import app
from crawler.isolation import forks, lifeline
from crawler.operation.deployment import waking
from crawler.operation.deployment.supervisor import Stop
from crawler.postgresql import broker, transport
from crawler.postgresql.postgresql import PostgreSQL
from tests.crawler.postgresql.test_broker import dsn

QUEUES = ("freshet_full", "freshet_taken", "freshet_empty")


@pytest.fixture
def queues_in_postgresql(standing_server: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    address = dsn(standing_server.credentials.broker_url)
    broker.install(address)
    broker.make_queues(address, QUEUES)
    monkeypatch.setitem(app.conf, "broker_url", standing_server.credentials.broker_url)
    monkeypatch.setitem(app.conf, "broker_transport_options", {"conn_string": address})
    yield address
    transport._pool_of(address).close()  # it would look for the server for ever
    transport._forget_pools()


def test_a_message_that_no_worker_has_taken_is_seen(queues_in_postgresql: str) -> None:
    with psycopg.connect(queues_in_postgresql, autocommit=True) as connection:
        for queue in QUEUES:
            connection.execute("SELECT pgmq.purge_queue(%s)", [queue])
        for queue in QUEUES[:2]:
            connection.execute("SELECT pgmq.send(%s, '{}')", [queue])
        connection.execute("SELECT pgmq.read(%s, 60, 1)", [QUEUES[1]])
    assert waking.with_messages(set(QUEUES)) == {"freshet_full"}


def test_a_message_on_another_broker_is_seen() -> None:
    """kombu's memory transport counts as Redis's does, and knows no queue that nobody has used."""
    with app.connection_for_write() as link, link.channel() as channel:
        channel.queue_declare("freshet_waiting")
        channel.queue_purge("freshet_waiting")
        assert waking.with_messages({"freshet_waiting", "freshet_unknown"}) == set()
        app.send_task("crawler.notices.tasks.send", queue="freshet_waiting", connection=link)
        assert waking.with_messages({"freshet_waiting", "freshet_unknown"}) == {"freshet_waiting"}
        channel.queue_purge("freshet_waiting")


def wanted_of(monkeypatch: pytest.MonkeyPatch, looks: int, **watched: Any) -> list[str]:
    """The names of the processes that were wanted in so many looks."""
    wanted: list[str] = []
    rests = iter(range(looks))

    def rest(_: float) -> None:
        if next(rests, None) is None:
            raise Stop

    monkeypatch.setattr(lifeline, "tell_wanted", wanted.append)
    monkeypatch.setattr(waking.time, "sleep", rest)
    with pytest.raises(Stop):
        waking.watch(**watched)
    return wanted


def test_who_has_messages_or_other_work_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "with_messages", lambda queues: queues & {"enrich"})
    queues = {"graph": ("index", "extract"), "notifier": ("notify", "enrich"), "model": ("model",)}
    found = wanted_of(
        monkeypatch, 0, queues=queues, other_work={"graph": lambda: True, "model": lambda: False}
    )
    assert found == ["graph", "notifier"]


def test_a_broker_that_is_away_is_told_once_and_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = iter((ConnectionError("away"), ConnectionError("away"), None))

    def look(queues: set[str]) -> set[str]:
        if error := next(looks):
            raise error
        return queues

    monkeypatch.setattr(waking, "with_messages", look)
    assert wanted_of(monkeypatch, 2, queues={"model": ("model",)}, other_work={}) == ["model"]
    assert [record.message.count("away") for record in caplog.records] == [1]


def ended_after(
    seconds: float, begin: Any, is_busy: Any = lambda: False, patience: float = 2.0
) -> float | None:
    """Seconds until a process ended itself that may be idle for so long; None for one that does not."""

    def run() -> None:
        waking.end_when_idle(is_busy, seconds)
        begin()
        time.sleep(30)

    began = time.monotonic()
    process = forks.fork(run, "idle")
    try:
        assert process.wait(patience) == -signal.SIGTERM
    except forks.subprocess.TimeoutExpired:
        process.kill()
        return None
    return time.monotonic() - began


def test_a_worker_ends_when_it_had_no_task_for_a_while() -> None:
    def work() -> None:
        for _ in range(5):
            task_prerun.send(sender=None)
            task_postrun.send(sender=None)
            time.sleep(0.1)

    took = ended_after(0.3, work, patience=20.0)
    assert took is not None and took > 0.6


def test_a_worker_with_a_task_or_other_work_goes_on() -> None:
    assert ended_after(0.1, lambda: task_prerun.send(sender=None)) is None
    assert ended_after(0.1, lambda: None, is_busy=lambda: True) is None
