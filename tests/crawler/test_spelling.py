"""How times, amounts and failures are spelled on pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crawler.web.templatetags import freshet


@pytest.mark.parametrize(
    ("away", "words"),
    [
        (timedelta(seconds=-40), "40 s ago"),
        (timedelta(minutes=-14), "14 min ago"),
        (timedelta(hours=-30), "30 h ago"),
        (timedelta(days=-9), "9 days ago"),
        (timedelta(minutes=10, seconds=20), "in 10 min"),
    ],
)
def test_a_moment_is_told_from_now(away: timedelta, words: str) -> None:
    assert f">{words}</time>" in freshet.ago(datetime.now(UTC) + away)


def test_a_moment_has_its_absolute_time_on_hover() -> None:
    told = freshet.ago(datetime(2026, 3, 1, 4, 5, 6, tzinfo=UTC))
    assert 'title="Sun 2026-03-01 04:05:06 UTC"' in told
    assert 'datetime="2026-03-01T04:05:06+00:00"' in told


def test_a_moment_that_never_was_is_said_so() -> None:
    assert "never" in freshet.ago(None)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.42, "0.42 s"), (59, "59 s"), (600, "10 min"), (7 * 3600, "7 h"), (None, "–")]
)
def test_durations_take_the_unit_people_would(seconds: float | None, words: str) -> None:
    assert freshet.duration(seconds) == words


@pytest.mark.parametrize(
    ("part", "whole", "words"), [(1, 3, "33 %"), (1, 40, "2.5 %"), (3, 0, "–"), (0, 9, "0 %")]
)
def test_shares_are_in_per_cent(part: float, whole: float, words: str) -> None:
    assert freshet.percent(part, whole) == words


@pytest.mark.parametrize(("number", "words"), [(999, "999 B"), (41_400, "41.4 kB"), (23_400_000, "23.4 MB")])
def test_bytes_are_in_decimal_units(number: int, words: str) -> None:
    assert freshet.size(number) == words


@pytest.mark.parametrize(
    ("label", "name"),
    [("http-404", "404 Not Found"), ("http-799", "HTTP 799"), ("dns", "DNS"), ("too-slow", "too slow")],
)
def test_failures_have_short_names(label: str, name: str) -> None:
    assert freshet.failure_name(label) == name


def test_a_failure_nobody_knows_is_still_told_in_words() -> None:
    assert freshet.failure_words("from-an-older-version") == "The retrieval failed."


def test_found_words_are_marked_and_everything_else_is_escaped() -> None:
    assert freshet.found_words("a \ue000<b>\ue001 & c") == "a <mark>&lt;b&gt;</mark> &amp; c"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", ""])
def test_only_web_addresses_are_linked(url: str) -> None:
    assert freshet.web_address(url) == ""
