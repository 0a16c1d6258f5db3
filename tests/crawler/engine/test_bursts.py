"""Work that can wait leaves a burst of retrievals alone, but not for ever."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from articles.enrichment import tasks as enrichment
from articles.enrichment.models import Enrichment
from crawler.engine import bursts
from crawler.engine.bursts import LOOK_SECONDS, MAX_WAIT_SECONDS, MIN_HOSTS, Burst
from crawler.engine.models import Host
from crawler.pipeline import dispatching as handing
from crawler.pipeline import tasks as pipeline
from tests.factories import make_article


def test_work_waits_for_a_while_in_each_burst() -> None:
    is_on, now = True, 100.0
    burst = Burst(lambda: is_on, lambda: now)
    assert burst.should_wait()
    now += MAX_WAIT_SECONDS - 1
    assert burst.should_wait()
    now += 1
    assert not burst.should_wait()
    now += 1000
    assert not burst.should_wait(), "the same burst, which does not end"
    is_on = False
    now += LOOK_SECONDS
    assert not burst.should_wait()
    is_on = True
    now += LOOK_SECONDS
    assert burst.should_wait(), "another one"


def test_the_database_is_asked_once_a_second() -> None:
    looks: list[float] = []
    now = 0.0

    def is_on() -> bool:
        looks.append(now)
        return False

    burst = Burst(is_on, lambda: now)
    for _ in range(50):
        burst.should_wait()
        now += LOOK_SECONDS / 10
    assert len(looks) == 5


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("count", "is_burst"), [(MIN_HOSTS - 1, False), (MIN_HOSTS, True), (MIN_HOSTS + 1, True)]
)
def test_many_leased_hosts_make_a_burst(count: int, is_burst: bool) -> None:
    until = datetime.now(UTC) + timedelta(minutes=1)
    Host.objects.bulk_create(
        Host(name=f"host{n}.example", lease=uuid.uuid4(), leased_until=until) for n in range(count)
    )
    Host.objects.bulk_create(Host(name=f"idle{n}.example") for n in range(100))
    assert bursts.many_hosts_are_leased() == is_burst


@pytest.mark.django_db
def test_enrichment_and_the_graph_go_on_after_a_burst(monkeypatch: Any) -> None:
    make_article()
    handed_out: list[datetime] = []

    def hand_out(now: datetime) -> list[Any]:
        handed_out.append(now)
        return []

    monkeypatch.setattr(bursts, "burst", Burst(lambda: True))
    monkeypatch.setattr(handing, "hand_out", hand_out)
    waiting = Enrichment.objects.waiting()
    assert waiting.exists()
    enrichment.enrich()
    pipeline.pump()
    assert waiting.exists()
    assert not handed_out
    monkeypatch.setattr(bursts, "burst", Burst(lambda: False))
    enrichment.enrich()
    pipeline.go_on(datetime.now(UTC))
    assert not waiting.exists()
    assert handed_out
