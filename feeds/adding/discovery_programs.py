"""The process that reads a document which may be a feed, another source, or a page that names feeds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec
from lxml import html

from crawler.failures import Failure
from crawler.fetching.http.site_lines import sitemaps_in
from crawler.fetching.sandboxed.programs import READING
from crawler.isolation.calls import register
from crawler.reading.choosing import chosen_of_page
from crawler.reading.documents import Entry, FeedDocument, FeedLink, SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import feed_links, looks_like_html, parse_feed
from crawler.reading.feeds.discover import page_title
from crawler.reading.parts import language_and_expression
from crawler.reading.sitemap import is_list_of_addresses, is_sitemap
from crawler.reading.sources.data import data_feed
from crawler.reading.sources.find import FoundList, find_lists, list_around
from crawler.reading.sources.kinds import DATA, FEED, PAGE, SITEMAP
from crawler.reading.sources.page import page_feed, tree_of
from crawler.reading.sources.sitemap import sitemap_feed, sitemaps_of_index
from feeds.adding.sources import podcast_named, program_feeds

READ = "feed-preview"
NEWEST = 5
MAX_POSTED = 500
MAX_ROBOTS_BYTES = 500_000
WHOLE_TEXT = 1200
"""Letters of an entry's text from which it counts as a whole article."""


class Latest(msgspec.Struct, frozen=True):
    """An entry of a feed: its title, its address, and when it was published (epoch seconds)."""

    title: str
    url: str
    published: float | None


class ReadFeed(msgspec.Struct, frozen=True):
    """A source as one reading shows it: what it says of itself, its newest entries, when it posted (epoch
    seconds), and the identities of its entries, by which two formats of one feed are known.

    `rules` choose the entries of a list in a page or in JSON; `size` is the number of its entries.
    """

    title: str
    site_url: str
    description: str
    language: str
    format: str
    newest: tuple[Latest, ...] = ()
    posted: tuple[float, ...] = ()
    identities: tuple[str, ...] = ()
    is_whole: bool = False
    kind: str = FEED
    rules: SourceRules = SourceRules()
    size: int = 0


class ReadPage(msgspec.Struct, frozen=True):
    """A page: its title, the feeds that it names, the likeliest first, and its lists, the best first.

    `program_feeds` are the addresses at which the program that made it keeps a feed.
    """

    title: str
    links: tuple[tuple[str, str], ...] = ()
    lists: tuple[ReadFeed, ...] = ()
    program_feeds: tuple[str, ...] = ()


class ReadDocument(msgspec.Struct, frozen=True):
    """A document read as a source, as a page, or as an index of sitemaps; else `failure` says why not."""

    feed: ReadFeed | None = None
    page: ReadPage | None = None
    sitemaps: tuple[str, ...] = ()
    failure: str = ""


class AskedDocument(msgspec.Struct, frozen=True):
    """A question about a document: its address and headers, and what is wanted of it.

    `rules` are for the list of a page or of JSON. With `lists` those of a page are wanted even where it names
    feeds, with `all` all of their entries, with `near` the one around the element that this part chooses.
    """

    url: str
    content_type: str = ""
    link: str = ""
    rules: SourceRules = SourceRules()
    lists: bool = False
    all: bool = False
    near: str = ""


def read(body: bytes, request: AskedDocument) -> ReadDocument:
    """Return a document as a source, or as a page with the feeds that it names and the lists in it."""
    parts = urlsplit(request.url)
    if parts.path == "/robots.txt":
        text = body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")
        return ReadDocument(sitemaps=tuple(sitemaps_in(text, f"{parts.scheme}://{parts.netloc}")))
    try:
        return ReadDocument(feed=_feed(body, request))
    except ReadingError as error:
        failure_name = error.kind.value
    # Apple's pages name no feed; its lookup answers in JSON with the address of the podcast's own.
    if address := podcast_named(body):
        return ReadDocument(page=ReadPage("", ((address, ""),)))
    return _of_another(body, request) or ReadDocument(failure=failure_name)


def _of_another(body: bytes, request: AskedDocument) -> ReadDocument | None:
    """Return a document that is no feed as a sitemap, a page or JSON; None if it is none of them."""
    # A single line may be any text; sitemaps.org's text form needs two to be told from it.
    if is_sitemap(body) or (is_list_of_addresses(body) and body.count(b"\n") > 1):
        return _of_sitemap(body, request)
    if looks_like_html(body, request.content_type):
        return ReadDocument(page=_page(body, request))
    if body[:4096].lstrip()[:1] in (b"{", b"["):
        return _of_data(body, request)
    return None


def _page(body: bytes, request: AskedDocument) -> ReadPage:
    links: tuple[FeedLink, ...] = feed_links(
        body, url=request.url, content_type=request.content_type, header=request.link
    )
    title = page_title(body, request.content_type)
    lists: tuple[ReadFeed, ...] = ()
    # Finding lists looks at the whole tree, and a page with a feed does not need them.
    if request.lists or not links:
        with suppress(ReadingError):
            lists = tuple(_lists(body, request, title))
    named = tuple((link.url, link.title) for link in links)
    return ReadPage(title, named, lists, program_feeds(body, request.url))


def _lists(body: bytes, request: AskedDocument, title: str) -> Iterator[ReadFeed]:
    """Yield the lists of a page, or the one that rules choose. Raises ReadingError."""
    root = tree_of(body, request.content_type)
    if request.rules.entry:
        document = page_feed(root, request.url, request.rules)
        if document.entries:
            yield _read_feed(document, request, title, PAGE, request.rules)
        return
    for page_list in _found_lists(root, request):
        document = page_feed(root, request.url, page_list.rules)
        yield _read_feed(document, request, page_list.name or title, PAGE, page_list.rules)


def _found_lists(root: html.HtmlElement, request: AskedDocument) -> list[FoundList]:
    """Return the lists of a page, or the one in which an element stands that was pointed at."""
    if not request.near:
        return find_lists(root, request.url)
    language, expression = language_and_expression(request.near)
    chosen = chosen_of_page(root, "near", language, expression)
    element = next((node for node in chosen if isinstance(node, html.HtmlElement)), None)
    page_list = list_around(root, request.url, element) if element is not None else None
    return [page_list] if page_list is not None else []


def _of_sitemap(body: bytes, request: AskedDocument) -> ReadDocument:
    try:
        if below := sitemaps_of_index(body, request.url):
            return ReadDocument(sitemaps=tuple(sitemap.url for sitemap in below))
        document = sitemap_feed(body, request.url, b"", is_first=False)
    except ReadingError as error:
        return ReadDocument(failure=error.kind.value)
    return ReadDocument(feed=_read_feed(document, request, document.title, SITEMAP))


def _of_data(body: bytes, request: AskedDocument) -> ReadDocument:
    try:
        document = data_feed(body, request.url, request.content_type, request.rules)
    except ReadingError as error:
        return ReadDocument(failure=error.kind.value)
    if not document.entries:
        return ReadDocument(failure=Failure.NOT_A_FEED.value)
    return ReadDocument(feed=_read_feed(document, request, "", DATA, request.rules))


def _feed(body: bytes, request: AskedDocument) -> ReadFeed:
    document = parse_feed(body, url=request.url, content_type=request.content_type)
    return _read_feed(document, request, document.title)


def _read_feed(
    document: FeedDocument,
    request: AskedDocument,
    title: str,
    kind: str = FEED,
    rules: SourceRules | None = None,
) -> ReadFeed:
    entries = list(document.entries)
    if kind != PAGE:  # which has its own order
        entries.sort(key=lambda entry: -(_time(entry) or 0.0))
    lengths = sorted(len(entry.text) for entry in entries)
    return ReadFeed(
        title=title[:300],
        site_url=document.site_url,
        description=document.description[:400],
        language=document.language,
        format=document.format,
        newest=tuple(
            Latest(entry.title[:300] or entry.text[:120], entry.url, _time(entry))
            for entry in (entries if request.all else entries[:NEWEST])
        ),
        posted=tuple(at for entry in entries[:MAX_POSTED] if (at := _time(entry))),
        identities=tuple((entry.url or entry.identity)[:500] for entry in entries[:40]),
        is_whole=bool(lengths) and lengths[len(lengths) // 2] >= WHOLE_TEXT,
        kind=kind,
        rules=rules or SourceRules(),
        size=len(entries),
    )


def _time(entry: Entry) -> float | None:
    return entry.published or entry.updated


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return what a document is, as MessagePack."""
    return msgspec.msgpack.encode(read(body, msgspec.convert(request["asked"], AskedDocument)))


register(READ, run, READING)
