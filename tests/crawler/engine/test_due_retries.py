"""A second attempt is handed out when its pause ends, not at the next tick."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from crawler.engine import leases, tasks
from crawler.engine.models import Host
from crawler.engine.wake import under_way
from recrawl.models import Site, Wanted
from recrawl.visiting.mapping import add_pages
from recrawl.visiting.visits import begin

pytestmark = pytest.mark.django_db
SOON = timedelta(seconds=15)


@pytest.fixture
def visit() -> Site:
    """A visit whose only page waits for its second attempt in SOON."""
    site = add_pages(["http://site.example/page"], every=1.0, budget=1.0)
    begin([site.pk], timezone.now())
    assert Wanted.objects.update(attempts=1, not_before=datetime.now(UTC) + SOON) == 1
    return site


def test_tending_hands_out_a_retry_when_it_is_due(visit: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited for the next tick, ten minutes later, where nothing else was under way."""
    dispatched: list[bool] = []
    monkeypatch.setattr(tasks, "dispatch", lambda: dispatched.append(True))
    tasks._tend()
    assert not dispatched
    assert not under_way(datetime.now(UTC))
    Wanted.objects.update(not_before=datetime.now(UTC))
    assert under_way(datetime.now(UTC))
    tasks._tend()
    assert dispatched == [True]
    assert len(leases.hand_out(datetime.now(UTC))) == 1


def test_a_host_that_rests_keeps_nobody_awake(visit: Site) -> None:
    Wanted.objects.update(not_before=datetime.now(UTC))
    Host.objects.update(not_before=datetime.now(UTC) + SOON)
    assert not under_way(datetime.now(UTC))
    assert not leases.is_any_due(datetime.now(UTC))
