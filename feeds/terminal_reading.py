"""The reading of a source at a terminal, with the further documents that belong to it: those of an index of
sitemaps, the next pages of a list.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import replace
from requests.utils import parse_header_links

from crawler.failures import FetchError
from crawler.fetching.http.client import ACCEPT_FEED, Client, Response
from crawler.fetching.http.urls import BadUrl, join
from crawler.messages import Assignment
from crawler.reading.documents import FeedDocument, Listed, ReadSource
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import compare, parse_feed
from crawler.reading.limits import LIMITS
from crawler.reading.sitemap import is_sitemap
from crawler.reading.sources.kinds import FEED, SITEMAP
from crawler.reading.sources.read import Received, read_source
from crawler.reading.sources.sitemap import sitemaps_of_index
from crawler.terminals import readers
from feeds.orders import FeedOrder

MAX_INDEX_SECONDS = 20.0
"""Time for requests of the sitemaps of an index, after which no other is asked."""
MAX_SITEMAPS = 4
"""Sitemaps of an index that are asked for at one visit."""
MAX_PAGES = 3
"""Further pages of a list that are asked for at one visit."""


def read_whole(client: Client, assignment: Assignment, response: Response, spacing: float) -> ReadSource:
    """Return what a source shows. Raises ReadingError.

    What was added as a feed and turns out to be a sitemap is read as one.
    """
    order = assignment.ordered(FeedOrder)
    kind = order.source
    if kind == FEED and not order.known and is_sitemap(response.body):
        kind = SITEMAP
    if kind == FEED:
        return ReadSource(readers.read(read_feed, response, order.known))
    if kind == SITEMAP and (below := readers.read(sitemaps_of_index, response.body, response.url)):
        return _read_index(client, order, below, spacing)
    read = _read(kind, order, response, order.known)
    if read.next and read.document is not None:
        read = _with_next_pages(client, order, read, spacing)
    return read


def _read(kind: str, order: FeedOrder, response: Response, fingerprints: bytes) -> ReadSource:
    received = Received(response.body, response.url, response.content_type)
    return readers.read(read_source, received, kind, order.rules, fingerprints)


def _read_index(client: Client, order: FeedOrder, below: Sequence[Listed], spacing: float) -> ReadSource:
    """Return what the sitemaps of an index have that is new, those of news first, then the newest.

    One that cannot be read harms no other. Raises ReadingError when none can be.
    """
    documents: list[FeedDocument] = []
    fingerprints, fault = order.known, ReadingError("malformed", "none of its sitemaps can be read")
    until = time.monotonic() + MAX_INDEX_SECONDS
    for listed in below[:MAX_SITEMAPS]:
        if time.monotonic() > until:
            break
        try:
            response = client.get(listed.url, accept=ACCEPT_FEED, spacing=spacing)
            document = _read(SITEMAP, order, response, fingerprints).document
        except ReadingError as error:
            fault = error
            continue
        except FetchError as error:
            fault = ReadingError("malformed", f"{listed.url}: {error.label}")
            continue
        if document is not None:
            documents.append(document)
            fingerprints = document.fingerprints
    if not documents:
        raise fault
    return ReadSource(
        replace(
            documents[0],
            entries=tuple(entry for part in documents for entry in part.entries)[: LIMITS.entries],
            fingerprints=fingerprints,
            size=sum(part.size for part in documents),
        ),
        is_index=True,
    )


def _with_next_pages(client: Client, order: FeedOrder, read: ReadSource, spacing: float) -> ReadSource:
    """Return a list with what the pages after it have, as long as all of a page is new: at most MAX_PAGES."""
    document, address = read.document, read.next
    for _ in range(MAX_PAGES):
        if document is None or not address or (order.known and len(document.entries) < document.size):
            break
        try:
            response = client.get(address, accept=ACCEPT_FEED, spacing=spacing)
            further = _read(order.source, order, response, document.fingerprints)
        except (FetchError, ReadingError):
            break
        if further.document is None or not further.document.entries:
            break
        document = replace(
            document,
            entries=(*document.entries, *further.document.entries)[: LIMITS.entries],
            fingerprints=further.document.fingerprints,
            size=document.size + further.document.size,
        )
        address = further.next
    return ReadSource(document)


def read_feed(response: Response, known_fingerprints: bytes) -> FeedDocument:
    """Return the feed of a response, without entries in `known_fingerprints`. Raises ReadingError."""
    document = parse_feed(response.body, url=response.url, content_type=response.content_type)
    return compare(_with_links(document, response), known_fingerprints)


def _with_links(document: FeedDocument, response: Response) -> FeedDocument:
    """Return the document with the hub and topic of the Link header, which takes precedence (WebSub, 4)."""
    links: dict[str, str] = {}
    for link in parse_header_links(response.headers.get("link", "")):
        try:
            address = join(response.url, str(link.get("url", "")))
        except BadUrl:
            continue
        for rel in str(link.get("rel", "")).lower().split():
            links.setdefault(rel, address)
    if "hub" not in links:
        return document
    return replace(document, hub=links["hub"], self_url=links.get("self", document.self_url))
