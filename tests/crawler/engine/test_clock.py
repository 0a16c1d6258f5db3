"""A clock that is turned back: what was noted ahead of it is moved with it, and all goes on."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from crawler.celery import app
from crawler.engine import tasks
from crawler.engine.clock import TOLERANCE, turn_back
from crawler.engine.models import Host, Pulse
from crawler.engine.schedule import Scheduler
from crawler.operation.site.health import check_health
from feeds.models import Feed, Tick
from feeds.visiting.ticks import lately, tick
from tests.factories import make_feed

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def test_after_a_day_back_feeds_are_due_as_soon_as_they_would_have_been() -> None:
    feed = make_feed()
    Feed.objects.update(
        not_before=NOW + DAY + timedelta(hours=2), training_due=NOW + DAY + timedelta(hours=1),
        last_attempt=NOW + DAY,
    )  # fmt: skip
    Host.objects.update(not_before=NOW + DAY)
    Pulse.objects.create(queue="tick", sent=NOW + DAY, answered=NOW + DAY)
    Tick.objects.create(started=NOW + DAY, finished=NOW + DAY)
    assert not lately(NOW)
    made = tick(NOW)
    assert made is not None
    assert Tick.objects.order_by("-started").first() == made
    feed.refresh_from_db()
    tick_length = timedelta(seconds=settings.FEED_TICK_SECONDS)
    assert feed.not_before == NOW + timedelta(hours=2) - tick_length
    assert feed.training_due == NOW + timedelta(hours=1) - tick_length
    assert feed.last_attempt == NOW - tick_length
    assert Host.objects.get(pk=feed.host_id).not_before == NOW
    assert Pulse.objects.get(queue="tick").answered == NOW
    later = tick(NOW + timedelta(hours=2, minutes=1))
    assert later is not None
    assert later.training == 1


def test_small_differences_between_machines_move_nothing() -> None:
    feed = make_feed()
    Feed.objects.update(not_before=NOW + DAY)
    assert not turn_back(NOW, NOW + TOLERANCE)
    feed.refresh_from_db()
    assert feed.not_before == NOW + DAY


def test_a_day_forward_needs_nothing() -> None:
    make_feed()
    first = tick(NOW)
    assert first is not None
    again = tick(NOW + DAY)
    assert again is not None
    assert again.swept == 0
    assert Tick.objects.count() == 2


def periodic_task() -> PeriodicTask:
    every = IntervalSchedule.objects.create(every=600, period=IntervalSchedule.SECONDS)
    return PeriodicTask.objects.create(
        name="x", task="x", interval=every, last_run_at=datetime.now(UTC) + 400 * DAY
    )


def test_what_runs_at_intervals_is_due_when_its_last_run_lies_ahead() -> None:
    """As after a restart: the row says that the task ran in a year's time."""
    is_due, seconds = Scheduler.Entry(periodic_task(), app=app).is_due()
    assert is_due
    assert 590 < seconds <= 600


def test_a_small_step_back_of_the_clock_makes_nothing_due() -> None:
    task = periodic_task()
    task.last_run_at = datetime.now(UTC) + timedelta(seconds=0.5)
    is_due, seconds = Scheduler.Entry(task, app=app).is_due()
    assert not is_due
    assert 590 < seconds <= 600


def test_what_runs_at_an_hour_counts_as_run_when_its_last_run_lies_ahead() -> None:
    hour = CrontabSchedule.objects.create(minute="0", hour="4")
    task = PeriodicTask.objects.create(
        name="y", task="y", crontab=hour, last_run_at=datetime.now(UTC) + 400 * DAY
    )
    is_due, _ = Scheduler.Entry(task, app=app).is_due()
    assert not is_due


def test_beat_does_not_rest_until_the_clock_has_caught_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Celery's loop looks at no entry before the first time in its heap has come."""
    PeriodicTask.objects.all().delete()
    periodic_task()
    for module in ("django_celery_beat.schedulers", "crawler.engine.schedule"):
        monkeypatch.setattr(f"{module}.close_old_connections", lambda: None)
    scheduler: Any = Scheduler(app=app, lazy=True, max_interval=10**9)
    assert scheduler.tick() <= 600
    hour = 3600
    scheduler._heap = [event._replace(time=event.time + hour) for event in scheduler._heap]
    assert scheduler.tick() > hour
    scheduler._clock_minus_monotonic += hour  # as it was before the clock was turned back
    assert scheduler.tick() <= 600


def test_beat_tells_the_broker_that_the_clock_was_turned_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that notes times would tell of no message before the clock has caught up."""
    told: list[bool] = []
    with app.connection_for_write() as connection:
        transport = type(connection.transport)
    monkeypatch.setattr(transport, "turn_back", lambda self: told.append(True), raising=False)
    for module in ("django_celery_beat.schedulers", "crawler.engine.schedule"):
        monkeypatch.setattr(f"{module}.close_old_connections", lambda: None)
    scheduler: Any = Scheduler(app=app, lazy=True, max_interval=10**9)
    scheduler.tick()
    assert not told
    scheduler._clock_minus_monotonic += 3600
    scheduler.tick()
    assert told == [True]


def test_a_dispatch_of_the_future_serves_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[datetime] = []
    monkeypatch.setattr(tasks.leases, "hand_out", lambda now: calls.append(now) or [])
    monkeypatch.setattr(tasks, "_began", time.time() + 3600)
    tasks.dispatch(time.time())
    assert len(calls) == 1


def test_health_says_that_the_last_tick_lies_ahead() -> None:
    Tick.objects.create(started=NOW + DAY, finished=NOW + DAY)
    Pulse.objects.create(queue="fetch", sent=NOW + DAY, answered=NOW + DAY)
    health = check_health(NOW, uptime=DAY)
    assert health.status == "failing"
    assert "the clock was turned back" in health.tick
    assert "queue fetch has answered since the clock was turned back" in health.workers
