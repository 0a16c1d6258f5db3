"""Beat lets a deployment rest that has nothing to do."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django_celery_beat.schedulers import DatabaseScheduler

from crawler.celery import app
from crawler.engine import pulses, schedule
from crawler.engine.models import Host
from crawler.engine.schedule import LOOK_SECONDS, QUIET_SECONDS, TEND, Scheduler
from crawler.engine.signals import asked
from crawler.engine.wake import under_way

pytestmark = pytest.mark.django_db


class Entry:
    """What a scheduler knows of a task."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.name = task


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the tasks that were sent."""
    sent: list[str] = []
    monkeypatch.setattr(
        "celery.beat.Scheduler.apply_entry", lambda self, entry, producer=None: sent.append(entry.task)
    )
    return sent


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """One that tended just now."""
    monkeypatch.setattr(schedule, "close_old_connections", lambda: None)
    scheduler = Scheduler(app=app, lazy=True)
    scheduler.apply_entry(Entry(TEND))
    return scheduler


def test_tending_is_not_sent_while_nothing_is_under_way(sent: list[str], scheduler: Scheduler) -> None:
    scheduler.apply_entry(Entry(TEND))
    scheduler.apply_entry(Entry("feeds.tasks.tick"))
    assert sent == [TEND, "feeds.tasks.tick"]


def test_it_is_sent_once_a_minute_all_the_same(
    sent: list[str], scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler._tended -= QUIET_SECONDS
    scheduler.apply_entry(Entry(TEND))
    scheduler.apply_entry(Entry(TEND))
    assert sent == [TEND, TEND]


def test_it_is_sent_while_a_host_is_out(sent: list[str], scheduler: Scheduler) -> None:
    Host.objects.create(name="a.example", lease=uuid.uuid4(), leased_until=datetime.now(UTC))
    scheduler.apply_entry(Entry(TEND))
    assert sent == [TEND, TEND]


def test_it_is_sent_while_a_pulse_is_not_answered(sent: list[str], scheduler: Scheduler) -> None:
    pulses.sent("fetch", datetime.now(UTC) - timedelta(minutes=1))
    scheduler.apply_entry(Entry(TEND))
    assert sent == [TEND, TEND]


def test_it_is_sent_while_an_app_says_that_something_waits(sent: list[str], scheduler: Scheduler) -> None:
    def waits(**_: object) -> bool:
        return True

    asked.connect(waits)
    try:
        scheduler.apply_entry(Entry(TEND))
    finally:
        asked.disconnect(waits)
    assert sent == [TEND, TEND]


def test_it_is_sent_where_the_database_does_not_answer(
    sent: list[str], scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(now: datetime) -> bool:
        raise OperationalError("away")

    monkeypatch.setattr(schedule, "under_way", fail)
    scheduler.apply_entry(Entry(TEND))
    assert sent == [TEND, TEND]


def test_the_question_is_a_few_looks_at_indexes() -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert not under_way(datetime.now(UTC))
    assert len(queries) <= 7


def test_the_tables_of_the_schedule_are_not_read_at_every_step(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    monkeypatch.setattr(DatabaseScheduler, "schedule_changed", lambda self: looked.append(1) is None or True)
    assert scheduler.schedule_changed()
    assert not scheduler.schedule_changed()
    assert looked == [1]
    scheduler._look -= LOOK_SECONDS
    assert scheduler.schedule_changed()
