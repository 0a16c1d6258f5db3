"""Free disk space, and the forecast of when it runs out."""

from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

import pytest

from crawler.operation.site import disk_space as room
from crawler.operation.site.disk_space import days_left, growth_a_day, sample_disk_space
from crawler.operation.site.models import RoomSample

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
DAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("sizes", "growth"),
    [
        ({}, None),
        ({0: 100}, None),
        ({0: 100, 2: 300}, None),
        ({0: 100, 3: 400}, 100.0),
        ({0: 0, 1: 100, 5: 500, 10: 1000}, 100.0),
        ({0: 400, 4: 0}, -100.0),
        ({0: 5, 9: 5}, 0.0),
    ],
)
def test_growth_is_that_of_several_days(sizes, growth):
    samples = [(DAY + timedelta(days=day), size) for day, size in sizes.items()]
    assert growth_a_day(samples) == growth


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("growth", "days"), [(10_000_000, 100), (0, None), (-5, None), (1, None), (2_000_000_000, 0)]
)
def test_a_pace_says_when_the_disk_is_full(growth, days):
    for day in range(10):
        values = {"database_bytes": 10**9 + growth * day, "free_bytes": 10**9}
        RoomSample.objects.create(day=NOW.date() - timedelta(days=9 - day), **values)
    assert days_left(NOW, 1e9) == days


@pytest.mark.django_db
def test_the_room_is_noted_once_a_day_and_shown(monkeypatch, admin_client):
    monkeypatch.setattr(room.shutil, "disk_usage", lambda path: SimpleNamespace(free=9_000_000_000))
    now = datetime.now(UTC)
    assert sample_disk_space(now)
    assert not sample_disk_space(now)
    size = RoomSample.objects.get().database_bytes
    assert size > 1_000_000
    RoomSample.objects.create(
        day=now.date() - timedelta(days=10), database_bytes=size - 1_000_000_000, free_bytes=1
    )
    page = admin_client.get("/tools/").content.decode()
    assert "At this pace it is full in 90 days." in page
    RoomSample.objects.create(day=now.date() - timedelta(days=500), database_bytes=1, free_bytes=1)
    sample_disk_space(now + timedelta(days=1))
    assert RoomSample.objects.count() == 3
