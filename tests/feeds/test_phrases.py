# ruff: noqa: E501
"""Sentences about feeds in every state, and what no sentence may hold."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.failures import Failure
from feeds.phrases import (
    _FLOORS,
    FeedFacts,
    advice,
    duration,
    failure_words,
    how_often,
    next_check,
    posts_often,
    rhythm,
    short_check,
    state_of,
    usual_hours,
)
from feeds.scheduling import floors

NOW = datetime(2026, 3, 12, 14, 20, tzinfo=UTC)  # a Thursday
FACTS = FeedFacts(
    status="active", is_learning=False, was_read=True, is_on_its_way=False, is_pushed=False, failure="",
    failing_since=None, last_new=NOW - timedelta(days=2), next_at=NOW + timedelta(hours=2),
)  # fmt: skip
EXPERTS = re.compile(
    r"\b(tick|ToE|terminal|lease|floor|min-gap|gate|division|dead letter|log odds|Errno|training|retrieval|policy|"
    r"robots\.txt|DNS|TLS|HTTP|40[34]|410)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    ("changes", "shape", "words"),
    [
        ({}, "good", "Fine"),
        ({"is_learning": True}, "learn", "Learning its rhythm"),
        ({"was_read": False}, "learn", "New"),
        ({"status": "paused"}, "", "Paused"),
        ({"status": "gone"}, "warn", "Ended by its publisher"),
        ({"is_pushed": True}, "good", "Tells Freshet of news at once"),
        ({"moved": True}, "good", "Moving to a new address"),
        ({"last_new": NOW - timedelta(days=400)}, "warn", "Silent since 5 February 2025"),
        ({"failure": "http-404", "failing_since": NOW - timedelta(days=3)}, "bad", "Not found since Monday"),
        ({"failure": "timeout", "failing_since": NOW - timedelta(hours=3)}, "bad", "No answer for 3 hours"),
        ({"failure": "dns", "failing_since": NOW}, "bad", "Its address is not known on the internet"),
        ({"failure": "what", "failing_since": None}, "bad", "It could not be read"),
    ],
)
def test_states(changes: dict[str, object], shape: str, words: str) -> None:
    state = state_of(replace(FACTS, **changes), NOW)  # type: ignore[arg-type]
    assert (state.shape, state.words) == (shape, words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Next check at about 16:20, because it mostly posts between 16:00 and 21:00."),
        ({"next_at": NOW + timedelta(hours=20)}, "Next check tomorrow at about 10:20, because something new is likely by then."),
        ({"next_at": NOW + timedelta(days=3)}, "Next check on Sunday at about 14:20, because something new is likely by then."),
        ({"next_at": NOW + timedelta(days=20)}, "Next check on 1 April, because something new is likely by then."),
        ({"is_learning": True, "next_at": NOW + timedelta(minutes=40)}, "Freshet is still learning its rhythm. Next check in 40 minutes."),
        ({"was_read": False}, "It is new: Freshet looks at it within a minute."),
        ({"status": "paused"}, "It is paused: Freshet looks again once you resume it."),
        ({"status": "gone"}, "Its publisher says that it has ended, so Freshet looks no more."),
        ({"is_on_its_way": True}, "Freshet is looking at it now."),
        ({"failure": "http-404"}, "Next try at about 16:20."),
        ({"floor": "ttl"}, "Next check at about 16:20, because the feed asks not to be visited more often."),
        ({"next_at": None}, "No check is planned within a month, because hardly anything is expected."),
        ({"next_at": NOW}, "Next check within a minute, because something new is likely by then."),
    ],
)  # fmt: skip
def test_next_checks(changes: dict[str, object], words: str) -> None:
    assert next_check(replace(FACTS, **changes), NOW, (16, 21)) == words  # type: ignore[arg-type]


def test_every_failure_and_rule_has_words_of_its_own() -> None:
    for failure in Failure:
        words = failure_words(failure.value, NOW - timedelta(days=2), NOW)
        assert words and words[0].isupper()
        assert words != "It could not be read"
        assert not EXPERTS.search(words), words
    for floor in _FLOORS:
        assert not EXPERTS.search(next_check(replace(FACTS, floor=floor), NOW, None))


def test_rules_of_the_scheduler_are_all_known() -> None:
    source = Path(floors.__file__).read_text()
    codes = set(re.findall(r'"([a-z]+(?:-[a-z]+)*)",\s+(?:reason|Reason|gettext_noop)', source)) - {"gone"}
    assert codes >= {"min-gap", "back-off", "max-age"}
    assert codes <= set(_FLOORS), codes - set(_FLOORS)


def weekly(count: int, hour: int = 17) -> list[datetime]:
    return [NOW.replace(hour=hour, minute=5) - timedelta(days=7 * n + 7) for n in range(count)]


@pytest.mark.parametrize(
    ("posted", "words"),
    [
        ([], ""),
        (weekly(3), ""),
        (weekly(20), "It posts about once a week, nearly always on a Thursday between 17:00 and 18:00."),
        ([NOW - timedelta(hours=7 * n) for n in range(200)], "It posts about 3 times a day."),
        ([at - timedelta(days=d) for at in weekly(20) for d in (0, 2)],
         "It posts about 2 times a week, mostly on a Tuesday or a Thursday between 17:00 and 18:00."),
        ([NOW.replace(hour=h) - timedelta(days=n) for n in range(1, 60) for h in (23, 0)],
         "It posts about 2 times a day, mostly between 23:00 and 01:00."),
        ([NOW - timedelta(days=80 * n) for n in range(1, 5)], "It posts about 5 times a year, mostly between 14:00 and 15:00."),
        ([NOW - timedelta(days=500 + n) for n in range(50)], ""),
    ],
    ids=range(8),
)  # fmt: skip
def test_rhythms(posted: list[datetime], words: str) -> None:
    assert rhythm(posted, NOW) == words


@given(st.lists(st.integers(-500, 20_000), max_size=60))
def test_rhythms_of_any_times(hours: list[int]) -> None:
    posted = [NOW - timedelta(hours=away) for away in hours]
    words = rhythm(posted, NOW)
    assert words == "" or re.fullmatch(r"It posts about [^.]+\.", words)
    window = usual_hours(posted, NOW)
    assert window is None or all(0 <= hour < 24 for hour in window)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "less than a minute"), (59, "1 minute"), (60, "1 minute"), (3599, "60 minutes"), (5400, "2 hours"), (86_400, "1 day"), (200_000, "2 days")],
)  # fmt: skip
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize("failure", [*Failure, "http-404", "http-401", "http-403", "http-503", "nonsense"])
def test_every_failure_says_what_to_do(failure: str) -> None:
    words = advice(str(failure))
    assert words[0].isupper() and words.endswith(".")


@pytest.mark.parametrize(
    ("month", "year", "words"),
    [(0, 0, ""), (0, 3, "3 a year"), (4, 40, "4 a month"), (8, 90, "2 a week"), (60, 700, "2 a day"), (3, 3, "3 a year")],
)  # fmt: skip
def test_how_often_a_feed_posts(month: int, year: int, words: str) -> None:
    assert how_often(month, year) == words


def test_a_preview_says_how_often_and_when_last() -> None:
    assert posts_often([], NOW) == ""
    assert posts_often([NOW - timedelta(days=400)], NOW).startswith("Last posted on ")
    assert posts_often([NOW + timedelta(days=4)], NOW) == ""
    assert (
        posts_often([NOW - timedelta(days=n) for n in range(30)], NOW) == "Posts about once a day, last today"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "paused"}, ""),
        ({"is_on_its_way": True}, "now"),
        ({"next_at": None}, ""),
        ({"is_pushed": True}, "when it posts"),
        ({"next_at": NOW + timedelta(minutes=20)}, "in 20 minutes"),
    ],
)
def test_the_next_check_in_a_few_words(change: dict[str, Any], words: str) -> None:
    assert short_check(replace(FACTS, **{"next_at": NOW + timedelta(days=20), **change}), NOW) == words
