"""Players of films within HTML: the pages on which they can be seen take their places."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from lxml import html

_VIDEO_HOSTS = {
    "www.youtube.com": "YouTube", "youtube.com": "YouTube", "www.youtube-nocookie.com": "YouTube",
    "player.vimeo.com": "Vimeo",
}  # fmt: skip


def replace_embed(frame: html.HtmlElement) -> None:
    """Replace an embedded document by a link to the page on which it can be seen; remove it without one."""
    address = (
        frame.get("src") or frame.get("data-src") or frame.get("data-lazy-src") or frame.get("data") or ""
    )
    page, name = embedded_page(address)
    parent = frame.getparent()
    if not page or parent is None:
        drop(frame)
        return
    link = html.Element("a", {"href": page, "class": "embed"})
    link.text = (frame.get("title") or "").strip()[:200] or f"Video on {name}"
    link.tail = frame.tail
    frame.tail = None
    parent.replace(frame, link)


def embedded_page(address: str) -> tuple[str, str]:
    """Return the page and the name of a player's address, both "" for what is no known player."""
    try:
        parts = urlsplit(f"https:{address}" if address.startswith("//") else address)
    except ValueError:
        return "", ""
    path = [part for part in parts.path.split("/") if part]
    name = _VIDEO_HOSTS.get(parts.hostname or "")
    if name == "YouTube" and len(path) == 2 and path[0] == "embed" and re.fullmatch(r"[\w-]{5,20}", path[1]):
        if path[1] == "videoseries":
            lists = parse_qs(parts.query).get("list", [""])
            return f"https://www.youtube.com/playlist?list={lists[0]}", name
        return f"https://www.youtube.com/watch?v={path[1]}", name
    if name == "Vimeo" and len(path) >= 2 and path[0] == "video" and path[1].isdecimal():
        return f"https://vimeo.com/{path[1]}", name
    # PeerTube has thousands of hosts, and the same path on each.
    if len(path) == 3 and path[:2] == ["videos", "embed"] and parts.scheme in {"http", "https"}:
        return f"{parts.scheme}://{parts.netloc}/videos/watch/{path[2]}", parts.hostname or ""
    return "", ""


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
