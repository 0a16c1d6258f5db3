"""A feed's address changes: what becomes of the old one, and of a feed that had the new one already."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.fetching.http.urls import BadUrl
from crawler.reading.documents import FeedLink
from feeds.addresses import follow_discovery, known_as, move_to
from feeds.models import Feed
from tests.factories import make_article, make_feed

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
OLD, NEW = "https://old.example/feed", "https://new.example/feed"


def test_a_feed_that_moved_is_visited_at_once_and_unconditionally():
    feed = make_feed(OLD, etag='"1"', body_hash="0" * 64, failure="gone", failure_streak=3, failing_since=NOW)
    moved = move_to(feed, NEW)
    moved.refresh_from_db()
    assert (moved.id, moved.url, moved.host.name) == (feed.id, NEW, "new.example")
    assert (moved.etag, moved.body_hash, moved.failure, moved.failure_streak) == ("", "", "", 0)
    assert moved.selected_at is not None


def test_both_addresses_are_known_afterwards():
    feed = move_to(make_feed(OLD), NEW)
    assert [known_as(OLD), known_as(NEW), known_as("https://third.example/")] == [feed, feed, None]


def test_a_feed_that_was_never_read_is_merged_into_the_one_that_has_the_address():
    there = make_feed(NEW)
    feed = make_feed(OLD)
    assert move_to(feed, NEW) == there
    assert [known_as(OLD), known_as(NEW)] == [there, there]
    assert Feed.objects.count() == 1


def test_a_feed_with_articles_is_never_merged_away():
    there = make_feed(NEW)
    feed = make_feed(OLD, last_success=NOW)
    make_article(feed)
    assert move_to(feed, NEW) == feed
    assert [known_as(OLD), known_as(NEW)] == [feed, there]
    assert feed.articles.count() == 1


def test_moving_there_and_back_leaves_one_feed_with_both_addresses():
    feed = move_to(move_to(make_feed(OLD), NEW), OLD)
    assert (feed.url, Feed.objects.count()) == (OLD, 1)
    assert [known_as(OLD), known_as(NEW)] == [feed, feed]


def test_the_first_usable_feed_that_a_page_names_is_followed():
    page = make_feed("https://old.example/")
    links = [FeedLink("javascript:alert(1)"), FeedLink("https://old.example/"), FeedLink(NEW), FeedLink(OLD)]
    assert follow_discovery(page, links).url == NEW


def test_a_page_that_names_no_feed_stays_what_it_is():
    page = make_feed("https://old.example/")
    assert follow_discovery(page, [FeedLink("mailto:a@b.example")]).url == "https://old.example/"


def test_an_address_that_is_none_changes_nothing():
    feed = make_feed(OLD)
    with pytest.raises(BadUrl):
        move_to(feed, "ftp://new.example/")
    feed.refresh_from_db()
    assert feed.url == OLD
