"""/healthz says ok only when database, tick and workers are, and names what is not."""

import json
import logging
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError

from crawler.engine.models import Pulse
from crawler.operation.site import health
from crawler.operation.site.health import check_health
from crawler.pipeline.models import GraphChange
from feeds.models import Tick

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK = timedelta(minutes=10)


@pytest.fixture(autouse=True)
def ten_minutes(settings, monkeypatch):
    settings.FEED_TICK_SECONDS = 600
    monkeypatch.setattr(health, "_last_status", [health.OK])


def ticked(ago, now=NOW):
    Tick.objects.create(started=now - ago - timedelta(seconds=5), finished=now - ago, policy="freshness")


def answered(ago, *queues, now=NOW):
    for queue in queues or ("fetch", "store"):
        Pulse.objects.update_or_create(queue=queue, defaults={"answered": now - ago})


def test_it_is_ok_when_all_parts_are(client):
    now = datetime.now(UTC)
    ticked(TICK, now)
    answered(TICK, now=now)
    answer = client.get("/healthz")
    assert answer.status_code == 200
    told = answer.json()
    assert {name: told[name] for name in ("status", "database", "tick", "workers")} == {
        "status": "ok",
        "database": "ok",
        "tick": "ok",
        "workers": "ok",
    }
    graph = {name: told[name] for name in ("graph", "graph_behind", "graphs_set_aside", "sandbox", "folder")}
    assert graph == {
        "graph": "ok", "graph_behind": 0, "graphs_set_aside": 0, "sandbox": "ok", "folder": "ok",
    }  # fmt: skip
    assert len(told) == 9


def test_it_fails_when_the_last_tick_is_older_than_three(client):
    ticked(3 * TICK + timedelta(seconds=1))
    answered(TICK)
    found = check_health(NOW)
    assert found.status == "failing"
    assert "2026-03-01 11:29:59" in found.tick
    assert found.workers == "ok"


def test_a_tick_that_never_finished_does_not_count():
    Tick.objects.create(started=NOW, policy="freshness")
    answered(TICK)
    assert check_health(NOW, uptime=timedelta(days=1)).status == "failing"


@pytest.mark.parametrize("silent", ["fetch", "store"])
def test_it_names_the_queue_that_nobody_serves(silent):
    ticked(TICK)
    answered(TICK)
    answered(timedelta(hours=1), silent)
    found = check_health(NOW)
    assert (found.status, found.tick) == ("failing", "ok")
    assert f"queue {silent}" in found.workers


def test_a_deployment_that_never_ticked_is_starting_for_three_ticks():
    assert check_health(NOW, uptime=TICK).status == "starting"
    assert check_health(NOW, uptime=4 * TICK).status == "failing"


def test_starting_is_not_yet_healthy(client):
    assert client.get("/healthz").status_code == 503


def test_a_deployment_that_ticked_before_is_failing_not_starting():
    ticked(timedelta(days=1))
    assert check_health(NOW, uptime=TICK).status == "failing"


def test_a_database_that_does_not_answer_is_named(client, monkeypatch):
    class Away:
        in_atomic_block = True

        def cursor(self):
            raise OperationalError("connection refused\nis the server running?")

    monkeypatch.setattr(health, "connection", Away())
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "does not answer: connection refused"


def test_short_ticks_leave_workers_a_minute(settings):
    settings.FEED_TICK_SECONDS = 2
    ticked(timedelta(seconds=1))
    answered(timedelta(seconds=50))
    assert check_health(NOW).status == "ok"


def test_workers_that_have_not_answered_yet_are_starting_for_three_ticks():
    """From the first sign-in until the first pulse has gone round."""
    ticked(timedelta(seconds=2))
    assert check_health(NOW, uptime=timedelta(seconds=30)).status == "starting"
    assert check_health(NOW, uptime=4 * TICK).status == "failing"
    answered(timedelta(hours=1), "fetch")
    assert check_health(NOW, uptime=timedelta(seconds=30)).status == "failing"


def test_what_walls_a_kernel_lacks_is_told_on_the_overview_alone(client, monkeypatch):
    monkeypatch.setattr(health.confine, "landlock", lambda: 0)
    now = datetime.now(UTC)
    ticked(TICK, now)
    answered(TICK, now=now)
    found = check_health(now)
    assert (found.status, "Landlock" in found.walls) == ("ok", True)
    assert "Landlock" not in client.get("/healthz").content.decode()


def test_a_kernel_without_walls_is_told_and_fails_nothing(monkeypatch):
    ticked(TICK)
    answered(TICK)
    monkeypatch.setattr(health, "wall", lambda: "")
    found = check_health(NOW)
    assert found.status == "ok"
    assert "seccomp" in found.sandbox


def test_a_replica_that_lived_and_is_silent_fails_it(settings, tmp_path):
    """Unless there is nothing that it has not taken over: its process ends when it is idle."""
    settings.DATA_DIR = tmp_path
    ticked(TICK)
    answered(TICK)
    assert check_health(NOW).graph == "ok", "none has ever run here"
    alive = tmp_path / "sparql" / "alive.json"
    alive.parent.mkdir()
    alive.write_text(json.dumps({"at": (NOW - timedelta(minutes=3)).isoformat(), "trouble": ""}))
    assert check_health(NOW, uptime=timedelta(days=1)).status == "ok", "nothing waits for it"
    GraphChange.objects.create(context=1, url="https://example.com/", version=1, added=1, removed=0)
    for minutes, trouble, status in ((1, "", "ok"), (3, "", "failing"), (1, "the disk is full", "failing")):
        at = (NOW - timedelta(minutes=minutes)).isoformat()
        alive.write_text(json.dumps({"at": at, "trouble": trouble}))
        found = check_health(NOW, uptime=timedelta(days=1))
        assert (found.status, found.graph == "ok") == (status, status == "ok")
    assert found.graph == "the disk is full"
    assert check_health(NOW, uptime=timedelta(minutes=1)).status == "starting"
    alive.write_text("[nonsense")
    assert check_health(NOW).status == "ok"


@pytest.fixture
def slow_check(monkeypatch):
    """Checks that wait until the test ends, as with a database that does not answer."""
    free = threading.Event()
    monkeypatch.setattr(health, "check_health", lambda now: free.wait(20) or well())
    monkeypatch.setattr(health, "_last_answer", [])
    monkeypatch.setattr(health, "_checks", threading.BoundedSemaphore(4))
    yield free
    free.set()


def well():
    return health.Health("ok", "ok", "ok", "ok")


@pytest.mark.django_db(transaction=True)
def test_it_answers_within_a_second_while_the_database_does_not(client, slow_check):
    assert health.CHECK_SECONDS < 1
    for _ in range(6):
        answer = client.get("/healthz")  # while the check waits, which says at last that all is well
        assert (answer.status_code, answer.json()["status"]) == (503, "failing")
        assert answer.json()["database"].startswith("does not answer: ")


@pytest.mark.django_db(transaction=True)
def test_a_slow_database_is_as_well_as_it_was_a_moment_ago(client, slow_check, monkeypatch):
    monkeypatch.setattr(health, "_last_answer", [(time.monotonic(), well())])
    assert client.get("/healthz").status_code == 200
    monkeypatch.setattr(health, "_listens", lambda: False)
    assert client.get("/healthz").status_code == 503
    monkeypatch.undo()


def test_a_failing_deployment_is_one_line_not_one_for_each_look(client, caplog, monkeypatch):
    """Issue 56: each look of a load balancer at a failing deployment was an error in the log."""
    monkeypatch.setattr(health, "_folder", lambda: health.OK)
    with caplog.at_level(logging.WARNING):
        ticked(timedelta(days=1), datetime.now(UTC))
        for _ in range(3):
            assert client.get("/healthz").status_code == 503
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "the deployment is failing: tick: the last tick finished at" in caplog.text
        ticked(TICK, datetime.now(UTC))
        answered(TICK, now=datetime.now(UTC))
        for _ in range(2):
            assert client.get("/healthz").status_code == 200
    assert [record.message for record in caplog.records[1:]] == ["the deployment is well again"]
