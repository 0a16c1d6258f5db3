"""A crawl in words: where it stays, what it costs, how far it is, what it left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawler.frontier.scope import Scope
from crawler.frontier.wording import BELOW, BEYOND, SITE, HowFar, cost, failed_words, scope_of


@pytest.mark.parametrize(
    ("far", "inside", "outside"),
    [
        (BELOW, "https://www.a.example/old/x", "https://a.example/new/"),
        (BELOW, "http://a.example/old/deep/y?z=1", "https://b.a.example/old/"),
        (SITE, "https://pictures.a.example/1", "https://a.example.org/"),
        (SITE, "http://a.example:8000/", "https://nota.example/"),
    ],
)
def test_scope_is_as_far_as_was_chosen(far: str, inside: str, outside: str) -> None:
    scope = Scope(scope_of(far, ["HTTPS://u:p@A.example/old/page.html"]))
    assert scope.allows(inside)
    assert not scope.allows(outside)


def test_beyond_has_no_scope() -> None:
    assert scope_of(BEYOND, ["https://a.example/"]) == []


def test_the_cost_is_said_in_time_and_requests(settings: Any) -> None:
    settings.FETCH_HOST_SPACING_SECONDS = 10.0
    assert cost(500) == "500 pages of one site take about 83 min, and at most 2,100 requests."
    assert cost(1).startswith("1 page of one site takes about 10 s")


def test_how_far_it_is_in_words() -> None:
    growing = HowFar(120, 324, is_growing=True, is_running=True, per_minute=6.2)
    assert growing.words == "120 of about 324 pages"
    assert growing.pace == "6 pages a minute."
    assert "still being found" in growing.growth
    assert HowFar(120, 500, is_growing=False, is_running=True).words == "120 of 500 pages"
    done = HowFar(1, 1, is_growing=False, is_running=False)
    assert (done.words, done.pace, done.ending, done.growth) == ("1 page", "", "", "")
    later = HowFar(1, 9, is_growing=False, is_running=True, end=datetime.now(UTC) + timedelta(days=5))
    assert later.ending.startswith("Done in about ")


def test_what_was_left_out_is_counted_in_words() -> None:
    assert failed_words("http-404", 1) == "does not exist: “not found”"
    assert failed_words("http-404", 3) == "do not exist: “not found”"
    assert failed_words("dns", 3) == "could not be read: DNS"
