"""When other programs' rules visit a feed again: exact intervals after their sources."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from feeds.scheduling.base import FeedStates
from feeds.scheduling.history import Retrievals
from feeds.scheduling.peers import CommaFeed, FreshRss, Intervals, MediaCloud, Miniflux, NewsBlur, Reader

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
MONDAY = 1767571200.0  # 2026-01-05, UTC


def due_after(policy: Intervals, at: float, new: int = 0) -> float:
    """When a feed is due after its first retrieval, which brought so many articles, an hour old."""
    columns = policy.start(1, at, np.random.default_rng(1))
    feeds = FeedStates(id=np.array([1]), last=np.array([at - HOUR]), columns=columns)
    taken = Retrievals.of([0], [at - HOUR], [at], [new], [[at - HOUR] * new])
    return float(policy.after_retrieval(feeds, taken)["due"][0])


def clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M")


@pytest.mark.parametrize(
    ("at", "due"), [(0, "01:00"), (10 * MINUTE, "01:00"), (59.9 * MINUTE, "01:00"), (HOUR, "02:00")]
)
def test_reader_visits_at_full_hours(at: float, due: str) -> None:
    assert clock(due_after(Reader(), MONDAY + at)) == due


@pytest.mark.parametrize(
    ("at", "due"), [(7 * MINUTE, "01:07"), (12 * MINUTE, "01:07"), (37 * MINUTE, "01:37"), (0, "00:37")]
)
def test_freshrss_visits_in_the_second_round_after(at: float, due: str) -> None:
    assert clock(due_after(FreshRss(), MONDAY + at)) == due


def test_rounds_are_scaled_from_a_monday_on() -> None:
    assert due_after(Reader(scale=24 * 7), MONDAY + DAY) == MONDAY + 7 * DAY
    assert due_after(Reader(scale=0.5), MONDAY + 40 * MINUTE) == MONDAY + HOUR
    assert clock(due_after(FreshRss(scale=2), MONDAY + 14 * MINUTE)) == "02:14"


@pytest.mark.parametrize(
    ("before", "new", "silent", "after"),
    [
        (6 * HOUR, 3, 0, 6 * HOUR + 10 * MINUTE),  # 70 % known
        (6 * HOUR, 0, 31 * DAY, 6 * HOUR + 10 * MINUTE),
        (6 * HOUR, 0, 32 * DAY, 7 * HOUR),
        (DAY, 0, 0, DAY),
        (6 * HOUR, 4, 0, 6 * HOUR),  # 60 %
        (6 * HOUR, 7, 0, 5 * HOUR),  # 30 %
        (20 * HOUR, 12, 0, 6 * HOUR),
        (HOUR, 10, 0, 10 * MINUTE),
    ],
)
def test_media_cloud_adjusts_by_how_much_of_the_document_it_knows(
    before: float, new: int, silent: float, after: float
) -> None:
    assert MediaCloud().interval([MONDAY - silent], MONDAY, before, new) == after


def test_media_cloud_begins_with_six_hours() -> None:
    assert due_after(MediaCloud(), MONDAY, new=5) == MONDAY + 6 * HOUR
    assert due_after(MediaCloud(scale=0.5), MONDAY, new=5) == MONDAY + 3 * HOUR


@pytest.mark.parametrize(
    ("policy", "posts", "interval"),
    [
        (Miniflux(), [MONDAY - 2 * HOUR, MONDAY - HOUR], HOUR),  # 168 a week
        (Miniflux(), [MONDAY - HOUR], DAY),
        (CommaFeed(), [MONDAY - 90 * MINUTE, MONDAY - 30 * MINUTE], 30 * MINUTE),
        (CommaFeed(), [MONDAY - 20 * DAY], 2 * HOUR),
        (NewsBlur(), [MONDAY - DAY] * 30, 15 * MINUTE),
        (NewsBlur(), [MONDAY - DAY] * 15, 30 * MINUTE),
        (NewsBlur(), [MONDAY - 31 * DAY], 4 * HOUR),
    ],
)
def test_intervals_follow_what_was_posted(policy: Intervals, posts: list[float], interval: float) -> None:
    assert policy.interval(posts, MONDAY, HOUR, 1) == interval
