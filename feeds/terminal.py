"""Retrieval of a feed: conditional GET, body hash, parsing, comparison with known entries."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace as replace_response

from django.conf import settings
from msgspec.structs import replace
from requests.utils import parse_header_links

from crawler.failures import Failure, FetchError
from crawler.fetching.http.client import ACCEPT_FEED, Client, Response
from crawler.fetching.http.site_lines import Robots
from crawler.fetching.http.urls import BadUrl, join
from crawler.messages import Assignment, Harvest
from crawler.reading.documents import Disagreement, FeedDocument, FeedLink, Listed, ReadSource, RetrievedFeed
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import compare, feed_links, looks_like_html, merged, opinion_of, parse_feed
from crawler.reading.limits import LIMITS
from crawler.reading.sitemap import is_sitemap
from crawler.reading.sources.kinds import FEED, SITEMAP
from crawler.reading.sources.read import Received, read_source
from crawler.reading.sources.sitemap import sitemaps_of_index
from crawler.terminals import readers
from crawler.terminals.answers import answered, refused
from crawler.terminals.handlers import serves
from crawler.terminals.stored import stored_page
from feeds.orders import FeedOrder, PushOrder
from feeds.sources import likely_feeds, podcast_named

MAX_GUESSING_SECONDS = 20.0
"""Time for requests of usual addresses on a page's site, after which no other is asked."""

MAX_SITEMAPS = 4
"""Sitemaps of an index that are asked for at one visit."""
MAX_PAGES = 3
"""Further pages of a list that are asked for at one visit."""
SECOND_OPINIONS = 50
"""Of so many documents after a feed's first, one is read by a second reader as well."""


@serves("feed")
def retrieve_feed(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Retrieve a feed. Returns its harvest, which names any failure instead of raising it."""
    at, order = time.time(), assignment.ordered(FeedOrder)
    try:
        response = client.get(
            assignment.url,
            accept=ACCEPT_FEED,
            etag=assignment.etag,
            last_modified=assignment.last_modified,
            subscribers=order.subscribers,
            spacing=spacing,
        )
    except FetchError as error:
        return refused(assignment, at, error)
    if response.status == 304:
        return answered(assignment, at, response, unchanged=True)
    body_hash = hashlib.sha256(response.body).hexdigest()
    if body_hash == assignment.body_hash:
        return answered(assignment, at, response, unchanged=True, body_hash=body_hash)
    try:
        read = _read_source(client, assignment, response, spacing)
    except ReadingError as error:
        return answered(
            assignment,
            at,
            response,
            failure=error.kind.value,
            detail=error.detail,
            payload=RetrievedFeed(links=_feeds_of_page(client, assignment, response, spacing)),
        )
    document = read.document
    if read.is_index:
        response, body_hash = replace_response(response, etag="", last_modified=""), ""
    if document is None:
        return answered(
            assignment,
            at,
            response,
            failure=Failure.LIST_MISSING.value,
            payload=RetrievedFeed(proposal=read.proposal),
        )
    page = (
        stored_page(response) if settings.PIPELINE_STORED and (document.entries or document.edited) else None
    )
    is_asked = order.source == FEED and (order.wants_opinion or _is_drawn(body_hash))
    opinion = _second_opinion(response) if is_asked and not readers.is_busy() else None
    found = RetrievedFeed(document, page, opinion=opinion)
    return answered(assignment, at, response, body_hash=body_hash, payload=found)


def _read_source(client: Client, assignment: Assignment, response: Response, spacing: float) -> ReadSource:
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


def _read(kind: str, order: FeedOrder, response: Response, known: bytes) -> ReadSource:
    received = Received(response.body, response.url, response.content_type)
    return readers.read(read_source, received, kind, order.rules, known)


def _read_index(client: Client, order: FeedOrder, below: Sequence[Listed], spacing: float) -> ReadSource:
    """Return what the sitemaps of an index have that is new, those of news first, then the newest.

    One that cannot be read harms no other. Raises ReadingError when none can be.
    """
    documents: list[FeedDocument] = []
    known, fault = order.known, ReadingError("malformed", "none of its sitemaps can be read")
    until = time.monotonic() + MAX_GUESSING_SECONDS
    for listed in below[:MAX_SITEMAPS]:
        if time.monotonic() > until:
            break
        try:
            response = client.get(listed.url, accept=ACCEPT_FEED, spacing=spacing)
            document = _read(SITEMAP, order, response, known).document
        except ReadingError as error:
            fault = error
            continue
        except FetchError as error:
            fault = ReadingError("malformed", f"{listed.url}: {error.label}")
            continue
        if document is not None:
            documents.append(document)
            known = document.fingerprints
    if not documents:
        raise fault
    return ReadSource(
        replace(
            documents[0],
            entries=tuple(entry for one in documents for entry in one.entries)[: LIMITS.entries],
            fingerprints=known,
            size=sum(one.size for one in documents),
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


def _is_drawn(body_hash: str) -> bool:
    """Return whether a document is one of those that are read twice: by its digest, so always the same."""
    return int(body_hash[:8], 16) % SECOND_OPINIONS == 0


def _second_opinion(response: Response) -> tuple[Disagreement, ...] | None:
    """Return where a second reader disagrees about a feed.

    It takes four times as long as the first reading, so it is asked only while no other document waits: with
    it, a thousand new feeds took 2.8 times as long. A feed that was left out is asked about another time. A
    reading of its own, with its own time: a document that is too much for the second reader is not lost for
    the first.
    """
    try:
        return readers.read(opinion_of, response.body, url=response.url, content_type=response.content_type)
    except ReadingError:
        return ()


@serves("push")
def read_push(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Read a document pushed by a hub as a feed, without a request.

    The document may be the whole feed or only its new entries, so entries known before stay known.
    """
    at, order = time.time(), assignment.ordered(PushOrder)
    try:
        whole = readers.read(parse_feed, order.content, url=assignment.url, content_type=order.content_type)
    except ReadingError as error:
        failure = error.kind.value
        return Harvest("push", assignment.id, at, assignment.url, failure=failure, detail=error.detail)
    document = compare(whole, order.known)
    document = replace(document, fingerprints=merged(document.fingerprints, order.known))
    size = len(order.content)
    return Harvest("push", assignment.id, at, assignment.url, bytes=size, payload=RetrievedFeed(document))


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


def _feeds_of_page(
    client: Client, assignment: Assignment, response: Response, spacing: float
) -> tuple[FeedLink, ...]:
    """Return the feeds of a page that was retrieved in place of a feed.

    Those that it names; if it names none, at the first visit, the first that stands at a usual address.
    """
    if podcast := podcast_named(response.body):
        return (FeedLink(podcast),)
    if not looks_like_html(response.body, response.content_type):
        return ()
    try:
        links = readers.read(
            feed_links,
            response.body,
            url=response.url,
            content_type=response.content_type,
            header=response.headers.get("link", ""),
        )
    except ReadingError:
        links = ()
    if links or not assignment.ordered(FeedOrder).is_first:
        return links
    until = time.monotonic() + MAX_GUESSING_SECONDS
    for guess in likely_feeds(response.url):
        if time.monotonic() > until:
            break
        if _is_feed(client, guess, spacing):
            return (FeedLink(guess),)
    return ()


def _is_feed(client: Client, url: str, spacing: float) -> bool:
    try:
        response = client.get(url, accept=ACCEPT_FEED, spacing=spacing)
        readers.read(parse_feed, response.body, url=response.url, content_type=response.content_type)
    except (FetchError, ReadingError):
        return False
    return True
