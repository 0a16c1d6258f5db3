"""What became of a watched value in words, and its course as a stepped line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recrawl.changes.value_sentences import (
    ValuePoint,
    difference_text,
    number_text,
    short_date,
    value_sentence,
    versions_words,
    when_words,
)
from recrawl.comparing.values import Value, value_in
from recrawl.pages.series import MAX_DATES, bounds, dated, series

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


def course(*texts: str) -> list[ValuePoint]:
    """Versions with these values, the last one of this morning, the others ten days apart."""
    last = len(texts) - 1
    times = [
        NOW - timedelta(hours=6) if at == last else NOW - timedelta(days=10 * (last - at))
        for at in range(len(texts))
    ]
    return [ValuePoint(at + 1, times[at], value_in(text.split("|"))) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (("269 €", "249 €", "239 €"), "down <b>10\u00a0€</b> this morning, the lowest since you began."),
        (
            ("239 €", "249 €|In stock"),
            "up <b>10\u00a0€</b> this morning, the highest since you began. In stock.",
        ),
        (("229 €", "249 €", "239 €|Sold out"), "down <b>10\u00a0€</b> this morning. Sold out."),
        (("239 €", "249 €", "239 €"), "down <b>10\u00a0€</b> this morning."),
        (("249 €", "239 €", "239 €"), "down <b>10\u00a0€</b> on 20 November, the lowest since you began."),
        (("239 €",), "as when you began this morning."),
        (("$239", "239 €"), "the page last changed this morning."),
        (("Closed in winter", "Open again in the spring"), "last changed this morning."),
        ((), ""),
    ],
)
def test_a_value_has_a_sentence(texts: tuple[str, ...], sentence: str) -> None:
    assert value_sentence(course(*texts), NOW) == sentence


def test_the_words_of_a_page_are_escaped() -> None:
    points = course("10 kr", "20 kr")
    odd = Value("price", "<b>", 10.0, None)
    assert "<i>" not in value_sentence([*points, ValuePoint(3, NOW, odd)], NOW)


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (1, "this afternoon"), (3, "this morning"), (20, "yesterday"), (24 * 40, "on 21 October"),
        (24 * 365, "on 30 November 2025"),
    ],
)  # fmt: skip
def test_a_moment_ends_a_sentence(hours: int, words: str) -> None:
    assert when_words(NOW - timedelta(hours=hours), NOW) == words


def test_moments_and_numbers_are_short() -> None:
    assert short_date(NOW, NOW) == "Today 14:00"
    assert short_date(NOW - timedelta(days=19), NOW) == "11 Nov"
    assert number_text(value_in(["239 €"]), 1299.5) == "1\u202f299.50\u00a0€"
    assert difference_text(value_in(["239 €"]), value_in(["249 €"])) == "−10\u00a0€"
    assert difference_text(value_in(["239 €"]), value_in(["$249"])) == ""
    assert versions_words(1, 1) == "1 version"
    assert versions_words(40, 12).startswith("the newest 12 of 40 versions")


def test_the_course_is_of_steps_without_slopes() -> None:
    drawing = series(course("269 €", "259 €", "239 €"), NOW)
    assert drawing is not None
    path = drawing.split(' d="')[1].split('"')[0]
    assert "L" not in path and path.count("V") == 2
    assert drawing.count("<circle") == 3
    assert series(course("239 €", "Sold out"), NOW) is None


def test_a_line_has_six_dates_at_most_and_round_bounds() -> None:
    assert len(dated([64 + 40 * step for step in range(22)])) <= MAX_DATES
    assert bounds([239, 269]) == (230, 270)
    low, high = bounds([5, 5])
    assert low <= 5 <= high and low < high
