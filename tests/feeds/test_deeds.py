"""What mends a feed that is late: each cause has its own deed, the likeliest first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.failures import Failure
from feeds.models import Feed
from feeds.pages.deeds import deeds_for

NOW = datetime(2026, 3, 12, 14, 20, tzinfo=UTC)


def feed_with(failure: str = "", **fields: Any) -> Feed:
    url = fields.pop("url", "https://boats.example/rss.xml")
    return Feed(pk=7, url=url, failure=failure, failure_streak=3 if failure else 0, **fields)


@pytest.mark.parametrize(
    ("feed", "words"),
    [
        (feed_with(), []),
        (feed_with(status="paused"), ["Resume"]),
        (feed_with(status="gone"), ["Find its feeds", "Try again now"]),
        (feed_with("http-503"), ["Try again now"]),
        (feed_with("timeout"), ["Try again now"]),
        (feed_with("http-404"), ["Find its feeds", "Try again now"]),
        (feed_with("http-404", proposed={"url": "https://a.example/"}),
         ["Use the new address", "Find its feeds", "Try again now"]),
        (feed_with("dns"), ["Find its feeds", "Try again now"]),
        (feed_with("http-401"), ["Give a login", "Try again now"]),
        (feed_with("http-403"), ["Try again now"]),
        (feed_with("not-a-feed"), ["Find its feeds", "Make a feed of a list on the page", "Watch the page"]),
        (feed_with("list-missing", kind="page", proposed={"entry": "li"}),
         ["Use the list that was found", "See the lists of the page", "Say which parts are its articles"]),
        (feed_with("list-missing", kind="page"),
         ["See the lists of the page", "Say which parts are its articles"]),
        (feed_with("throttled"), []),
        (feed_with("robots"), []),
        (feed_with("http-503", selected_at=NOW), []),
    ],
)  # fmt: skip
def test_each_cause_has_its_deeds(feed: Feed, words: list[str]) -> None:
    assert [deed.words for deed in deeds_for(feed)] == words


def test_feeds_are_looked_for_on_the_site_or_where_a_page_stands() -> None:
    def address(failure: str, **fields: Any) -> str:
        return deeds_for(feed_with(failure, **fields))[0].address

    assert address("http-404").endswith("?url=https%3A%2F%2Fboats.example%2F")
    assert address("http-404", site_url="https://boats.example/home").endswith("boats.example%2Fhome")
    assert address("not-a-feed").endswith("boats.example%2Frss.xml")


@pytest.mark.parametrize("failure", sorted(set(Failure)))
def test_every_failure_has_addresses_that_exist(failure: str) -> None:
    for deed in deeds_for(feed_with(failure)):
        assert deed.words and deed.address.startswith("/")
