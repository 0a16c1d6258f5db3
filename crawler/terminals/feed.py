"""One retrieval of a feed: conditional GET, body hash, parsing, comparison with what is known."""

from __future__ import annotations

import hashlib
import time

from crawler.http.client import ACCEPT_FEED, Client, Response
from crawler.http.failures import Failure, FetchError
from crawler.messages import Assignment, FeedLink, Harvest
from crawler.terminals.answers import answered, refused
from crawler.terminals.turn import analysing
from feeds.parsing import FeedError, compare, feed_links, looks_like_html, parse_feed


def retrieve_feed(client: Client, assignment: Assignment, spacing: float) -> Harvest:
    """The harvest of a feed; every failure is named in it, nothing is raised."""
    at = time.time()
    try:
        response = client.get(
            assignment.url,
            accept=ACCEPT_FEED,
            etag=assignment.etag,
            last_modified=assignment.last_modified,
            subscribers=assignment.subscribers,
            spacing=spacing,
        )
    except FetchError as error:
        return refused(assignment, at, error)
    if response.status == 304:
        return answered(assignment, at, response, unchanged=True)
    body_hash = hashlib.sha256(response.body).hexdigest()
    if body_hash == assignment.body_hash:
        return answered(assignment, at, response, unchanged=True, body_hash=body_hash)
    with analysing:
        return _analyse(assignment, at, response, body_hash)


def _analyse(assignment: Assignment, at: float, response: Response, body_hash: str) -> Harvest:
    try:
        document = parse_feed(response.body, url=response.url, content_type=response.content_type)
    except FeedError as error:
        return answered(
            assignment,
            at,
            response,
            failure=Failure(error.kind).value,
            detail=error.detail,
            links=_feeds_named(response),
        )
    document = compare(document, assignment.known)
    return answered(assignment, at, response, feed=document, body_hash=body_hash)


def _feeds_named(response: Response) -> tuple[FeedLink, ...]:
    """The feeds that an HTML page names, in place of the feed that it is not."""
    if not looks_like_html(response.body, response.content_type):
        return ()
    return feed_links(response.body, url=response.url, content_type=response.content_type)
