"""Players within HTML: the pages where films are seen, sound is heard and charts stand take their places."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qs, urlsplit

from lxml import html

_VIDEO_HOSTS = {
    "www.youtube.com": "YouTube", "youtube.com": "YouTube", "www.youtube-nocookie.com": "YouTube",
    "player.vimeo.com": "Vimeo",
}  # fmt: skip

_PAGES = [
    (re.compile(pattern, re.IGNORECASE), page, label)
    for pattern, page, label in (
        (r"open\.spotify\.com/embed(?:-podcast)?/(\w+)/(\w+)", "open.spotify.com/{}/{}", "Audio on Spotify"),
        (
            r"(?:\w+\.)?dailymotion\.com/embed/video/(\w+)",
            "www.dailymotion.com/video/{}",
            "Video on Dailymotion",
        ),
        (r"archive\.org/embed/([^/]+).*", "archive.org/details/{}", "At the Internet Archive"),
        (r"streamable\.com/[eo]/(\w+)", "streamable.com/{}", "Video on Streamable"),
        (r"odysee\.com/\$/embed/(.+)", "odysee.com/{}", "Video on Odysee"),
        (r"rumble\.com/embed/([\w.]+)/?", "rumble.com/embed/{}/", "Video on Rumble"),
        (r"www\.tiktok\.com/(?:embed|player)(?:/v\d)?/(\d+)", "www.tiktok.com/@/video/{}", "Video on TikTok"),
        (r"embed\.ted\.com/talks/(?:lang/[\w-]+/)?(\w+)", "www.ted.com/talks/{}", "Video on TED"),
        (r"codepen\.io/([\w-]+)/embed/(?:preview/)?(\w+)", "codepen.io/{}/pen/{}", "Code on CodePen"),
        (r"datawrapper\.dwcdn\.net/(\w+)/?.*", "datawrapper.dwcdn.net/{}/", "A chart at Datawrapper"),
    )
]
"""Players whose page follows from their path: pattern of host and path, page without scheme, and label."""
_THEMSELVES = {
    "bandcamp.com/EmbeddedPlayer/": "Audio on Bandcamp", "w.soundcloud.com/player": "Audio on SoundCloud",
    "www.google.com/maps/embed": "A map at Google", "embed.podcasts.apple.com/": "Audio on Apple",
    "embed.music.apple.com/": "Audio on Apple",
}  # fmt: skip
"""Players that are pages as well, by the beginnings of their addresses, and labels."""


def replace_embed(frame: html.HtmlElement) -> None:
    """Replace an embedded document by a link to the page on which it can be seen; remove it without one."""
    address = (
        frame.get("src") or frame.get("data-src") or frame.get("data-lazy-src") or frame.get("data") or ""
    )
    page, label = embedded_page(address)
    parent = frame.getparent()
    if not page or parent is None:
        drop(frame)
        return
    link = html.Element("a", {"href": page, "class": "embed"})
    link.text = (frame.get("title") or "").strip()[:200] or label
    link.tail = frame.tail
    frame.tail = None
    parent.replace(frame, link)


def embedded_page(address: str) -> tuple[str, str]:
    """Return the page and a label for a player's address, both "" for what is no known player.

    Other frames are mostly advertisements and counters. Known ones were dropped without a trace but for three
    sites (sismics/reader 55, miniflux 115).
    """
    try:
        parts = urlsplit(f"https:{address}" if address.startswith("//") else address)
    except ValueError:
        return "", ""
    path = [part for part in parts.path.split("/") if part]
    name = _VIDEO_HOSTS.get(parts.hostname or "")
    if name == "YouTube" and len(path) == 2 and path[0] == "embed" and re.fullmatch(r"[\w-]{5,20}", path[1]):
        if path[1] == "videoseries":
            lists = parse_qs(parts.query).get("list", [""])
            return f"https://www.youtube.com/playlist?list={lists[0]}", f"Video on {name}"
        return f"https://www.youtube.com/watch?v={path[1]}", f"Video on {name}"
    if name == "Vimeo" and len(path) >= 2 and path[0] == "video" and path[1].isdecimal():
        return f"https://vimeo.com/{path[1]}", f"Video on {name}"
    return _page_elsewhere(parts, path) if parts.scheme in {"http", "https"} else ("", "")


def _page_elsewhere(parts: SplitResult, path: list[str]) -> tuple[str, str]:
    """Return page and label for the address of a player on one of many hosts or of the lists above."""
    # PeerTube has thousands of hosts, and the same path on each.
    if len(path) == 3 and path[:2] == ["videos", "embed"]:
        return f"{parts.scheme}://{parts.netloc}/videos/watch/{path[2]}", f"Video on {parts.hostname}"
    place = f"{parts.hostname}{parts.path}"
    for pattern, page, label in _PAGES:
        if match := pattern.fullmatch(place):
            return f"https://{page.format(*match.groups())}", label
    label = next((label for start, label in _THEMSELVES.items() if place.startswith(start)), "")
    return (parts.geturl(), label) if label else ("", "")


def drop(element: html.HtmlElement) -> None:
    """Remove an element; the text behind it stays."""
    parent = element.getparent()
    if parent is None:
        return
    # lxml removes the text behind an element with it.
    if element.tail:
        previous = element.getprevious()
        if previous is not None:
            previous.tail = (previous.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)
