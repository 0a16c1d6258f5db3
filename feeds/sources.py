"""Addresses of feeds that follow from the address of a page, for sites whose rules are known. Pure.

Rules from the sites' own documentation: YouTube, GitHub, GitLab, Reddit, Mastodon, PeerTube, Medium, Tumblr,
Bluesky, Apple Podcasts, WordPress and Blogger.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

USUAL_PATHS = (
    "feed", "rss.xml", "atom.xml", "index.xml", "feed.xml", "rss", "feed/atom", "feeds/posts/default",
    "feed.json", "blog/feed",
)  # fmt: skip
"""Paths under which sites usually keep a feed, the most common first."""
MAX_GUESSES = 10
MAX_LOOKUP_BYTES = 200_000

Rule = Callable[[str, Sequence[str], str], str]
"""A function of a page's address, its path's parts and its query; returns the feed's address or ""."""


def feed_address(url: str) -> str:
    """Return the address of the feed that belongs to a page of a known site, "" if there is no rule."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"}:
        return ""
    path = [part for part in parts.path.split("/") if part]
    rule = _RULES.get(host)
    if rule is None:
        rule = next((rule for suffix, rule in _SUFFIXES.items() if host.endswith(suffix)), None)
    return rule(url, path, parts.query) if rule else ""


def likely_feeds(url: str) -> list[str]:
    """Return addresses at which the feed of a page may be, the likeliest first; at most MAX_GUESSES.

    The first come from the path if it looks like an account of Mastodon or PeerTube, the others are
    USUAL_PATHS below its directory and its site.
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
    guesses = _account_feeds(root, path)
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


def _youtube(url: str, path: Sequence[str], query: str) -> str:
    parameters = parse_qs(query)
    feed = "https://www.youtube.com/feeds/videos.xml?"
    if parameters.get("list"):
        return feed + urlencode({"playlist_id": parameters["list"][0]})
    if len(path) >= 2 and path[0] == "channel":
        return feed + urlencode({"channel_id": path[1]})
    if len(path) >= 2 and path[0] == "user":
        return feed + urlencode({"user": path[1]})
    return ""  # the page of a name (/@name, /c/name) has a link element with the channel's number


def _github(url: str, path: Sequence[str], query: str) -> str:
    if len(path) < 2 or path[0] in {"orgs", "topics", "search", "settings", "marketplace", "features"}:
        is_account = len(path) == 1 and not path[0].endswith(".atom")
        return f"https://github.com/{path[0]}.atom" if is_account else ""
    repository = f"https://github.com/{path[0]}/{path[1].removesuffix('.git')}"
    if path[-1].endswith(".atom"):
        return ""
    if len(path) >= 3 and path[2] in {"tags", "discussions"}:
        return f"{repository}/{path[2]}.atom"
    if len(path) >= 3 and path[2] in {"commits", "commit"}:
        branch = "/".join(path[3:])
        return f"{repository}/commits/{branch}.atom" if branch else f"{repository}/commits.atom"
    return f"{repository}/releases.atom" if len(path) == 2 or path[2] == "releases" else ""


def _gitlab(url: str, path: Sequence[str], query: str) -> str:
    if len(path) < 2 or "atom" in f"{path[-1]} {query}":
        return ""
    project = path[: path.index("-")] if "-" in path else path
    return f"https://gitlab.com/{'/'.join(project)}/-/tags?format=atom"


def _reddit(url: str, path: Sequence[str], query: str) -> str:
    if not path or path[-1].endswith(".rss"):
        return ""
    if path[0] in {"r", "user", "u", "domain"} and len(path) >= 2:
        feed_path = ["user" if path[0] == "u" else path[0], *path[1:]]
        return f"https://www.reddit.com/{'/'.join(feed_path)}/.rss"
    return ""


def _medium(url: str, path: Sequence[str], query: str) -> str:
    return f"https://medium.com/feed/{path[0]}" if path and path[0] not in {"feed", "tag"} else ""


def _bluesky(url: str, path: Sequence[str], query: str) -> str:
    return f"https://bsky.app/profile/{path[1]}/rss" if path[:1] == ["profile"] and len(path) == 2 else ""


def _apple_podcasts(url: str, path: Sequence[str], query: str) -> str:
    number = re.search(r"/id(\d{3,15})(?:$|[/?#])", url)
    return f"https://itunes.apple.com/lookup?id={number[1]}&entity=podcast" if number else ""


def _tumblr(url: str, path: Sequence[str], query: str) -> str:
    return "" if path[:1] == ["rss"] else f"https://{urlsplit(url).hostname}/rss"


def _blogspot(url: str, path: Sequence[str], query: str) -> str:
    return "" if path[:1] == ["feeds"] else f"https://{urlsplit(url).hostname}/feeds/posts/default"


def _vimeo(url: str, path: Sequence[str], query: str) -> str:
    return f"https://vimeo.com/{path[0]}/videos/rss" if len(path) == 1 and not path[0].isdecimal() else ""


_RULES: dict[str, Rule] = {
    "youtube.com": _youtube,
    "youtube-nocookie.com": _youtube,
    "github.com": _github,
    "gitlab.com": _gitlab,
    "reddit.com": _reddit,
    "old.reddit.com": _reddit,
    "medium.com": _medium,
    "bsky.app": _bluesky,
    "podcasts.apple.com": _apple_podcasts,
    "itunes.apple.com": _apple_podcasts,
    "vimeo.com": _vimeo,
}
_SUFFIXES: dict[str, Rule] = {".tumblr.com": _tumblr, ".blogspot.com": _blogspot}


_PEERTUBE = {
    "a": "accountName", "accounts": "accountName",
    "c": "videoChannelName", "video-channels": "videoChannelName",
}  # fmt: skip


def _account_feeds(root: str, path: Sequence[str]) -> list[str]:
    """Return the feeds of what looks like an account: /@name of Mastodon, /a/name and /c/name of PeerTube."""
    first, second = (*path, "", "")[:2]
    if first.startswith("@") and len(first) > 1:
        return [f"{root}{first}.rss"]
    if first in _PEERTUBE and second:
        return [f"{root}feeds/videos.xml?{urlencode({_PEERTUBE[first]: second}, safe='@')}"]
    return []
