"""How often a feed posts: one pace for the table and for the page of a feed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from feeds.pace import Posted, articles_often, how_often, posted_at

NOW = datetime(2026, 3, 12, 14, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("counts", "days", "short", "long"),
    [
        ((0, 0, 0), None, "", ""),
        ((0, 3, 3), 300, "about 3 a year", "about 3 articles a year"),
        ((3, 3, 3), 20, "3 a month", "about 3 articles a month"),
        ((0, 0, 18), 3 * 365, "about 6 a year", "about 6 articles a year"),
        ((0, 0, 4), 4 * 365, "about 1 a year", "about one article a year"),
        ((1, 1, 1), 5, "", ""),
        ((4, 40, 40), 300, "4 a month", "about 4 articles a month"),
        ((8, 90, 90), 300, "2 a week", "about 2 articles a week"),
        ((60, 700, 700), 365, "2 a day", "about 2 articles a day"),
        ((114, 114, 114), 3, "38 a day", "about 38 articles a day"),
        ((14, 14, 14), 14, "7 a week", "about 7 articles a week"),
        ((20, 20, 20), 0, "10 a day", "about 10 articles a day"),
    ],
)  # fmt: skip
def test_how_often_a_feed_posts(
    counts: tuple[int, int, int], days: int | None, short: str, long: str
) -> None:
    posted = Posted(*counts, None if days is None else NOW - timedelta(days=days))
    assert (how_often(posted, NOW), articles_often(posted, NOW)) == (short, long)


def test_times_are_counted_by_their_age() -> None:
    times = [NOW - timedelta(days=days) for days in (-3, 1, 27, 29, 364, 366)]
    assert posted_at(times, NOW) == Posted(month=2, year=4, total=5, first=times[-1])
    assert posted_at(times[:1], NOW) == Posted()
