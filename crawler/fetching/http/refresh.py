"""Pages that lead to another at once by `<meta http-equiv="refresh">`: a redirect that HTML writes. Pure."""

from __future__ import annotations

import html
import re
from urllib.parse import urljoin

MAX_SECONDS = 5
"""Longer ones are pages to read that renew themselves."""
# The tag stands in the head; searching megabytes of each page for it would cost more than reading them.
_HEAD_BYTES = 16_384
_HIDDEN = re.compile(rb"<!--.*?-->|<(noscript|script|style)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
# A bounded length: an unclosed tag would let the pattern run to the end from each of its beginnings.
_META = re.compile(rb"<meta\s[^>]{0,2000}>", re.IGNORECASE)
_IS_REFRESH = re.compile(r"\bhttp-equiv\s*=\s*[\"']?\s*refresh\b", re.IGNORECASE)
_CONTENT = re.compile(r"\bcontent\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
# A bounded length, as above.
_BASE = re.compile(rb"<base\s[^>]{0,2000}>", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
_TARGET = re.compile(r"\s*(\d{1,4})(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?(.*)", re.IGNORECASE | re.DOTALL)


def refresh_target(body: bytes, content_type: str) -> str:
    """Return the reference to which an HTML page leads within MAX_SECONDS, "" for any other document.

    One within `noscript` is for browsers without scripts, and counts as none. The page's `<base>` is heeded.
    """
    head = body[:_HEAD_BYTES]
    # A missing content type is taken for HTML, as browsers do.
    if b"http-equiv" not in head.lower() or "html" not in (content_type.lower() or "html"):
        return ""
    shown = _HIDDEN.sub(b" ", head)
    for meta in _META.findall(shown):
        text = meta.decode("utf-8", "replace")
        content = _CONTENT.search(text)
        if not content or not _IS_REFRESH.search(text):
            continue
        match = _TARGET.match(html.unescape(content[1] or content[2] or content[3] or ""))
        target = match[2].strip().strip("\"'").strip() if match else ""
        if match and target and int(match[1]) <= MAX_SECONDS:
            return _joined(_base(shown), target)
    return ""


def _base(head: bytes) -> str:
    """Return the reference of the first `<base>` with one, "" without."""
    for tag in _BASE.findall(head):
        if href := _HREF.search(tag.decode("utf-8", "replace")):
            return html.unescape(href[1] or href[2] or href[3] or "").strip()
    return ""


def _joined(base: str, target: str) -> str:
    # scrapy 7042: the target is relative to the base, as all addresses of the page are.
    try:
        return urljoin(base, target)
    except ValueError:
        return target
