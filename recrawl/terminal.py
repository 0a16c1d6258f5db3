"""Fetches of watched pages and of the sources that announce their news: conditional, and read only if
changed.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from crawler.frontier.terminal import read_page, redirect_of
from crawler.http.client import ACCEPT_FEED, ACCEPT_PAGE, Client, Response
from crawler.http.failures import FetchError
from crawler.http.robots import check_allowed, product_of
from crawler.http.site_lines import Robots
from crawler.http.urls import BadUrl, canonical_url
from crawler.messages import Assignment, Harvest
from crawler.reading.documents import Entry, Listed, ListedPages
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.sitemap import is_sitemap, read_sitemap
from crawler.terminals import readers
from crawler.terminals.answers import answered, refused
from crawler.terminals.handlers import serves
from crawler.text.keys import digest_of_bytes

MAX_LISTED = 50_000
"""Pages read from one sitemap at most: the limit of sitemaps.org."""


@serves("watch", asks_robots=True)
def watch_page(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Return the harvest of a page: `unchanged` on 304, and if its bytes are those of the stored copy."""

    def read(response: Response) -> dict[str, Any]:
        if response.status not in {200, 226}:
            return {"payload": redirect_of(response)}
        page = readers.read(read_page, response, assignment, product_of(client.config.user_agent))
        return {"body_hash": page.digest, "payload": replace(page, headers=())}

    return _fetch_conditionally(
        client, assignment, rules, read, accept=ACCEPT_PAGE, spacing=spacing, follow=False
    )


@serves("source", asks_robots=True)
def read_source(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Return the harvest of a sitemap or a feed: the pages that it names. `unchanged` as in `watch_page`."""

    def read(response: Response) -> dict[str, Any]:
        return {"body_hash": _hash(response), "payload": readers.read(listed_pages, response)}

    return _fetch_conditionally(client, assignment, rules, read, accept=ACCEPT_FEED, spacing=spacing)


def _fetch_conditionally(
    client: Client,
    assignment: Assignment,
    rules: Robots | None,
    read: Callable[[Response], dict[str, Any]],
    **how: Any,
) -> Harvest:
    """Make a conditional GET and read the response. Failures are reported in the harvest, not raised."""
    at = time.time()
    try:
        check_allowed(rules, assignment.url, client.config.user_agent)
        response = client.get(
            assignment.url, etag=assignment.etag, last_modified=assignment.last_modified, **how
        )
        if response.status == 304 or _same(response, assignment):
            return answered(assignment, at, response, unchanged=True, body_hash=assignment.body_hash)
        return answered(assignment, at, response, **read(response))
    except FetchError as error:
        return refused(assignment, at, error)
    except ReadingError as error:
        return answered(assignment, at, response, failure=error.kind.value, detail=error.detail)


def listed_pages(response: Response) -> ListedPages:
    """Return the named pages with their stamps, and whether they are sitemaps. Raises ReadingError."""
    if is_sitemap(response.body):
        listed, _, index = read_sitemap(response.body, response.url, MAX_LISTED)
        return ListedPages(listed, index)
    feed = parse_feed(response.body, url=response.url, content_type=response.content_type)
    pages: dict[str, Listed] = {}
    for entry in feed.entries:
        try:
            address = canonical_url(entry.url)
        except BadUrl:
            continue
        pages.setdefault(address, Listed(address, _stamp(entry)))
    return ListedPages(tuple(pages.values()))


def _stamp(entry: Entry) -> str:
    """Return a stamp that changes with the entry: its time and a digest of its text."""
    words = f"{entry.title}\n{entry.summary}\n{entry.content}".encode("utf-8", "replace")
    return f"{entry.updated or entry.published or ''} {hashlib.blake2b(words, digest_size=6).hexdigest()}"


def _hash(response: Response) -> str:
    return digest_of_bytes(response.body).hex


def _same(response: Response, assignment: Assignment) -> bool:
    return (
        response.status in {200, 226}
        and bool(assignment.body_hash)
        and _hash(response) == assignment.body_hash
    )
