"""What robots.txt says, and its lines about the whole site: its sitemaps. For both sides. Pure."""

from __future__ import annotations

import re

from crawler.http.urls import BadUrl, join
from crawler.text.records import Record

MAX_LINE = 4096
"""Characters; longer lines of a robots.txt are left out."""

MAX_SITEMAPS = 20

_SITE_LINE = re.compile(r"(?:(site-?maps?)|host)\s*:(.*)", re.IGNORECASE)


class Robots(Record, frozen=True):
    """An origin's robots.txt as last read: `status` 200 with its text, 404 without, 500 when unreadable.

    `at` is when; `tried` when it was last asked for in vain, 0 where it was not (both epoch seconds).
    """

    status: int
    text: str
    at: float
    origin: str = ""
    tried: float = 0.0


def is_site_line(line: str) -> bool:
    """Whether a line (without comment and blanks around it) is about the site, and so ends no group."""
    return _SITE_LINE.match(line) is not None


def sitemaps_in(text: str, origin: str) -> list[str]:
    """The sitemaps that a robots.txt of this origin names: canonical URLs, each once, 20 at most.

    A relative one belongs to the address that was asked for, wherever that led (RFC 9309, section
    2.3.1.2). What is no address of the web is left out.
    """
    found: dict[str, None] = {}
    for raw in text.splitlines():
        if len(raw) > MAX_LINE:
            continue
        line = _SITE_LINE.match(raw.partition("#")[0].strip())
        reference = line[2].strip() if line and line[1] else ""
        if not reference:
            continue
        try:
            found[join(f"{origin}/robots.txt", reference)] = None
        except BadUrl:
            continue
        if len(found) == MAX_SITEMAPS:
            break
    return list(found)
