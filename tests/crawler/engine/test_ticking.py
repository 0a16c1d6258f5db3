"""The tick's row in the admin is what is planned by, and a restart leaves it as it was set."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from crawler.celery import app
from crawler.engine import ticking
from crawler.engine.schedule import GIVEN, Scheduler
from crawler.engine.ticking import tick_seconds
from feeds.models import Tick
from feeds.visiting.ticks import lately

pytestmark = pytest.mark.django_db
ENTRY = {"task": "feeds.tasks.tick", "schedule": 600.0, "options": {"queue": "tick"}}


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    ticking.forget()
    yield
    ticking.forget()


def set_to(seconds: int) -> None:
    """As an administrator does."""
    row = PeriodicTask.objects.get(name="tick")
    row.interval = IntervalSchedule.objects.create(every=seconds, period=IntervalSchedule.SECONDS)
    row.save()
    ticking.forget()


def start() -> PeriodicTask:
    Scheduler.Entry.from_entry("tick", app=app, **ENTRY)
    ticking.forget()
    return PeriodicTask.objects.get(name="tick")


def test_without_a_row_the_setting_holds(settings: Any) -> None:
    settings.FEED_TICK_SECONDS = 300
    assert tick_seconds() == 300


def test_a_tick_of_a_minute_is_no_repetition_of_the_one_before() -> None:
    """Of the ticks of a row set to a minute, five in six were dropped as repeated."""
    start()
    now = datetime.now(UTC)
    Tick.objects.create(started=now - timedelta(minutes=1), finished=now)
    assert lately(now)
    set_to(60)
    assert tick_seconds() == 60
    assert not lately(now)


def test_a_restart_leaves_what_was_set() -> None:
    assert str(start().interval) == "every 600 seconds"
    set_to(60)
    row = start()
    assert str(row.interval) == "every 60 seconds"
    assert row.description == f"{GIVEN}every 600 seconds"


def test_a_row_that_nobody_changed_follows_the_setting() -> None:
    start()
    Scheduler.Entry.from_entry("tick", app=app, **{**ENTRY, "schedule": 300.0})
    row = PeriodicTask.objects.get(name="tick")
    assert (str(row.interval), row.description) == ("every 300 seconds", f"{GIVEN}every 300 seconds")
