"""Addresses of feeds that follow from the address of a page: of known places, else guesses. Pure.

`places.toml` lists the places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urljoin, urlsplit, urlunsplit

from crawler.text.marking import gettext_noop
from feeds.adding.places import NO_BRIDGES, certain_place, guessed_places, looks_like_feed

USUAL_PATHS = (
    "feed", "rss.xml", "atom.xml", "index.xml", "feed.xml", "rss", "feed/atom", "feeds/posts/default",
    "feed.json", "blog/feed",
)  # fmt: skip
"""Paths under which sites usually keep a feed, the most common first."""
PROGRAM_PATHS = {
    "discourse": "latest.rss",
    "dokuwiki": "feed.php",
    "joomla": "?format=feed&type=rss",
    "plone": "RSS",
    "serendipity": "rss.php?version=2.0",
    "spip": "spip.php?page=backend",
    "wix.com": "blog-feed.xml",
}
"""References to the feed of sites that are made by these programs, whose templates often name none.

The first word of the page's `generator` tells the program, such as "SPIP 4.2.16".
"""
OTHER_NAMES = (
    gettext_noop("Comments"),
    gettext_noop("Comments on this post"),
    gettext_noop("Commits"),
    gettext_noop("Issues"),
    gettext_noop("Live streams only"),
    gettext_noop("Long videos only"),
    gettext_noop("Newest first"),
    gettext_noop("Releases"),
    gettext_noop("Shorts only"),
    gettext_noop("Tags"),
    gettext_noop("The best of the week"),
    gettext_noop("The whole blog"),
    gettext_noop("The whole subreddit"),
)
"""Names of further feeds in places.toml, for translators; a test compares the two."""
# Each guess is a request to a stranger's server, most for a page that is not there.
MAX_GUESSES = 10
MAX_LOOKUP_BYTES = 200_000
_HEAD_BYTES = 65536
# Bounded: a page that opens a tag a thousand times and ends none would be searched to its end for each.
_META = re.compile(r"<meta\s[^>]{0,1000}>", re.IGNORECASE)
_IS_GENERATOR = re.compile(r"\bname\s*=\s*[\"']?generator\b", re.IGNORECASE)
_PROGRAM = re.compile(r"\bcontent\s*=\s*[\"']?\s*([\w.]+)", re.IGNORECASE)


def feed_address(url: str, bridges: Mapping[str, str] = NO_BRIDGES) -> str:
    """Return the address of the feed that belongs to a page of a known place, "" if there is none.

    `bridges` are base addresses of bridges by their kind, for places without feeds of their own.
    """
    match = None if looks_like_feed(url) else certain_place(url, bridges)
    return match.feed if match else ""


def other_feeds(url: str, bridges: Mapping[str, str] = NO_BRIDGES) -> list[tuple[str, str]]:
    """Return names and addresses of further feeds of a known place, to be offered beside its feed.

    The address is that of a page, or of a feed for which the table has an entry.
    """
    match = certain_place(url, bridges)
    return match.others if match else []


def program_feeds(body: bytes, url: str) -> tuple[str, ...]:
    """Return where the feed of a page is whose `generator` names one of PROGRAM_PATHS, () for others.

    Beside the page, and at the root of its site (FreshRSS 8836: SPIP's themes do not name its feed).
    """
    head = body[:_HEAD_BYTES].decode("utf-8", "replace")
    for tag in _META.findall(head) if "generator" in head.lower() else ():
        program = _PROGRAM.search(tag) if _IS_GENERATOR.search(tag) else None
        if program and (path := PROGRAM_PATHS.get(program[1].lower().rstrip("!"))):
            return tuple(dict.fromkeys((urljoin(url, path), urljoin(urljoin(url, "/"), path))))
    return ()


def likely_feeds(url: str, first: Sequence[str] = ()) -> list[str]:
    """Return addresses at which the feed of a page may be, the likeliest first; at most MAX_GUESSES.

    After those given come those of places that may be on any host, such as an account of Mastodon. The
    others are USUAL_PATHS below the page's directory and its site.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return []
    if parts.scheme not in {"http", "https"} or not host:
        return []
    path = [part for part in parts.path.split("/") if part]
    root = urlunsplit((parts.scheme, parts.netloc, "/", "", ""))
    guesses = [*first] if certain_place(url) else [*first, *(match.feed for match in guessed_places(url))]
    folder = parts.path if parts.path.endswith("/") else f"{parts.path.rpartition('/')[0]}/"
    if path and "." not in path[-1] and not parts.path.endswith("/"):
        folder = f"{parts.path}/"
    base = urlunsplit((parts.scheme, parts.netloc, folder, "", ""))
    if base != root:
        guesses += [f"{base}{name}" for name in USUAL_PATHS[:4]]
    guesses += [f"{root}{name}" for name in USUAL_PATHS]
    return [guess for guess in dict.fromkeys(guesses) if guess != url][:MAX_GUESSES]


def podcast_named(body: bytes) -> str:
    """Return the feed address in an answer of Apple's lookup of podcasts (JSON), "" for anything else."""
    if len(body) > MAX_LOOKUP_BYTES or body[:100].lstrip()[:1] != b"{":
        return ""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    results = document.get("results")
    for result in results if isinstance(results, list) else []:
        address = result.get("feedUrl") if isinstance(result, dict) else None
        if isinstance(address, str) and address.startswith(("http://", "https://")):
            return address
    return ""
