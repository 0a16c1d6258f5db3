"""The content of robots.txt and its lines about the whole site, its sitemaps; for both sides. Pure."""

from __future__ import annotations

import re

from crawler.fetching.http.urls import BadUrl, join
from crawler.text.records import Record

MAX_LINE = 4096
"""Characters; longer lines of a robots.txt are left out."""

# Large sites name hundreds, an index among them; twenty lead to the others.
MAX_SITEMAPS = 20

_SITE_LINE = re.compile(r"(?:(site-?maps?)|host)\s*:(.*)", re.IGNORECASE)


class Robots(Record, frozen=True):
    """An origin's robots.txt as last read: `status` 200 with its text, 404 without, 500 when unreadable.

    `at` is the time of that reading; `tried` is that of the last failed attempt, 0 without one (both in epoch
    seconds).
    """

    status: int
    text: str
    at: float
    origin: str = ""
    tried: float = 0.0


def is_site_line(line: str) -> bool:
    """Return whether a stripped line is about the site, and so ends no group."""
    return _SITE_LINE.match(line) is not None


def sitemaps_in(text: str, origin: str) -> list[str]:
    """Return the sitemaps that a robots.txt of this origin names: distinct canonical URLs, 20 at most.

    A relative address belongs to the address that was requested, wherever that redirected (RFC 9309, section
    2.3.1.2). Invalid addresses are left out.
    """
    sitemaps: dict[str, None] = {}
    for raw in text.splitlines():
        if len(raw) > MAX_LINE:
            continue
        line = _SITE_LINE.match(raw.partition("#")[0].strip())
        reference = line[2].strip() if line and line[1] else ""
        if not reference:
            continue
        try:
            sitemaps[join(f"{origin}/robots.txt", reference)] = None
        except BadUrl:
            continue
        if len(sitemaps) == MAX_SITEMAPS:
            break
    return list(sitemaps)
