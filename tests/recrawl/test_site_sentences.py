"""Sentences about a watched site, which also read well when the moment is now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from recrawl.changes.describing import excerpt
from recrawl.changes.site_sentences import (
    at_about,
    check_words,
    first_words,
    is_nightly,
    look_words,
    often_words,
    report_sentence,
    site_sentence,
    sites_sentence,
    visit_words,
    week_sentence,
)
from recrawl.comparing.differences import Difference
from recrawl.evaluation.own_report import Sum
from recrawl.models import Site, Visit

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
MORNING = datetime(2026, 12, 1, 7, 10, tzinfo=UTC)


@pytest.fixture(autouse=True)
def zone() -> None:
    timezone.activate(UTC)


def watched(**fields: object) -> Site:
    values = {"state": "watched", "every": 1.0, "url": "https://a.example/", "next_visit": MORNING} | fields
    return Site(**values)


@pytest.mark.parametrize(
    ("site", "pages", "sentence"),
    [
        (watched(), 5, "Freshet looks at this site every morning."),
        (watched(next_visit=None), 5, "Freshet looks at this site every day."),
        (watched(kind="pages", every=0.25), 5, "Freshet looks at these pages every 6 hours."),
        (watched(state="mapping"), 0, "Freshet is reading the site for the first time."),
        (
            watched(state="mapping"),
            120,
            "Freshet is reading the site for the first time: 120 pages so far.",
        ),
        (watched(state="mapping"), 1, "Freshet is reading the site for the first time: 1 page so far."),
        (watched(state="paused"), 5, "Freshet does not look at this site: it is paused."),
        (watched(state="failed"), 0, "Freshet could not read this site."),
    ],
)
def test_a_site_says_what_freshet_does(site: Site, pages: int, sentence: str) -> None:
    assert site_sentence(site, pages, NOW) == sentence


def test_the_reason_is_said_only_where_it_is_known() -> None:
    words = "Freshet looks at this site every morning, because its pages change overnight."
    assert site_sentence(watched(), 5, NOW, is_nightly=True) == words
    assert "because" not in site_sentence(watched(every=0.25), 5, NOW, is_nightly=True)
    night = "Mon, 30 Nov 2026 03:10:00 GMT"
    assert is_nightly([(night, NOW)] * 5)
    assert not is_nightly([(night, NOW)] * 4)
    assert not is_nightly([(night, datetime(2026, 11, 30, 3, 20, tzinfo=UTC))] * 9)
    assert not is_nightly([("Mon, 30 Nov 2026 12:10:00 GMT", NOW), ("rubbish", NOW), (night, None)] * 5)


@pytest.mark.parametrize(
    ("every", "words"),
    [
        (1 / 24, "every hour"),
        (0.5, "every 12 hours"),
        (1.0, "every day"),
        (7.0, "every week"),
        (30.0, "every 30 days"),
    ],
)
def test_how_often(every: float, words: str) -> None:
    assert often_words(every) == words


def test_the_last_week_is_counted_once_it_is_known() -> None:
    assert week_sentence(3, is_first_week=False) == "3 pages changed in the last week."
    assert week_sentence(1, is_first_week=False) == "1 page changed in the last week."
    assert week_sentence(0, is_first_week=False) == "Nothing changed in the last week."
    assert week_sentence(0, is_first_week=True) == ""
    assert sites_sentence(1, 0).startswith("Freshet looks at 1 site or list of pages. Nothing")


def test_the_next_look_is_a_sentence_also_when_it_is_now() -> None:
    soon, later = watched(next_visit=NOW), watched(next_visit=NOW + timedelta(hours=2))
    assert look_words(soon, NOW) == "Freshet looks again in a moment."
    assert look_words(later, NOW) == "Freshet looks again at about 16:00."
    assert look_words(watched(), NOW) == "Freshet looks again tomorrow at about 7:10."
    assert look_words(watched(state="paused"), NOW) == ""
    assert at_about(NOW + timedelta(days=9), NOW) == "on 9 December at about 14:00"
    assert check_words(soon, NOW) == "The next check begins in a moment."
    words = "Next check at about 16:00, because you have it looked at every day."
    assert check_words(later, NOW) == words
    failed = watched(next_visit=NOW + timedelta(hours=2), state="failed")
    assert check_words(failed, NOW) == "Next check at about 16:00, because the last one failed."
    assert first_words(later, NOW) == "Freshet looks again at about 16:00, at https://a.example/ first."


def test_a_visit_that_goes_on_and_one_that_ended_are_told() -> None:
    visit = Visit(fetched=12, budget=40)
    words = "Freshet is looking at it now: 12 pages so far, of 40 at most."
    assert look_words(watched(), NOW, visit) == words
    assert look_words(watched(), NOW, Visit(budget=9)) == "Freshet is looking at it now."
    ended = Visit(fetched=40, changed=3, found=1, failed=2, finished=NOW)
    assert visit_words(ended) == "3 of 40 pages had changed, 1 new page, 2 could not be read"
    assert visit_words(Visit(fetched=1, finished=NOW)) == "1 page, and nothing new in it"
    assert visit_words(Visit(finished=NOW)) == "No page was read."


def test_how_well_it_works_is_one_sentence() -> None:
    row = Sum("a", "C", pages=100, fetched=25, changed=9, missed=1.0)
    words = "Freshet finds about 90 % of the changes, and asks for 25 % of the pages."
    assert report_sentence([row]) == words
    assert report_sentence([]) == ""


def test_an_excerpt_is_the_first_changed_line_word_by_word() -> None:
    def pieces(*row: str) -> str:
        gain = Difference(((("same", "a", "a"), row),), 1, 1, 0)  # type: ignore[arg-type]
        return "".join(f"[{p.mark}:{p.text}]" if p.mark else p.text for p in excerpt(gain))

    assert pieces("edited", "Open from 9 to 5", "Open from 10 to 5") == "Open from [del:9][ins:10] to 5"
    assert pieces("added", "", "A new line") == "[ins:A new line]"
    assert pieces("removed", "An old line", "") == "[del:An old line]"
    long = "so many words that stay as they are " * 9
    assert len(pieces("edited", f"{long}9 {long}", f"{long}10 {long}")) < 200
    assert excerpt(Difference((), 0, 0, 0)) == []
