"""The search for feeds at a terminal: those of a page in place of one, and those that were lost."""

from __future__ import annotations

import time

from crawler.failures import FetchError
from crawler.fetching.http.client import ACCEPT_FEED, Client, Response
from crawler.fetching.http.urls import BadUrl, join
from crawler.messages import Assignment
from crawler.reading.documents import FeedLink
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import feed_links, looks_like_html, parse_feed
from crawler.reading.feeds.fingerprints import known_identities
from crawler.terminals import readers
from feeds.adding.sources import likely_feeds, podcast_named, program_feeds
from feeds.orders import FeedOrder
from feeds.terminal_reading import read_feed

MAX_GUESSING_SECONDS = 20.0
"""Time for requests of usual addresses on a page's site, after which no other is asked."""
MAX_ANEW = 3
"""Feeds of a site that are read to find a lost one."""


def feeds_of_page(
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
    for guess in likely_feeds(response.url, program_feeds(response.body, response.url)):
        if time.monotonic() > until:
            break
        if _is_feed(client, guess, spacing):
            return (FeedLink(guess),)
    return ()


def found_anew(client: Client, assignment: Assignment, spacing: float) -> tuple[FeedLink, ...]:
    """Return the feed that the site of a lost one names: one with entries that are known, else the first.

    Nothing is returned where the site is lost, too, or names no other feed that can be read.
    """
    order = assignment.ordered(FeedOrder)
    readable: list[FeedLink] = []
    known_ids = known_identities(order.known)
    try:
        page = client.get(order.site or join(assignment.url, "/"), accept=ACCEPT_FEED, spacing=spacing)
        links = readers.read(feed_links, page.body, url=page.url, content_type=page.content_type)
    except (FetchError, ReadingError, BadUrl):
        return ()
    for link in [candidate for candidate in links if candidate.url != assignment.url][:MAX_ANEW]:
        try:
            response = client.get(link.url, accept=ACCEPT_FEED, spacing=spacing)
            document = readers.read(read_feed, response, b"")
        except (FetchError, ReadingError):
            continue
        if known_ids & known_identities(document.fingerprints):
            return (link,)
        readable.append(link)
    return tuple(readable[:1])


def _is_feed(client: Client, url: str, spacing: float) -> bool:
    try:
        response = client.get(url, accept=ACCEPT_FEED, spacing=spacing)
        readers.read(parse_feed, response.body, url=response.url, content_type=response.content_type)
    except (FetchError, ReadingError):
        return False
    return True
