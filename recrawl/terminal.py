"""Fetches of watched pages and of the sources that announce their news: conditional, and read only if
changed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from crawler.failures import FetchError
from crawler.fetching.browser.steps import checked_steps
from crawler.fetching.http.client import ACCEPT_ANY, ACCEPT_FEED, ACCEPT_PAGE, Client, Response
from crawler.fetching.http.robots import check_allowed, product_of
from crawler.fetching.http.site_lines import Robots
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.frontier.orders import PageOrder
from crawler.frontier.terminal import NO_COPY, page_links, read_page, redirect_of, title_of
from crawler.messages import Assignment, Harvest
from crawler.reading.detect import HTML, XHTML, detect
from crawler.reading.documents import CrawledPage, Entry, Listed, ListedPages
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.limits import LIMITS
from crawler.reading.lines import packed
from crawler.reading.offers import offer_of, unstruck_price
from crawler.reading.pages.tree import text_of, whole_tree
from crawler.reading.parts import ReadingRules
from crawler.reading.robots_directives import directives_of
from crawler.reading.sitemap import is_list_of_addresses, is_sitemap, read_sitemap
from crawler.reading.watched import chosen_values, document_lines
from crawler.terminals import readers
from crawler.terminals.answers import answered, refused
from crawler.terminals.browsing import browsed
from crawler.terminals.handlers import serves
from crawler.terminals.stored import stored_page
from crawler.text.keys import digest_of_bytes
from recrawl.comparing.visual import screenshot_of

MAX_LISTED = 50_000
"""Pages read from one sitemap at most: the limit of sitemaps.org."""


@serves("watch", asks_robots=True)
def watch_page(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Return the harvest of a page: `unchanged` on 304, and if its bytes are those of the stored copy."""

    def read(response: Response) -> dict[str, Any]:
        if response.status not in {200, 226}:
            return {"payload": redirect_of(response)}
        page = readers.read(
            read_page, response, assignment.ordered(PageOrder), product_of(client.config.user_agent)
        )
        # Headers belong to a kept copy; without one they are bytes that change with each answer.
        return {
            "body_hash": page.digest,
            "payload": page if assignment.ordered(PageOrder).keeps_body else replace(page, headers=()),
        }

    return _fetch_conditionally(
        client, assignment, rules, read, accept=ACCEPT_PAGE, spacing=spacing, follow=False
    )


@serves("document", asks_robots=True)
def watch_document(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Return the harvest of a chosen page of any type; redirects are followed. `unchanged` as above."""

    def read(response: Response) -> dict[str, Any]:
        product = product_of(client.config.user_agent)
        document = readers.read(read_document, response, assignment.ordered(PageOrder), product)
        return {"body_hash": document.digest, "payload": document}

    return _fetch_conditionally(client, assignment, rules, read, accept=ACCEPT_ANY, spacing=spacing)


def read_document(response: Response, order: PageOrder, product: str) -> CrawledPage:
    """Read the lines of a document's chosen parts, its title and its offer.

    Raises ReadingError: robots for a page that asks for no copy, and as `document_lines` does.
    """
    reading = ReadingRules(order.parts, order.selectors or (), order.compared)
    lines = document_lines(response.body, response.content_type, response.url, reading)
    page = replace(stored_page(response), lines=packed(lines))
    if not order.keeps_body:
        page = replace(page, body=b"", headers=())
    is_page = detect(response.body, response.content_type, response.url).type in {HTML, XHTML}
    text = text_of(response.body, response.content_type) if is_page else ""
    root = whole_tree(text, LIMITS.link_elements) if is_page else None
    # A page that asks for no copy is not read either: its lines and its versions would be copies.
    if not directives_of(root, response.headers, product).copy:
        raise ReadingError("robots", NO_COPY)
    if root is None:
        return page
    # What the page states comes before what looks like a price among the chosen parts.
    offer = offer_of(root, response.url) or unstruck_price(chosen_values(root, reading))
    return replace(page, title=title_of(root), offer=offer)


@serves("look", asks_robots=True)
def look_at_page(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Return the harvest of a page as a browser shows it: its text after the steps, and a screenshot."""
    at = time.time()
    try:
        check_allowed(rules, assignment.url, client.config.user_agent)
        steps = checked_steps(json.loads(assignment.ordered(PageOrder).steps or "[]"))
        response, browser_look = browsed(client, assignment.url, steps, spacing)
        product = product_of(client.config.user_agent)
        document = readers.read(
            read_look, response, assignment.ordered(PageOrder), product, browser_look.screenshot
        )
        return answered(assignment, at, response, body_hash=document.digest, payload=document)
    except FetchError as error:
        return refused(assignment, at, error)
    except ReadingError as error:
        return answered(assignment, at, response, failure=error.kind.value, detail=error.detail)


def read_look(response: Response, order: PageOrder, product: str, screenshot: bytes) -> CrawledPage:
    """Read a page as a browser shows it. Raises ReadingError as `read_document` does."""
    page = read_document(response, order, product)
    root = whole_tree(text_of(response.body, response.content_type), LIMITS.link_elements)
    page = page if root is None else replace(page, links=page_links(root, response.url).urls)
    if not screenshot:
        return page
    try:
        picture, grid = screenshot_of(screenshot)
    except ValueError as error:
        raise ReadingError("malformed", str(error)) from error
    return replace(page, picture=picture, look=grid)


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
        # Many servers send no validators: equal bytes are the 304 that they do not have.
        if response.status == 304 or _same(response, assignment):
            return answered(assignment, at, response, unchanged=True, body_hash=assignment.body_hash)
        return answered(assignment, at, response, **read(response))
    except FetchError as error:
        return refused(assignment, at, error)
    except ReadingError as error:
        return answered(assignment, at, response, failure=error.kind.value, detail=error.detail)


def listed_pages(response: Response) -> ListedPages:
    """Return the named pages with their stamps, and whether they are sitemaps. Raises ReadingError."""
    # By the bytes: the order names only an address, and robots.txt may name a feed as a sitemap.
    if is_sitemap(response.body) or is_list_of_addresses(response.body):
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
    # Feeds without dates, or with those of the visit, still show by their text which entry was edited.
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
