"""Limits against traps: what a crawl does not put into its queue, and why. Pure.

Calendars, growing paths, session ids and pages of a hundred thousand links make endlessly many URLs that
are each well-formed. What is refused is counted by cause, never silently lost.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from crawler.frontier.domains import host_of
from crawler.http.urls import MAX_HOST_LENGTH

_SESSION = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|sessionid|session_id|sid|zenid|oscsid)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"[0-9]+")
_PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?;]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Budgets:
    """What a crawl allows: characters of a URL, depth from the seeds, links of a page, and so on.

    `per_host` URLs of one host, `per_pattern` URLs that differ only in digits, `per_query` in what
    their queries say; `repeats` of one path segment in a URL, `parameters` of a query.
    """

    length: int = 1000
    depth: int = 100
    links: int = 5_000
    per_host: int = 100_000
    per_pattern: int = 20_000
    per_query: int = 2_000
    repeats: int = 3
    parameters: int = 12


def shape_refusal(url: str, depth: int, budgets: Budgets) -> str:
    """Why this URL (canonical) is not queued, as one word; empty when nothing in itself speaks against it.

    A text that is no canonical URL has no host, and is refused as `address`.
    """
    if not 0 < len(host_of(url)) <= MAX_HOST_LENGTH:
        return "address"
    if len(url) > budgets.length:
        return "length"
    if depth > budgets.depth:
        return "depth"
    path, _, query = url.partition("?")
    segments = path.split("/")[3:]
    if (
        len(segments) > budgets.repeats
        and max(Counter(filter(None, segments)).values(), default=0) > budgets.repeats
    ):
        return "repeats"
    if query.count("&") >= budgets.parameters:
        return "parameters"
    return ""


def pattern(url: str) -> str:
    """What endless families of URLs share: host and path with digits as 0, and the names in the query."""
    path, mark, query = url.partition("?")
    scheme, slashes, rest = path.partition("//")
    host, slash, names = rest.partition("/")
    family = scheme + slashes + host + slash + _DIGITS.sub("0", names)
    if mark:
        family += "?" + "&".join(sorted({field.partition("=")[0] for field in query.split("&")}))
    return family[:500]


def room_of(family: str, budgets: Budgets) -> int:
    """How many URLs of a pattern are queued: fewer where only a query tells them apart."""
    return budgets.per_query if "?" in family else budgets.per_pattern


def without_session(url: str) -> str:
    """The URL without what only tells one visitor from another."""
    base, mark, query = (_PATH_SESSION.sub("", url) if ";" in url else url).partition("?")
    if not mark:
        return base
    kept = [field for field in query.split("&") if not _SESSION.fullmatch(field.partition("=")[0])]
    return f"{base}?{'&'.join(kept)}" if kept else base
