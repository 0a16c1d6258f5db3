"""One page of a crawl: robots.txt, GET without following redirects, its links."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from lxml import etree, html

from articles.extraction import ExtractionError
from articles.extraction.tree import media_type, text_of, whole_tree
from crawler.frontier.budgets import Budgets, without_session
from crawler.http.client import ACCEPT_ANY, ACCEPT_PAGE, Client, Response
from crawler.http.failures import Failure, FetchError
from crawler.http.urls import BadUrl, canonical_url, join
from crawler.keys import digest_of_bytes
from crawler.messages import Assignment, CrawledPage, FeedLink, Harvest, Robots
from crawler.pipeline.detect import BINARY, EMPTY, HTML, XHTML, detect
from crawler.terminals.answers import answered, refused
from crawler.terminals.page import ask_robots
from crawler.terminals.sitemap import is_sitemap, sitemap_links
from crawler.terminals.turn import analysing
from recrawl.content import packed, plain_lines, read_lines

MOST_LINKS = Budgets().links
MOST_ELEMENTS = 400_000
MOST_HEADERS = 64
LONGEST_TITLE = 500
MOST_HEAD_LINKS, MOST_FEEDS = 200, 5
_FEEDS = {"application/rss+xml", "application/atom+xml", "application/feed+json"}
_LINKS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}


def crawl_page(client: Client, assignment: Assignment, rules: Robots, spacing: float) -> Harvest:
    """The harvest of a page; every failure is named in it, nothing is raised.

    A redirect is a page with one link: where it leads is another URL of the crawl, fetched in its turn.
    """
    at = time.time()
    try:
        ask_robots(client, assignment, rules)
        accept = ACCEPT_ANY if assignment.any_type else ACCEPT_PAGE
        response = client.get(assignment.url, accept=accept, spacing=spacing, follow=False)
        if response.status not in {200, 226}:
            return answered(assignment, at, response, crawled=redirect_of(response))
        with analysing:
            page, feeds = read_page(response, assignment)
            return answered(assignment, at, response, crawled=page, links=feeds)
    except FetchError as error:
        return refused(assignment, at, error)
    except ExtractionError as error:
        return answered(assignment, at, response, failure=Failure(error.kind).value, detail=error.detail)


def page_links(root: html.HtmlElement, url: str, most: int = MOST_LINKS) -> tuple[tuple[str, ...], int]:
    """Where a page leads: canonical URLs without fragments and session ids, each once; and how many more.

    What is no address of the web (mailto:, javascript:, broken) is left out. The page itself is.
    """
    base = url
    for element in root.iter("base"):
        try:
            base = join(url, element.get("href") or "")
        except BadUrl:
            continue
        break
    found: dict[str, None] = {}
    raw: set[str] = set()
    more = 0
    for reference in _references(root):
        if reference in raw:
            continue
        raw.add(reference)
        try:
            link = without_session(join(base, reference))
        except BadUrl:
            continue
        if link in found or link == url:
            continue
        if len(found) >= most:
            more += 1
            continue
        found[link] = None
    return tuple(found), more


def _references(root: html.HtmlElement) -> Iterator[str]:
    for element in root.iter(*_LINKS):
        reference = element.get(_LINKS[element.tag])
        if reference:
            yield reference.strip()


def read_page(response: Response, assignment: Assignment) -> tuple[CrawledPage, tuple[FeedLink, ...]]:
    """What a page says; of a watched site its text instead of its bytes, and the feeds that it names.

    Raises ExtractionError for what is neither HTML nor text, or nothing that the pipeline reads.
    """
    links: tuple[str, ...] = ()
    feeds: tuple[FeedLink, ...] = ()
    lines: list[str] = []
    more, title = 0, ""
    watched = assignment.selectors is not None
    sitemap = is_sitemap(response.body)
    if sitemap:
        links, more = sitemap_links(response.body, response.url, MOST_LINKS)
    elif _is_page(response, assignment.any_type):
        root = whole_tree(text_of(response.body, response.content_type), MOST_ELEMENTS)
        if root is not None:
            links, more = page_links(root, response.url)
            title = _title(root)
            if assignment.selectors is not None:
                lines, feeds = read_lines(root, assignment.selectors), named_feeds(root, response.url)
    elif watched:
        lines = plain_lines(text_of(response.body, response.content_type))
    page = replace(kept_page(response), links=links, cut=more, title=title, sitemap=sitemap)
    return (replace(page, lines=packed(lines), body=b"") if watched else page), feeds


def named_feeds(root: html.HtmlElement, url: str) -> tuple[FeedLink, ...]:
    """The feeds that a page names in its head, a few at most."""
    found: dict[str, FeedLink] = {}
    for element in islice(root.iter("link"), MOST_HEAD_LINKS):
        kind = (element.get("type") or "").partition(";")[0].strip().lower()
        if kind in _FEEDS and "alternate" in (element.get("rel") or "").lower().split():
            try:
                address = join(url, element.get("href") or "")
            except BadUrl:
                continue
            found.setdefault(address, FeedLink(address, (element.get("title") or "")[:200], kind))
    return tuple(islice(found.values(), MOST_FEEDS))


def kept_page(response: Response) -> CrawledPage:
    """What is kept of an answer: its bytes and headers."""
    return CrawledPage(
        content_type=response.content_type[:200],
        size=len(response.body),
        digest=digest_of_bytes(response.body).hex,
        body=zlib.compress(response.body, 1),
        headers=tuple(list(response.headers.items())[:MOST_HEADERS]),
    )


def _is_page(response: Response, any_type: bool) -> bool:
    if not any_type:
        return media_type(response.body, response.content_type) == "text/html"
    verdict = detect(response.body, response.content_type, response.url)
    if verdict.type in {BINARY, EMPTY}:
        raise ExtractionError("unsupported-type", verdict.reason)
    return verdict.type in {HTML, XHTML}


def _title(root: html.HtmlElement) -> str:
    element = next(root.iter("title"), None)
    text = (
        "" if element is None else etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    )
    return " ".join(text.split())[:LONGEST_TITLE]


def redirect_of(response: Response) -> CrawledPage:
    """Raises FetchError when it leads nowhere."""
    location = response.headers.get("location", "").strip()
    try:
        target = without_session(join(response.url, location)) if location else ""
    except BadUrl as error:
        raise FetchError(Failure.REDIRECT, str(error), status=response.status) from error
    if not target or target == canonical_url(response.url):
        raise FetchError(Failure.REDIRECT, "the redirect leads nowhere", status=response.status)
    return CrawledPage(links=(target,))
