"""Limits against crawler traps: URLs that a crawl does not queue, and the causes. Pure functions.

Calendars, growing paths, session ids and pages of a hundred thousand links produce endlessly many URLs that
are each well-formed. Refused URLs are counted by cause, never silently lost.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from crawler.fetching.http.domains import host_of
from crawler.fetching.http.urls import MAX_HOST_LENGTH
from crawler.text.marking import gettext_noop

CAUSES = (
    gettext_noop("scope"), gettext_noop("address"), gettext_noop("length"), gettext_noop("depth"),
    gettext_noop("repeats"), gettext_noop("parameters"), gettext_noop("hosts"), gettext_noop("pages"),
)  # fmt: skip
"""The causes for which a URL is not queued, as pages name them."""

MAX_REDIRECTS = 10
"""Maximum number of redirects in a row; each redirect's target is a URL and a separate request."""

# A site can answer with redirects and errors for ever, which are requests and no pages.
MAX_REQUESTS_PER_PAGE = 4
SPARE_REQUESTS = 100
MAX_SECONDS_PER_PAGE = 15.0
SPARE_SECONDS = 24 * 3600.0
MAX_CRAWL_SECONDS = 90 * 24 * 3600.0

_SESSION = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|sessionid|session_id|sid|zenid|oscsid)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"[0-9]+")
_PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?;]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Budgets:
    """The limits of a crawl.

    `length` is in characters of a URL, `depth` in links from the seeds, `links` per page, `per_host` in URLs
    of one host, `per_pattern` in URLs that differ only in digits, `per_query` in URLs that differ in the
    values of their query, `repeats` in occurrences of one path segment, `parameters` in parameters of a
    query.
    """

    # Longer ones are mostly sessions and traps; RFC 9110 asks servers for 8,000 octets all the same.
    length: int = 1000
    depth: int = 100
    links: int = 5_000
    per_host: int = 100_000
    per_pattern: int = 20_000
    per_query: int = 2_000
    repeats: int = 3
    parameters: int = 12


def max_requests(max_pages: int | None) -> int | None:
    """Return the maximum number of requests for a crawl of `max_pages`. Returns None without a page limit.

    Redirects, errors and repeated attempts are requests but not pages: a site can send them endlessly.
    """
    return None if max_pages is None else MAX_REQUESTS_PER_PAGE * max_pages + SPARE_REQUESTS


def max_seconds(max_pages: int | None, max_minutes: float | None) -> float:
    """Return the maximum running time in seconds.

    This is the crawl's own limit if it has one. Otherwise it follows from `max_pages`, and is 90 days at
    most.
    """
    if max_minutes is not None:
        return max_minutes * 60
    if max_pages is None:
        return MAX_CRAWL_SECONDS
    return min(SPARE_SECONDS + MAX_SECONDS_PER_PAGE * max_pages, MAX_CRAWL_SECONDS)


def shape_refusal(url: str, depth: int, budgets: Budgets) -> str:
    """Return the cause, in one word, why a canonical URL is not queued. Returns "" when it may be.

    A text without a host, or with too long a host, is refused as `address`.
    """
    if not 0 < len(host_of(url)) <= MAX_HOST_LENGTH:
        return "address"
    if len(url) > budgets.length:
        return "length"
    if depth > budgets.depth:
        return "depth"
    path, _, query = url.partition("?")
    # /a/b/a/b/a/b: a relative link on a site that answers every path makes addresses that grow by themselves.
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
    """Return the URL's pattern: digits in the path as 0, and only the names of the query's parameters."""
    path, mark, query = url.partition("?")
    scheme, slashes, tail = path.partition("//")
    host, slash, names = tail.partition("/")
    family = scheme + slashes + host + slash + _DIGITS.sub("0", names)
    if mark:
        # Sorted names: a calendar that swaps its parameters is one pattern.
        family += "?" + "&".join(sorted({field.partition("=")[0] for field in query.split("&")}))
    return family[:500]


def room_of(family: str, budgets: Budgets) -> int:
    """Return the maximum number of queued URLs of a pattern, which is lower for patterns with a query."""
    return budgets.per_query if "?" in family else budgets.per_pattern


def without_session(url: str) -> str:
    """Return the URL without session ids."""
    base, mark, query = (_PATH_SESSION.sub("", url) if ";" in url else url).partition("?")
    if not mark:
        return base
    # A new session id at every visit makes new URLs of the same pages without end.
    fields = [field for field in query.split("&") if not _SESSION.fullmatch(field.partition("=")[0])]
    return f"{base}?{'&'.join(fields)}" if fields else base
