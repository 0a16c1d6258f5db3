"""Quiet hours, slots of digests and waits after failures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.notices.times import RETRIES, after_quiet_hours, last_slot, next_try

BERLIN = ZoneInfo("Europe/Berlin")
TIMES = st.integers(1_577_836_800, 1_893_456_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
HOURS = st.integers(0, 23)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "begin", "end", "expected"),
    [
        ("2026-11-25T21:30", 22, 7, "2026-11-26T06:00"),  # 22:30 in Berlin
        ("2026-11-25T20:30", 22, 7, "2026-11-25T20:30"),
        ("2026-11-26T05:59", 22, 7, "2026-11-26T06:00"),
        ("2026-11-26T06:00", 22, 7, "2026-11-26T06:00"),
        ("2026-11-25T12:00", 12, 14, "2026-11-25T13:00"),
        ("2026-11-25T12:00", 13, 13, "2026-11-25T12:00"),
        ("2026-11-25T12:00", None, 7, "2026-11-25T12:00"),
    ],
)
def test_messages_wait_for_the_end_of_quiet_hours(now: str, begin: int, end: int, expected: str) -> None:
    assert after_quiet_hours(at(now), begin, end, BERLIN) == at(expected)


@given(TIMES, HOURS, HOURS)
def test_no_message_goes_in_a_quiet_hour(now: datetime, begin: int, end: int) -> None:
    due = after_quiet_hours(now, begin, end, BERLIN)
    assert now <= due <= now + timedelta(hours=26)
    hour = due.astimezone(BERLIN).hour
    assert begin == end or not (hour - begin) % 24 < (end - begin) % 24 or due == now


@given(TIMES, HOURS, st.none() | st.integers(0, 6))
def test_the_last_slot_is_in_the_past_and_not_long_ago(now: datetime, hour: int, weekday: int | None) -> None:
    slot = last_slot(now, hour, weekday, BERLIN)
    assert slot <= now
    assert now - slot <= timedelta(days=1 if weekday is None else 7, hours=1)
    assert weekday is None or slot.astimezone(BERLIN).weekday() == weekday


def test_waits_grow_and_heed_the_target() -> None:
    now = at("2026-11-25T12:00")
    assert [next_try(now, attempt) - now for attempt in (1, 2, 3, 4)] == list(RETRIES)
    assert next_try(now, 1, 600.0) == now + timedelta(minutes=10)
    assert next_try(now, 1, 1e12) == now + timedelta(days=1)
