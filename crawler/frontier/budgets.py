"""Limits against traps: what a crawl does not put into its queue, and why. Pure.

Calendars, growing paths, session ids and pages of a hundred thousand links make endlessly many URLs that
are each well-formed. What is refused is counted by cause, never silently lost.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

_SESSION = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|sessionid|session_id|sid|zenid|oscsid)",
    re.IGNORECASE,
)
_PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?;]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Budgets:
    """What a crawl allows: characters of a URL, depth from the seeds, links of a page, and so on.

    `per_host` URLs of one host, `per_pattern` URLs that differ only in digits or in their query,
    `repeats` of one path segment in a URL, `parameters` of a query.
    """

    length: int = 1000
    depth: int = 100
    links: int = 5_000
    per_host: int = 100_000
    per_pattern: int = 2_000
    repeats: int = 3
    parameters: int = 12


def shape_refusal(url: str, depth: int, budgets: Budgets) -> str:
    """Why this URL is not queued, as one word; empty when nothing in itself speaks against it."""
    if len(url) > budgets.length:
        return "length"
    if depth > budgets.depth:
        return "depth"
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if segments and Counter(segments).most_common(1)[0][1] > budgets.repeats:
        return "repeats"
    if parts.query.count("&") + 1 > budgets.parameters:
        return "parameters"
    return ""


def pattern(url: str) -> str:
    """What endless families of URLs share: host and path with digits as 0, and the names in the query."""
    parts = urlsplit(url)
    path = re.sub(r"[0-9]+", "0", parts.path)
    names = (
        "&".join(sorted({field.partition("=")[0] for field in parts.query.split("&")})) if parts.query else ""
    )
    return f"{parts.netloc}{path}?{names}"[:500]


def without_session(url: str) -> str:
    """The URL without what only tells one visitor from another."""
    base, mark, query = _PATH_SESSION.sub("", url).partition("?")
    if not mark:
        return base
    kept = [field for field in query.split("&") if not _SESSION.fullmatch(field.partition("=")[0])]
    return f"{base}?{'&'.join(kept)}" if kept else base
