"""What tasks send to each other: how long it is good for, and what is sent again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from kombu.message import Message

from crawler.celery import app
from crawler.engine import pulses, tasks
from crawler.engine.leases import hand_out, lease_seconds
from crawler.engine.models import Pulse
from crawler.engine.schedule import Scheduler
from crawler.engine.signals import tended
from crawler.engine.wake import wake_controller
from crawler.messages import Batch, decode, encode
from crawler.terminals import tasks as of_terminals
from tests.factories import make_feed
from tests.harvests import entry, found, report, select

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_sent_yet() -> Iterator[None]:
    for queue in pulses.QUEUES:
        sent(queue)
    yield


def sent(queue: str) -> list[Message]:
    """What waits in a queue of the tests' broker, taken out of it."""
    messages = []
    with app.connection_for_read() as link, link.SimpleQueue(queue) as waiting:
        while len(waiting):
            messages.append(waiting.get_nowait())
            messages[-1].ack()
    return messages


def test_a_message_to_terminals_expires_with_its_leases() -> None:
    """What a queue holds after a power cut is older than its leases, and no terminal shall begin it."""
    select(make_feed("https://one.example/"), make_feed("https://two.example/"))
    tasks.dispatch()
    (message,) = sent("fetch")
    batches = [decode(Batch, text) for text in message.payload[0][0]]
    assert len(batches) == 2
    expires = datetime.fromisoformat(message.headers["expires"]).timestamp()
    assert expires == pytest.approx(max(batch.expires for batch in batches), abs=0.01)
    assert expires - datetime.now(UTC).timestamp() <= lease_seconds()


def test_a_pulse_that_was_lost_is_sent_again_in_seconds_and_not_at_the_next_tick() -> None:
    now = datetime.now(UTC)
    Pulse.objects.create(queue="fetch", sent=now - timedelta(seconds=40))
    Pulse.objects.create(queue="store", sent=now - timedelta(seconds=40), answered=now)
    tasks.tend()
    (message,) = sent("fetch")
    assert (message.headers["task"], message.payload[0]) == ("crawler.terminals.tasks.pulse", ["fetch"])
    assert sent("store") == []
    tasks.tend()
    assert sent("fetch") == [], "it is on its way"


def test_a_pulse_goes_through_its_queue_and_its_answer_is_written_down() -> None:
    tasks.send_pulse("fetch", datetime.now(UTC))
    (message,) = sent("fetch")
    of_terminals.pulse.run(*message.payload[0])
    (message,) = sent("store")
    tasks.pulse_answered.run(*message.payload[0])
    assert Pulse.objects.get(queue="fetch").answered is not None


def test_a_report_that_is_stored_is_a_sign_of_life() -> None:
    """While two hundred feeds are read for the first time, pulses wait behind them."""
    select(make_feed("https://one.example/"))
    (batch,) = hand_out(datetime.now(UTC))
    tasks.store.run([encode(report(batch, found(batch.assignments[0], entry(1))))])
    assert pulses.alive(datetime.now(UTC), timedelta(minutes=1))


@pytest.mark.parametrize("name", ["tick", "tend"])
def test_a_queue_that_is_longer_than_a_tick_does_not_let_every_tick_expire(name: str) -> None:
    entry = settings.CELERY_BEAT_SCHEDULE[name]
    assert entry["options"]["expire_seconds"] >= 3 * entry["schedule"]


@pytest.mark.parametrize("name", ["tick", "tend"])
def test_a_tick_that_waited_too_long_is_dropped(name: str) -> None:
    """The scheduler keeps its entries in tables, and would not say that it does not know an option."""
    entry = Scheduler.Entry.from_entry(name, app=app, **settings.CELERY_BEAT_SCHEDULE[name])
    assert entry.options["expires"] == settings.CELERY_BEAT_SCHEDULE[name]["options"]["expire_seconds"]


def test_ticks_wait_behind_no_wishes(django_capture_on_commit_callbacks) -> None:  # type: ignore[no-untyped-def]
    """Hundreds of these come in a burst, one for each step of a crawl; reports hand out as well."""
    with django_capture_on_commit_callbacks(execute=True):
        wake_controller()
    tasks.dispatch.delay()
    assert len(sent("store")) == 2
    assert sent("tick") == []


def test_tending_that_takes_long_rests_three_times_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a controller would do nothing but tend to its hundreds of crawls."""
    clock, began = [100.0], []

    def slow(**_: object) -> None:
        began.append(clock[0])
        clock[0] += 2.0

    monkeypatch.setattr(tasks, "_tend_again", 0.0)
    monkeypatch.setattr(tasks.time, "monotonic", lambda: clock[0])
    tended.connect(slow)
    try:
        for _ in range(16):
            tasks.tend()
            clock[0] += 1.0
    finally:
        tended.disconnect(slow)
    assert began == [100.0, 108.0, 116.0]


def test_tending_that_takes_no_time_needs_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_tend_again", 0.0)
    began: list[datetime] = []

    def quick(now: datetime, **_: object) -> None:
        began.append(now)

    tended.connect(quick)
    try:
        tasks.tend()
        tasks.tend()
    finally:
        tended.disconnect(quick)
    assert len(began) == 2
