"""A clock that is turned back: what was noted ahead of it is moved with it, and all goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from crawler.engine.clock import TOLERANCE, turn_back
from crawler.engine.models import Host, Pulse
from crawler.engine.schedule import Scheduler
from feeds.models import Feed, Tick
from feeds.ticks import lately, tick
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
    assert feed.not_before == NOW + timedelta(hours=2)
    assert feed.training_due == NOW + timedelta(hours=1)
    assert feed.last_attempt == NOW
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


def test_the_scheduler_does_not_wait_until_the_clock_has_caught_up(monkeypatch: pytest.MonkeyPatch) -> None:
    every = IntervalSchedule.objects.create(every=600, period=IntervalSchedule.SECONDS)
    row = PeriodicTask.objects.create(name="x", task="x", interval=every, last_run_at=datetime.now(UTC) + DAY)
    scheduler: Any = Scheduler.__new__(Scheduler)
    monkeypatch.setattr(Scheduler, "app", None, raising=False)
    from crawler.celery import app  # noqa: PLC0415

    entry = Scheduler.Entry(row, app=app)
    assert scheduler.is_due(entry).is_due
