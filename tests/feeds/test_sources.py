"""Addresses of feeds that follow from the addresses of pages."""

from __future__ import annotations

import json

import pytest

from feeds.adding.sources import MAX_GUESSES, feed_address, likely_feeds, podcast_named, program_feeds

YOUTUBE = "https://www.youtube.com/feeds/videos.xml?"


@pytest.mark.parametrize(
    ("url", "feed"),
    [
        ("https://www.youtube.com/channel/UC123_-x/videos", f"{YOUTUBE}channel_id=UC123_-x"),
        ("https://m.youtube.com/channel/UC123", f"{YOUTUBE}channel_id=UC123"),
        ("https://www.youtube.com/playlist?list=PL1", f"{YOUTUBE}playlist_id=PL1"),
        ("https://www.youtube.com/watch?v=abc&list=PL1", f"{YOUTUBE}playlist_id=PL1"),
        ("https://www.youtube.com/user/some", f"{YOUTUBE}user=some"),
        ("https://www.youtube.com/@some", ""),
        (f"{YOUTUBE}channel_id=UC1", ""),
        ("https://github.com/django/django", "https://github.com/django/django/releases.atom"),
        ("https://github.com/django/django.git", "https://github.com/django/django/releases.atom"),
        ("https://github.com/django/django/releases", "https://github.com/django/django/releases.atom"),
        ("https://github.com/django/django/tags", "https://github.com/django/django/tags.atom"),
        ("https://github.com/django/django/commits/main", "https://github.com/django/django/commits/main.atom"),
        ("https://github.com/django/django/issues/1", ""),
        ("https://github.com/django/django/releases.atom", ""),
        ("https://github.com/django", "https://github.com/django.atom"),
        ("https://gitlab.com/a/b/c/-/releases", "https://gitlab.com/a/b/c/-/tags?format=atom"),
        ("https://www.reddit.com/r/rust", "https://www.reddit.com/r/rust/.rss"),
        ("https://old.reddit.com/r/rust/top/", "https://www.reddit.com/r/rust/top/.rss"),
        ("https://reddit.com/u/some", "https://www.reddit.com/user/some/.rss"),
        ("https://www.reddit.com/r/rust/.rss", ""),
        ("https://medium.com/@some", "https://medium.com/feed/@some"),
        ("https://medium.com/feed/@some", ""),
        ("https://bsky.app/profile/some.example", "https://bsky.app/profile/some.example/rss"),
        ("https://podcasts.apple.com/us/podcast/a-name/id123456789",
         "https://itunes.apple.com/lookup?id=123456789&entity=podcast"),
        ("https://some.tumblr.com/post/1", "https://some.tumblr.com/rss"),
        ("https://some.blogspot.com/2020/01/a.html", "https://some.blogspot.com/feeds/posts/default"),
        ("https://example.org/channel/UC1", ""),
        ("https://youtube.com.evil.example/channel/UC1", ""),
        ("http://[broken", ""),
        ("ftp://github.com/a/b", ""),
    ],
)  # fmt: skip
def test_pages_of_known_sites_have_feeds(url: str, feed: str) -> None:
    assert feed_address(url) == feed
    assert feed_address(feed) == ""


@pytest.mark.parametrize(
    ("url", "first"),
    [
        ("https://social.example/@some", "https://social.example/@some.rss"),
        ("https://tube.example/a/some/videos", "https://tube.example/feeds/videos.xml?accountName=some"),
        ("https://tube.example/a/some@far.example",
         "https://tube.example/feeds/videos.xml?accountName=some@far.example"),
        ("https://tube.example/c/films", "https://tube.example/feeds/videos.xml?videoChannelName=films"),
        ("https://site.example/", "https://site.example/feed"),
        ("https://site.example/blog/", "https://site.example/blog/feed"),
        ("https://site.example/blog", "https://site.example/blog/feed"),
        ("https://site.example/blog/page.html?x=1#y", "https://site.example/blog/feed"),
    ],
)  # fmt: skip
def test_other_pages_have_feeds_at_usual_addresses(url: str, first: str) -> None:
    guesses = likely_feeds(url)
    assert guesses[0] == first
    assert len(guesses) == len(set(guesses)) <= MAX_GUESSES


@pytest.mark.parametrize(
    ("generator", "url", "feeds"),
    [
        ("Joomla! - Open Source Content Management", "https://j.example/news?start=5",
         ("https://j.example/news?format=feed&type=rss", "https://j.example/?format=feed&type=rss")),
        ("SPIP 4.2.16 + Escal", "https://s.example/", ("https://s.example/spip.php?page=backend",)),
        ("Wix.com Website Builder", "https://w.example/blog", ("https://w.example/blog-feed.xml",)),
        ("WordPress 6.8", "https://p.example/", ()),
        ("", "https://p.example/", ()),
    ],
)  # fmt: skip
def test_programs_keep_feeds_at_their_own_addresses(generator: str, url: str, feeds: tuple[str, ...]) -> None:
    page = (
        f'<html><head><META content="{generator}" name="Generator" /><title>generator</title></head></html>'
    )
    assert program_feeds(page.encode(), url) == feeds
    assert likely_feeds(url, feeds)[: len(feeds)] == list(feeds)


@pytest.mark.parametrize("url", ["", "http://[x", "mailto:a@b.example", "https://"])
def test_what_is_no_page_has_no_likely_feeds(url: str) -> None:
    assert likely_feeds(url) == []


@pytest.mark.parametrize(
    ("answer", "feed"),
    [
        ({"results": [{"feedUrl": "https://pod.example/rss"}]}, "https://pod.example/rss"),
        ({"results": [{"feedUrl": "file:///etc/passwd"}, {"feedUrl": 3}, 4]}, ""),
        ({"results": {}}, ""),
        ({}, ""),
    ],
)
def test_a_lookup_of_podcasts_names_a_feed(answer: object, feed: str) -> None:
    assert podcast_named(b"\n\n" + json.dumps(answer).encode()) == feed


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"{" * 100_000, b"<html>", b'{"a":' * 50_000])
def test_other_answers_name_none(body: bytes) -> None:
    assert podcast_named(body) == ""
