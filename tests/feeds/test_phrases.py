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
    MIN_GAP,
    FeedFacts,
    advice,
    duration,
    failure_words,
    moment_words,
    next_check,
    posts_often,
    rhythm,
    short_check,
    state_of,
    usual_hours,
    visit_words,
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
        ({"is_learning": True, "floor": "min-gap", "next_at": NOW + timedelta(minutes=40)}, "Freshet is still learning its rhythm. Next check in 40 minutes."),
        ({"is_learning": True, "floor": "ttl"}, "Freshet is still learning its rhythm. Next check at about 16:20, because the feed asks not to be visited more often."),
        ({"floor": "min-gap"}, "Next check at about 16:20, because it mostly posts between 16:00 and 21:00."),
        ({"floor": "min-gap", "next_at": NOW + timedelta(minutes=20)}, "Next check in 20 minutes."),
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
    assert codes <= {MIN_GAP, *_FLOORS}, codes - {MIN_GAP, *_FLOORS}


def weekly(count: int, hour: int = 17) -> list[datetime]:
    return [NOW.replace(hour=hour, minute=5) - timedelta(days=7 * n + 7) for n in range(count)]


@pytest.mark.parametrize(
    ("posted", "words"),
    [
        ([], ""),
        ([NOW + timedelta(days=3)], ""),
        (weekly(3), "It brings about 3 articles a month."),
        (weekly(20), "It posts nearly always on a Thursday between 17:00 and 18:00, about 4 articles a month."),
        ([NOW - timedelta(hours=7 * n) for n in range(200)], "It brings about 3 articles a day."),
        ([at - timedelta(days=d) for at in weekly(20) for d in (0, 2)],
         "It posts mostly on a Tuesday or a Thursday between 17:00 and 18:00, about 2 articles a week."),
        ([NOW.replace(hour=h) - timedelta(days=n) for n in range(1, 60) for h in (23, 0)],
         "It mostly posts between 23:00 and 01:00, about 2 articles a day."),
        ([NOW - timedelta(days=80 * n) for n in range(1, 5)], "It mostly posts between 14:00 and 15:00, about 4 articles a year."),
        ([NOW - timedelta(days=500 + 61 * n) for n in range(24)], "It brings about 5 articles a year."),
    ],
    ids=range(9),
)  # fmt: skip
def test_rhythms(posted: list[datetime], words: str) -> None:
    assert rhythm(posted, NOW) == words


@given(st.lists(st.integers(-500, 20_000), max_size=60))
def test_rhythms_of_any_times(hours: list[int]) -> None:
    posted = [NOW - timedelta(hours=away) for away in hours]
    words = rhythm(posted, NOW)
    assert words == "" or re.fullmatch(r"It (?:mostly )?(?:posts|brings) [^.]+\.", words)
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
    ("outcome", "new", "failure", "words"),
    [
        ("new", 1, "", "1 new article"),
        ("new", 2, "", "2 new articles"),
        ("not-modified", 0, "", "Nothing new"),
        ("same-body", 0, "", "Nothing new"),
        ("nothing-new", 0, "", "Nothing new"),
        ("failed", 0, "timeout", "No answer"),
        ("failed", 0, "http-404", "Not found"),
        ("failed", 0, "", "It could not be read"),
    ],
)  # fmt: skip
def test_visits_in_words(outcome: str, new: int, failure: str, words: str) -> None:
    assert visit_words(outcome, new, failure) == words


@pytest.mark.parametrize(
    ("back", "words"),
    [
        (timedelta(hours=5, minutes=39), "today 8:41"),
        (timedelta(hours=17), "yesterday 21:20"),
        (timedelta(days=5), "Saturday 14:20"),
        (timedelta(days=20), "20 February"),
        (timedelta(days=100), "2 December 2025"),
    ],
)
def test_moments_of_the_past(back: timedelta, words: str) -> None:
    assert moment_words(NOW - back, NOW) == words


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
