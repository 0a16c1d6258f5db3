"""Retrieval of a feed: conditional GET, body hash, parsing, comparison with known entries."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace as replace_response

from django.conf import settings
from msgspec.structs import replace

from crawler.failures import Failure, FetchError
from crawler.fetching.http.client import ACCEPT_FEED, Client, Response
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Assignment, Harvest
from crawler.reading.documents import Disagreement, RetrievedFeed
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import compare, merged, opinion_of, parse_feed
from crawler.reading.sources.kinds import FEED
from crawler.terminals import readers
from crawler.terminals.answers import answered, refused
from crawler.terminals.browsing import browsed
from crawler.terminals.handlers import serves
from crawler.terminals.stored import stored_page
from feeds.orders import FeedOrder, PushOrder
from feeds.terminal_finding import feeds_of_page, found_anew
from feeds.terminal_reading import read_whole

SECOND_OPINIONS = 50
"""Of so many documents after a feed's first, one is read by a second reader as well."""


@serves("feed")
def retrieve_feed(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Retrieve a feed. Returns its harvest, which names any failure instead of raising it."""
    at, order = time.time(), assignment.ordered(FeedOrder)
    try:
        response = _answer_for(client, assignment, spacing)
    except FetchError as error:
        harvest = refused(assignment, at, error)
        if not (order.is_lost or error.kind == Failure.GONE):
            return harvest
        return replace(harvest, payload=RetrievedFeed(links=found_anew(client, assignment, spacing)))
    if response.status == 304:
        return answered(assignment, at, response, unchanged=True)
    body_hash = hashlib.sha256(response.body).hexdigest()
    if body_hash == assignment.body_hash:
        return answered(assignment, at, response, unchanged=True, body_hash=body_hash)
    return _read(client, assignment, at, response, spacing)


def _answer_for(client: Client, assignment: Assignment, spacing: float) -> Response:
    """Return the answer of the address, or the page there as a browser shows it. Raises FetchError."""
    order = assignment.ordered(FeedOrder)
    if order.rules.browser:
        return browsed(client, assignment.url, (), spacing)[0]
    return client.get(
        assignment.url,
        accept=ACCEPT_FEED,
        etag=assignment.etag,
        last_modified=assignment.last_modified,
        subscribers=order.subscribers,
        spacing=spacing,
    )


def _read(client: Client, assignment: Assignment, at: float, response: Response, spacing: float) -> Harvest:
    """Return the harvest of a document that is not the one that was read before."""
    order, body_hash = assignment.ordered(FeedOrder), hashlib.sha256(response.body).hexdigest()
    try:
        read = read_whole(client, assignment, response, spacing)
    except ReadingError as error:
        links = feeds_of_page(client, assignment, response, spacing) if order.source == FEED else ()
        return answered(
            assignment,
            at,
            response,
            failure=error.kind.value,
            detail=error.detail,
            payload=RetrievedFeed(links=links),
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
    payload = RetrievedFeed(document, page, opinion=opinion, proposal=read.proposal)
    return answered(assignment, at, response, body_hash=body_hash, payload=payload)


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
