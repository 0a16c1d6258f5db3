"""The strip of a feed's week."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from feeds.pages.week import counts_of_week, part_of_week, part_words, week_strip

THURSDAY = datetime(2026, 3, 12, 16, 12, tzinfo=UTC)


def test_parts_of_the_week_are_named() -> None:
    assert part_of_week(THURSDAY) == 14
    assert [part_words(part) for part in (0, 14, 27)] == [
        "Monday night",
        "Thursday afternoon",
        "Sunday evening",
    ]


def test_articles_are_counted_in_the_readers_zone() -> None:
    tokyo = timezone(timedelta(hours=9))
    assert counts_of_week([THURSDAY], UTC)[14] == 1
    assert counts_of_week([THURSDAY], tokyo)[16] == 1


def test_the_strip_has_28_squares_in_five_strengths_and_a_ring() -> None:
    counts = [0] * 28
    counts[14], counts[15], counts[18], counts[2], counts[3] = 12, 6, 4, 1, 9
    strip = week_strip(counts, 6)
    assert strip.count("<rect") == 29
    assert [strip.count(f'class="l{strength}"') for strength in range(5)] == [23, 1, 2, 1, 1]
    assert strip.count('class="soon"') == 1
    assert "When it posts: most on Thursday afternoon. The next check is on Tuesday afternoon." in strip
    assert 'class="soon"' not in week_strip(counts, None)
