"""The terminal's part of a crawl: robots.txt check, GET without following redirects, links of the page."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree, html
from msgspec.structs import replace

from crawler.failures import Failure, FetchError
from crawler.fetching.http.client import ACCEPT_ANY, ACCEPT_PAGE, Client, Response, location_of
from crawler.fetching.http.robots import check_allowed, product_of
from crawler.fetching.http.site_lines import Robots
from crawler.fetching.http.urls import BadUrl, canonical_url, host_key, join, page_key
from crawler.frontier.budgets import Budgets, without_session
from crawler.frontier.orders import PageOrder
from crawler.messages import Assignment, Harvest
from crawler.reading.detect import BINARY, EMPTY, HTML, XHTML, detect
from crawler.reading.documents import CrawledPage, FeedLink
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import declared_feeds, parse_feed
from crawler.reading.feeds.sniff import is_feed_root
from crawler.reading.limits import LIMITS
from crawler.reading.lines import packed, plain_lines
from crawler.reading.pages.tree import media_type, text_of, whole_tree
from crawler.reading.parts import ReadingRules
from crawler.reading.robots_directives import directives_of, vouched_for
from crawler.reading.sitemap import is_list_of_addresses, is_sitemap, sitemap_links
from crawler.reading.watched import page_lines
from crawler.terminals import readers
from crawler.terminals.answers import answered, refused
from crawler.terminals.handlers import serves
from crawler.terminals.stored import stored_page
from crawler.text.characters import storable

MAX_LINKS = Budgets().links
NO_COPY = "the page asks robots for no copy (noindex, noarchive): its content is not kept"
MAX_TITLE_CHARACTERS = 500
_USER = re.compile(r"^((?:https?:)?//)[^/?#@]*@", re.IGNORECASE)
"""A user name in a link, which is left out: the page itself is meant."""
_LINKS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}


@serves("crawl", asks_robots=True)
def crawl_page(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Fetch and read a page. Returns a harvest that names any failure, and raises nothing.

    A redirect is stored as a page with one link: its target is another URL of the crawl, fetched in its turn.
    """
    at, order = time.time(), assignment.ordered(PageOrder)
    try:
        check_allowed(rules, assignment.url, client.config.user_agent)
        accept = ACCEPT_ANY if order.any_type else ACCEPT_PAGE
        archived = order.selectors is None
        response = client.get(assignment.url, accept=accept, spacing=spacing, follow=False, errors=archived)
        if response.status not in {200, 226}:
            page = redirect_of(response)
            page = replace(_exchange(response), links=page.links) if archived else page
            return answered(assignment, at, response, payload=page)
        page = readers.read(read_page, response, order, product_of(client.config.user_agent))
        detail = "" if page.body or order.selectors is not None else NO_COPY
        return answered(assignment, at, response, payload=page, detail=detail)
    except FetchError as error:
        harvest = refused(assignment, at, error)
        if order.selectors is None and isinstance(error.response, Response):
            return replace(harvest, payload=_exchange(error.response))
        return harvest
    except ReadingError as error:
        # A document that is not read is recorded without its possibly huge content.
        page_without_body = replace(_exchange(response), body=b"") if archived else None
        failure = error.kind.value
        return answered(
            assignment, at, response, failure=failure, detail=error.detail, payload=page_without_body
        )


@dataclass(frozen=True, slots=True)
class Links:
    """The canonical URLs that a page links to; `more` were cut off, `withheld` are marked nofollow."""

    urls: tuple[str, ...] = ()
    more: int = 0
    withheld: int = 0


def page_links(root: html.HtmlElement, url: str, limit: int = MAX_LINKS, *, follow: bool = True) -> Links:
    """Return the links of a page without fragments and session ids, each once. None of a nofollow page.

    Leaves out references that are no web address (mailto:, javascript:, broken) and links to the page itself.
    A URL that one link marks as nofollow and another does not is followed.
    """
    base = _base(root, url)
    links: dict[str, None] = {}
    raw: set[str] = set()
    withheld: set[str] = set()
    links_over_limit = 0
    for reference, followed in _references(root):
        if reference in raw:
            continue
        if not (follow and followed):
            withheld.add(reference)
            continue
        raw.add(reference)
        try:
            plain = _USER.sub(r"\1", reference) if "@" in reference else reference
            link = without_session(join(base, plain))
            link = page_key(link) if "?" in link else link
        except BadUrl:
            continue
        if link in links or link == url:
            continue
        if len(links) >= limit:
            links_over_limit += 1
            continue
        links[link] = None
    return Links(tuple(links), links_over_limit, len(withheld - raw))


def _base(root: html.HtmlElement, url: str) -> str:
    """Return the base of relative links: the first `base` element with a valid address (HTML, 4.2.3)."""
    reference = next((href for element in root.iter("base") if (href := element.get("href")) is not None), "")
    try:
        return join(url, reference)
    except BadUrl:
        return url


def _references(root: html.HtmlElement) -> Iterator[tuple[str, bool]]:
    """Yield each reference, and whether it may be followed."""
    for element in root.iter(*_LINKS):
        reference = element.get(_LINKS[element.tag])
        if reference:
            yield reference.strip(), vouched_for(element.get("rel"))


def read_page(response: Response, order: PageOrder, product: str) -> CrawledPage:
    """Read the stored form and the links of a page. For a watched site, also its text lines and feeds.

    A page of a watched site is kept as text instead of bytes. Neither is kept when the page asks robots for
    no copy. `product` is the name by which a site may address our robot. Raises ReadingError for a type that
    is neither HTML nor text, or, with `any_type`, for one that the pipeline does not read.
    """
    links, title = Links(), ""
    feeds: tuple[FeedLink, ...] = ()
    lines: list[str] = []
    directives = directives_of(None, response.headers, product)
    watched = order.selectors is not None
    sitemap = is_sitemap(response.body) or _is_list(response, order.any_type)
    if sitemap:
        links = Links(*_list_links(response)) if directives.follow else links
    elif _is_page(response, order):
        root = whole_tree(text_of(response.body, response.content_type), LIMITS.link_elements)
        if root is not None:
            directives = directives_of(root, response.headers, product)
            links = page_links(root, response.url, follow=directives.follow)
            title = title_of(root)
            if order.selectors is not None:
                reading = ReadingRules(order.parts, order.selectors, order.compared)
                lines, feeds = page_lines(root, reading), declared_feeds(root, response.url)
    elif watched:
        lines = plain_lines(text_of(response.body, response.content_type))
    page = replace(
        stored_page(response),
        links=links.urls,
        cut=links.more,
        withheld=links.withheld,
        title=title,
        sitemap=sitemap,
        feeds=feeds,
    )
    if watched:
        keeps_body = order.keeps_body and directives.copy
        page = page if keeps_body else replace(page, body=b"")
        return replace(page, lines=packed(lines if directives.copy else []))
    return page if directives.copy else replace(page, body=b"")


def _is_list(response: Response, any_type: bool) -> bool:
    """Return whether a document names pages and is none: addresses as text, or a feed in a crawl of pages."""
    if response.content_type.partition(";")[0].strip().lower() in {"text/html", "application/xhtml+xml"}:
        return False
    return is_list_of_addresses(response.body) or (not any_type and is_feed_root(response.body))


def _list_links(response: Response) -> tuple[tuple[str, ...], int]:
    """Return the canonical URLs that a sitemap or feed names, and the number of further ones.

    A feed's are those on its own host. Which of a sitemap's may be asked for, the controller knows. Raises
    ReadingError.
    """
    if not is_feed_root(response.body):
        return sitemap_links(response.body, response.url, MAX_LINKS)
    feed = parse_feed(response.body, url=response.url, content_type=response.content_type)
    urls: dict[str, None] = {}
    for entry in feed.entries:
        try:
            link = without_session(canonical_url(entry.url))
        except BadUrl:
            continue
        if host_key(link) == host_key(response.url):
            urls[link] = None
    return tuple(urls)[:MAX_LINKS], max(len(urls) - MAX_LINKS, 0)


def _exchange(response: Response) -> CrawledPage:
    """Return the stored form of a redirect or an error."""
    page = stored_page(response)
    return page if response.body else replace(page, digest="", body=b"")


def _is_page(response: Response, order: PageOrder) -> bool:
    if not order.any_type:
        return media_type(response.body, response.content_type) == "text/html"
    verdict = detect(response.body, response.content_type, response.url)
    if verdict.type == EMPTY or (verdict.type == BINARY and not order.binaries):
        raise ReadingError("unsupported-type", verdict.reason)
    return verdict.type in {HTML, XHTML}


def title_of(root: html.HtmlElement) -> str:
    """Return the text of a page's title, in one line."""
    element = next(root.iter("title"), None)
    text = (
        "" if element is None else etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    )
    return " ".join(storable(text, 20 * MAX_TITLE_CHARACTERS).split())[:MAX_TITLE_CHARACTERS]


def redirect_of(response: Response) -> CrawledPage:
    """Return a page with the redirect's target as its only link.

    Raises FetchError when the target is missing, invalid or the page itself.
    """
    location = location_of(response.headers)
    try:
        target = without_session(join(response.url, location)) if location else ""
    except BadUrl as error:
        raise _nowhere(response, str(error)) from error
    if not target or target == canonical_url(response.url):
        raise _nowhere(response, "the redirect leads nowhere")
    return CrawledPage(links=(target,))


def _nowhere(response: Response, detail: str) -> FetchError:
    error = FetchError(Failure.REDIRECT, detail, status=response.status)
    error.url, error.response = response.url, response
    error.elapsed, error.bytes = response.elapsed, response.wire_bytes
    return error
