"""Recognition of feeds by their root element, and descriptions of other documents."""

from __future__ import annotations

import html
import json
import re

from crawler.reading.mime import known_binary

# The internal DTD may hold > within quotes and brackets.
_PROLOG = re.compile(
    rb"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[>\"']|\"[^\"]*\"|'[^']*'|\[(?:[^\]\"']|\"[^\"]*\"|'[^']*')*\])*>)",
    re.DOTALL | re.IGNORECASE,
)
_ELEMENT = re.compile(rb"\s*<([A-Za-z_][\w:.-]*)")
_FEED_ROOT = re.compile(rb"<(?:[\w-]+:)?(?:rss|rdf|feed|channel)[\s>]", re.IGNORECASE)
_FEED_NAMES = {"rss", "rdf", "feed", "channel", "entry"}
_HTML = re.compile(rb"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^>]*>(.{0,300}?)</title", re.IGNORECASE | re.DOTALL)
_KNOWN_ROOTS = {
    "urlset": "a sitemap",
    "sitemapindex": "an index of sitemaps",
    "opml": "an OPML list",
    "svg": "an SVG image",
    "opensearchdescription": "an OpenSearch description",
}
# Comments and licences of some kilobytes stand before the root; more is no feed.
_WINDOW = 65536


def looks_like_html(body: bytes, content_type: str = "") -> bool:
    """Return whether a body is HTML: by its bytes (servers call feeds text/html), else by the header."""
    root = root_name(body)
    # Servers send feeds as text/html, so that the root element decides.
    if root in _FEED_NAMES or root in _KNOWN_ROOTS:
        return False
    if _HTML.search(body, 0, _WINDOW):
        return True
    return "html" in content_type.lower() and not is_feed_root(body) and b"<" in body[:_WINDOW]


def is_feed_root(body: bytes) -> bool:
    """Return whether the root element is a feed's, or one stands behind junk that is no HTML page."""
    root = root_name(body)
    if root in _FEED_NAMES:
        return True
    return root != "html" and not _html_page(body) and bool(_FEED_ROOT.search(body, 0, _WINDOW))


def root_name(body: bytes) -> str:
    """Return the lower-case local name of the first element behind declarations and comments, or ""."""
    position = 3 if body.startswith(b"\xef\xbb\xbf") else 0
    # A document of nothing but comments must end, too.
    for _ in range(50):
        match = _PROLOG.match(body, position, position + _WINDOW)
        if not match:
            break
        position = match.end()
    element = _ELEMENT.match(body, position)
    return element[1].rpartition(b":")[2].decode("ascii", "replace").lower() if element else ""


def media(body: bytes) -> str:
    """Return the type of a body by its first bytes, "" for text."""
    if binary := known_binary(body):
        return binary[1]
    return "binary data" if b"\x00" in body[:1024] else ""


def description(body: bytes) -> str:
    """Describe a body that is no feed, in words for people."""
    head = body[:1024].lstrip()
    if not head:
        return "an empty body"
    if words := media(body):
        return words
    root = root_name(body)
    if root in _KNOWN_ROOTS:
        return _KNOWN_ROOTS[root]
    if _HTML.search(body, 0, _WINDOW):
        return _html_title(body)
    return f"an XML document <{root[:40]}>" if root else "text that is neither XML nor JSON"


def _html_page(body: bytes) -> bool:
    """Return whether HTML starts before any feed does (a PHP warning in front of a feed is no page)."""
    page = _HTML.search(body, 0, _WINDOW)
    feed = _FEED_ROOT.search(body, 0, _WINDOW)
    return page is not None and (feed is None or page.start() < feed.start())


def _html_title(body: bytes) -> str:
    """Describe an HTML page with its title, which often tells what went wrong."""
    match = _TITLE.search(body, 0, _WINDOW)
    title = " ".join(html.unescape(match[1].decode("utf-8", "replace")).split())[:100] if match else ""
    return f"an HTML page titled {json.dumps(title, ensure_ascii=False)}" if title else "an HTML page"
