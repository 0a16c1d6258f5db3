"""The table of known places, entry by entry, and addresses that are of none."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import pytest

from crawler.fetching.http.urls import canonical_url
from feeds.adding.places import (
    MAX_URL_LENGTH,
    PLACES,
    KnownPlace,
    PlaceMatch,
    certain_place,
    guessed_places,
    looks_like_feed,
    read_places,
)
from feeds.adding.sources import OTHER_NAMES, feed_address, likely_feeds, other_feeds

BRIDGE = "https://bridge.example"
ENTRIES = [pytest.param(place, id=f"{place.name} {place.bridge}".strip()) for place in PLACES]
CERTAIN = [param for param in ENTRIES if not param.values[0].is_guess]


def bridges_of(place: KnownPlace) -> dict[str, str]:
    return {place.bridge: BRIDGE} if place.bridge else {}


def match_of(place: KnownPlace, url: str) -> PlaceMatch | None:
    if place.is_guess:
        return next((match for match in guessed_places(url) if match.place is place), None)
    return certain_place(url, bridges_of(place))


@pytest.mark.parametrize("place", ENTRIES)
def test_the_example_of_an_entry_is_right_and_reaches_it(place: KnownPlace) -> None:
    page, feed, *others = place.example
    match = match_of(place, page)
    assert match is not None
    assert match.place is place, "an earlier entry takes its example"
    assert match.feed == feed
    assert [address for _, address in match.others] == others
    assert all(name for name, _ in match.others)


@pytest.mark.parametrize("place", ENTRIES)
def test_the_feeds_of_an_entry_are_pages_of_none(place: KnownPlace) -> None:
    for feed in filter(None, place.example[1:]):
        assert feed_address(feed, bridges_of(place)) == ""
        assert feed_address(canonical_url(feed), bridges_of(place)) == ""


@pytest.mark.parametrize("place", CERTAIN)
def test_an_entry_holds_for_its_hosts_alone(place: KnownPlace) -> None:
    page = place.example[0]
    host = urlsplit(page).netloc
    for other in (f"{host}.evil.example", f"evil{host.replace('.', '')}.example", f"{host}@evil.example"):
        assert certain_place(page.replace(host, other, 1), bridges_of(place)) is None


@pytest.mark.parametrize("place", [param for param in ENTRIES if param.values[0].is_guess])
def test_a_place_on_any_host_is_tried_first(place: KnownPlace) -> None:
    page, feed = place.example
    assert feed_address(page) == ""
    assert feed in likely_feeds(page)[:3]


@pytest.mark.parametrize("place", [param for param in ENTRIES if param.values[0].bridge])
def test_a_place_behind_a_bridge_needs_one(place: KnownPlace) -> None:
    assert feed_address(place.example[0]) == ""
    assert feed_address(place.example[0], {"other": BRIDGE}) == ""
    assert feed_address(place.example[0], {place.bridge: f"{BRIDGE}/"}) == place.example[1]


def test_names_of_entries_are_unique() -> None:
    names = [place.name for place in PLACES]
    assert len(names) == len(set(names)) > 90


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/watch?v=abc",
        "https://www.youtube.com/shorts/abc",
        "https://www.youtube.com/playlist?list=",
        "https://github.com",
        "https://github.com/settings/profile",
        "https://github.com/orgs/django/repositories",
        "https://github.com/django/django/issues",
        "https://github.com/django/django/pull/1",
        "https://github.com/django/django/commits/main.atom",
        "https://github.com/django.private.atom?token=x",
        "https://gitlab.com/a/b/-/commits/main?feed_token=x&format=atom",
        "https://codeberg.org/readeck/readeck/issues",
        "https://www.reddit.com/",
        "https://www.reddit.com/r/rust/top.rss?t=week",
        "https://news.ycombinator.com/item?id=1",
        "https://news.ycombinator.com/user?id=pg",
        "https://lobste.rs/s/abc/a_story",
        "https://stackoverflow.com/tags",
        "https://bsky.app/profile/bsky.app/post/1",
        "https://vimeo.com/blender/videos/rss",
        "https://www.npmjs.com/package/express",
        "https://arxiv.org/abs/2605.20400",
        "https://pypi.org/search/?q=django",
        "https://en.wikipedia.org/",
        "https://en.wikipedia.org/w/index.php?title=Django&action=edit",
        "https://en.wikipedia.org/w/index.php?title=Special:RecentChanges&feed=atom",
        "https://substack.com/@jane",
        "https://jane.substack.com/feed/podcast/1",
        "https://some.wordpress.com/?feed=rss2",
        "https://www.tumblr.com/dashboard",
        "https://letterboxd.com/films/",
        "https://t.me/s/rssaid",
    ],
)
def test_pages_nearby_are_of_no_place(url: str) -> None:
    assert feed_address(url) == ""


def test_feeds_beside_are_offered_for_a_page_and_for_the_feed_of_a_channel() -> None:
    long_videos = ("Long videos only", "https://www.youtube.com/feeds/videos.xml?playlist_id=UULF1")
    assert other_feeds("https://www.youtube.com/channel/UC1")[0] == long_videos
    assert other_feeds("https://www.youtube.com/feeds/videos.xml?channel_id=UC1")[0] == long_videos
    assert other_feeds("https://site.example/") == []
    assert other_feeds("http://[broken") == []


def test_the_first_bridge_in_the_table_is_taken() -> None:
    both = {"rss-bridge": "https://a.example", "rsshub": "https://b.example"}
    assert feed_address("https://t.me/s/rssaid", both) == "https://b.example/telegram/channel/rssaid"


def test_pages_of_known_hosts_are_no_accounts_of_mastodon() -> None:
    assert not any(".rss" in guess for guess in likely_feeds("https://www.youtube.com/@some"))


@pytest.mark.parametrize(
    ("url", "feed"),
    [
        ("http://user:word@github.com:8443/a/b", "https://github.com/a/b/releases.atom"),
        ("https://GitHub.com//a///b//", "https://github.com/a/b/releases.atom"),
        ("https://github.com:port/a/b", "https://github.com/a/b/releases.atom"),
        ("https://github.com/a/b?x=1&x=2#y", "https://github.com/a/b/releases.atom"),
        ("https://github.com/../a", ""),
        ("https://github.com/a/..", ""),
        ("https://bsky.app/profile/%3Cscript%3E", "https://bsky.app/profile/%3Cscript%3E/rss"),
        ("https://www.youtube.com/user/a%26b=c", "https://www.youtube.com/feeds/videos.xml?user=a%26b%3Dc"),
        ("https://www.youtube.com/playlist?list=a%26b%23",
         "https://www.youtube.com/feeds/videos.xml?playlist_id=a%26b%23"),
        ("https://www.youtube.com/user/%ff%zz", "https://www.youtube.com/feeds/videos.xml?user=%EF%BF%BD%25zz"),
        ("https://en.wikipedia.org/wiki/AC/DC",
         "https://en.wikipedia.org/w/index.php?title=AC/DC&action=history&feed=atom"),
        ("https://vimeo.com/\u0661\u0662", "https://vimeo.com/\u0661\u0662/videos/rss"),
        ("https://a b.tumblr.com/", ""),
        ("https://[::1].tumblr.com/", ""),
        ("javascript:alert(1)//github.com/a/b", ""),
        ("//github.com/a/b", ""),
        ("\ud800", ""),
    ],
)  # fmt: skip
def test_odd_addresses_match_by_their_parts(url: str, feed: str) -> None:
    assert feed_address(url) == feed


@pytest.mark.parametrize(
    "url",
    [
        "https://gitlab.com/" + "-/" * 200_000,
        "https://gitlab.com/" + "a/" * ((MAX_URL_LENGTH - 30) // 2) + "-",
        "https://gitlab.com/" + "-/-/" * 400 + "commits",
        "https://podcasts.apple.com/" + "id1/" * 490 + "x",
        "https://social.example/" + "-/commits/" * 190,
        "https://some.tumblr.com/" + "rss/" * 490 + "x",
        "https://www.youtube.com/?" + "list=&" * 300,
        "https://" + "a." * 900 + "tumblr.com/",
        "https://bsky.app/profile/" + "%" * 1_900,
        "https://github.com/" + "\ud800" * 900,
        "https://www.youtube.com/?list=" + "\ud800" * 900,
    ],
)
def test_hostile_addresses_raise_nothing_and_take_no_time(url: str) -> None:
    begin = time.perf_counter()
    for _ in range(10):
        feed_address(url)
        other_feeds(url)
        likely_feeds(url)
    assert time.perf_counter() - begin < 2.0


def test_an_address_longer_than_those_of_the_web_is_of_no_place() -> None:
    assert feed_address("https://github.com/" + "a" * MAX_URL_LENGTH) == ""


@pytest.mark.parametrize(
    ("url", "is_feed"),
    [
        ("https://site.example/x.rss", True),
        ("https://site.example/x.ATOM/?a=b", True),
        ("https://site.example/x?a=b&format=atom", True),
        ("https://site.example/x.html#y.rss", False),
        ("https://site.example/rss-readers?format=html", False),
    ],
)
def test_a_feed_is_told_by_the_look_of_its_address(url: str, is_feed: bool) -> None:
    assert looks_like_feed(url) is is_feed


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('feeds = "x"', "Blog: no key of a place is called feeds"),
        ('more = [["Tags", "https://site.example/{tag}"]]', "Blog: nothing gives tag"),
    ],
)
def test_an_entry_with_a_slip_is_refused_by_name(line: str, problem: str) -> None:
    entry = '[[place]]\nname = "Blog"\nhosts = ["a.example"]\npath = "/{x}"\nfeed = ""\nexample = ["", ""]\n'
    with pytest.raises(ValueError, match=problem):
        read_places(entry + line)


def test_an_entry_without_an_example_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="Blog: a place needs example, feed"):
        read_places('[[place]]\nname = "Blog"\nhosts = ["a.example"]\npath = "/"\n')


def test_names_of_further_feeds_are_known_to_translators() -> None:
    assert {name for place in PLACES for name, _ in place.others} == set(OTHER_NAMES)
