"""The process that reads a document which may be a feed or a page that names feeds."""

from __future__ import annotations

from typing import Any

import msgspec

from crawler.fetching.sandboxed.programs import READING
from crawler.isolation.calls import register
from crawler.reading.documents import Entry, FeedLink
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import feed_links, looks_like_html, parse_feed
from crawler.reading.feeds.discover import page_title
from feeds.sources import podcast_named

READ = "feed-preview"
NEWEST = 3
MAX_POSTED = 500
WHOLE_TEXT = 1200
"""Letters of an entry's text from which it counts as a whole article."""


class Latest(msgspec.Struct, frozen=True):
    """An entry of a feed: its title, its address, and when it was published (epoch seconds)."""

    title: str
    url: str
    published: float | None


class ReadFeed(msgspec.Struct, frozen=True):
    """A feed as one reading shows it: what it says of itself, its newest entries, when it posted (epoch
    seconds), and the identities of its entries, by which two formats of one feed are known.
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


class ReadPage(msgspec.Struct, frozen=True):
    """A page: its title, and the feeds that it names, the likeliest first."""

    title: str
    links: tuple[tuple[str, str], ...] = ()


class ReadDocument(msgspec.Struct, frozen=True):
    """A document read as a feed or as a page; both are None if it is neither, and `failure` says why."""

    feed: ReadFeed | None = None
    page: ReadPage | None = None
    failure: str = ""


def read(body: bytes, url: str, content_type: str, link: str = "") -> ReadDocument:
    """Return a document as a feed, or as a page with the feeds that it names."""
    try:
        return ReadDocument(feed=_feed(body, url, content_type))
    except ReadingError as error:
        failure_name = error.kind.value
    if address := podcast_named(body):
        return ReadDocument(page=ReadPage("", ((address, ""),)))
    if looks_like_html(body, content_type):
        links: tuple[FeedLink, ...] = feed_links(body, url=url, content_type=content_type, header=link)
        title = page_title(body, content_type)
        return ReadDocument(page=ReadPage(title, tuple((link.url, link.title) for link in links)))
    return ReadDocument(failure=failure_name)


def _feed(body: bytes, url: str, content_type: str) -> ReadFeed:
    document = parse_feed(body, url=url, content_type=content_type)
    entries = sorted(document.entries, key=lambda entry: -(_time(entry) or 0.0))
    lengths = sorted(len(entry.text) for entry in entries)
    return ReadFeed(
        title=document.title[:300],
        site_url=document.site_url,
        description=document.description[:400],
        language=document.language,
        format=document.format,
        newest=tuple(
            Latest(entry.title[:300] or entry.text[:120], entry.url, _time(entry))
            for entry in entries[:NEWEST]
        ),
        posted=tuple(at for entry in entries[:MAX_POSTED] if (at := _time(entry))),
        identities=tuple((entry.url or entry.identity)[:500] for entry in entries[:40]),
        is_whole=bool(lengths) and lengths[len(lengths) // 2] >= WHOLE_TEXT,
    )


def _time(entry: Entry) -> float | None:
    return entry.published or entry.updated


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return what a document is, as MessagePack."""
    return msgspec.msgpack.encode(read(body, request["url"], request["content_type"], request["link"]))


register(READ, run, READING)
