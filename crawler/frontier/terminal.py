"""One page of a crawl: robots.txt, GET without following redirects, its links."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lxml import etree, html
from msgspec.structs import replace

from crawler.frontier.budgets import Budgets, without_session
from crawler.http.client import ACCEPT_ANY, ACCEPT_PAGE, Client, Response, location_of
from crawler.http.failures import Failure, FetchError
from crawler.http.robots import check_allowed, product_of
from crawler.http.site_lines import Robots
from crawler.http.urls import BadUrl, canonical_url, join
from crawler.messages import Assignment, Harvest
from crawler.reading.detect import BINARY, EMPTY, HTML, XHTML, detect
from crawler.reading.documents import REQUEST, STATUS, CrawledPage, FeedLink
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import declared_feeds
from crawler.reading.limits import LIMITS
from crawler.reading.lines import packed, plain_lines, read_lines
from crawler.reading.pages.tree import media_type, text_of, whole_tree
from crawler.reading.sitemap import is_sitemap, sitemap_links
from crawler.reading.wishes import vouched_for, wishes_of
from crawler.terminals import readers
from crawler.terminals.answers import answered, refused
from crawler.terminals.handlers import serves
from crawler.text.characters import storable
from crawler.text.keys import digest_of_bytes

MOST_LINKS = Budgets().links
MOST_HEADERS = 64
LONGEST_HEADER = 8192
LONGEST_TYPE = 200
NO_COPY = "the page asks robots for no copy (noindex, noarchive): its content is not kept"
LONGEST_TITLE = 500
_FOLD = re.compile(r"[ \t]*\r?\n[ \t]*")
_LINKS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}


@serves("crawl", asks_robots=True)
def crawl_page(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """The harvest of a page; every failure is named in it, nothing is raised.

    A redirect is a page with one link: where it leads is another URL of the crawl, fetched in its turn.
    """
    at = time.time()
    try:
        check_allowed(rules, assignment.url, client.config.user_agent)
        accept = ACCEPT_ANY if assignment.any_type else ACCEPT_PAGE
        archived = assignment.selectors is None
        response = client.get(assignment.url, accept=accept, spacing=spacing, follow=False, errors=archived)
        if response.status not in {200, 226}:
            page = redirect_of(response)
            page = replace(_exchange(response), links=page.links) if archived else page
            return answered(assignment, at, response, payload=page)
        page = readers.read(read_page, response, assignment, product_of(client.config.user_agent))
        detail = "" if page.body or assignment.selectors is not None else NO_COPY
        return answered(assignment, at, response, payload=page, detail=detail)
    except FetchError as error:
        harvest = refused(assignment, at, error)
        if assignment.selectors is None and isinstance(error.response, Response):
            return replace(harvest, payload=_exchange(error.response))
        return harvest
    except ReadingError as error:
        # Of what is not read only that it was there is kept, not its possibly huge content.
        seen = replace(_exchange(response), body=b"") if archived else None
        failure = error.kind.value
        return answered(assignment, at, response, failure=failure, detail=error.detail, payload=seen)


@dataclass(frozen=True, slots=True)
class Links:
    """Where a page leads: canonical URLs; how many `more` there are; how many it asks not to follow."""

    urls: tuple[str, ...] = ()
    more: int = 0
    withheld: int = 0


def page_links(root: html.HtmlElement, url: str, most: int = MOST_LINKS, *, follow: bool = True) -> Links:
    """The links of a page without fragments and session ids, each once; none of a page that says nofollow.

    What is no address of the web (mailto:, javascript:, broken) is left out. The page itself is. A link
    that is marked as not to be followed here and not there is followed.
    """
    base = _base(root, url)
    found: dict[str, None] = {}
    raw: set[str] = set()
    withheld: set[str] = set()
    more = 0
    for reference, followed in _references(root):
        if reference in raw:
            continue
        if not (follow and followed):
            withheld.add(reference)
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
    return Links(tuple(found), more, len(withheld - raw))


def _base(root: html.HtmlElement, url: str) -> str:
    """What relative links belong to: the first `base` with an address, where that is one (HTML, 4.2.3)."""
    reference = next((href for one in root.iter("base") if (href := one.get("href")) is not None), "")
    try:
        return join(url, reference)
    except BadUrl:
        return url


def _references(root: html.HtmlElement) -> Iterator[tuple[str, bool]]:
    """Each with whether it is to be followed."""
    for element in root.iter(*_LINKS):
        reference = element.get(_LINKS[element.tag])
        if reference:
            yield reference.strip(), vouched_for(element.get("rel"))


def read_page(response: Response, assignment: Assignment, product: str) -> CrawledPage:
    """What a page says; of a watched site its text instead of its bytes, and the feeds that it names.

    `product` is the name by which the site may speak to us. Of a page that asks for no copy neither bytes
    nor text are kept.

    Raises ReadingError for what is neither HTML nor text, or nothing that the pipeline reads.
    """
    links, title = Links(), ""
    feeds: tuple[FeedLink, ...] = ()
    lines: list[str] = []
    wishes = wishes_of(None, response.headers, product)
    watched = assignment.selectors is not None
    sitemap = is_sitemap(response.body)
    if sitemap:
        links = Links(*sitemap_links(response.body, response.url, MOST_LINKS)) if wishes.follow else links
    elif _is_page(response, assignment.any_type):
        root = whole_tree(text_of(response.body, response.content_type), LIMITS.link_elements)
        if root is not None:
            wishes = wishes_of(root, response.headers, product)
            links = page_links(root, response.url, follow=wishes.follow)
            title = _title(root)
            if assignment.selectors is not None:
                lines, feeds = read_lines(root, assignment.selectors), declared_feeds(root, response.url)
    elif watched:
        lines = plain_lines(text_of(response.body, response.content_type))
    page = replace(
        kept_page(response),
        links=links.urls,
        cut=links.more,
        withheld=links.withheld,
        title=title,
        sitemap=sitemap,
        feeds=feeds,
    )
    if watched:
        return replace(page, lines=packed(lines if wishes.copy else []), body=b"")
    return page if wishes.copy else replace(page, body=b"")


def kept_page(response: Response) -> CrawledPage:
    """What is kept of an answer: its bytes and headers, before them what was asked and its status line."""
    return CrawledPage(
        content_type=storable(response.content_type, LONGEST_TYPE),
        size=len(response.body),
        digest=digest_of_bytes(response.body).hex,
        body=zlib.compress(response.body, 1),
        headers=(
            (REQUEST, storable(response.request, LONGEST_HEADER)),
            (STATUS, storable(response.status_line, LONGEST_TYPE)),
            *kept_headers(response.headers),
        ),
    )


def _exchange(response: Response) -> CrawledPage:
    """The same of a redirect or an error."""
    page = kept_page(response)
    return page if response.body else replace(page, digest="", body=b"")


def kept_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Names and values as received, but bounded, unfolded (RFC 9112, section 5.2) and storable."""
    return tuple(
        (storable(name, LONGEST_TYPE), storable(_FOLD.sub(" ", value[: 2 * LONGEST_HEADER]), LONGEST_HEADER))
        for name, value in islice(headers.items(), MOST_HEADERS)
    )


def _is_page(response: Response, any_type: bool) -> bool:
    if not any_type:
        return media_type(response.body, response.content_type) == "text/html"
    verdict = detect(response.body, response.content_type, response.url)
    if verdict.type in {BINARY, EMPTY}:
        raise ReadingError("unsupported-type", verdict.reason)
    return verdict.type in {HTML, XHTML}


def _title(root: html.HtmlElement) -> str:
    element = next(root.iter("title"), None)
    text = (
        "" if element is None else etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    )
    return " ".join(storable(text, 20 * LONGEST_TITLE).split())[:LONGEST_TITLE]


def redirect_of(response: Response) -> CrawledPage:
    """Raises FetchError when it leads nowhere."""
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
