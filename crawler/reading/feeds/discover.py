"""Feeds that an HTML page names: autodiscovery by link elements, then links that look like feeds.

Autodiscovery is the WHATWG HTML standard's rel=alternate with a feed's type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from lxml import etree
from requests.utils import parse_header_links

from crawler.reading.addresses import absolute
from crawler.reading.documents import FeedLink
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.markup import shown
from crawler.reading.feeds.titles import plain_line
from crawler.reading.limits import LIMITS
from crawler.reading.pages.tree import text_of, whole_tree
from crawler.text.characters import storable

# Lower is likelier: types that only feeds have, then JSON and XML, which name many other things, too.
_TYPES = {
    "application/rss+xml": 0,
    "application/atom+xml": 0,
    "application/feed+json": 1,
    "application/json": 3,
    "application/rdf+xml": 2,
    "text/xml": 3,
    "application/xml": 3,
    "application/x.atom+xml": 0,
    "application/x-atom+xml": 0,
    "text/rss": 1,
}
_OWN_TYPE, _UNTYPED = 1, 4
_ANCHOR = 10
# wp-calypso 752: a page that names the feed of its comments beside that of its posts.
_COMMENTS = 5
_MAX_DECLARED = 5
_LIKELY = re.compile(
    r"(?:^|/)(?:feeds?|rss2?|atom|index\.(?:rss|atom|rdf|xml)|(?:rss2?|atom|feeds?|index)\.(?:xml|json|rdf|php|aspx)"
    r"|[\w.-]+\.(?:rss|atom|rdf))/?$|[?&](?:feed|format|type|alt)=(?:rss|atom|feed)",
    re.IGNORECASE,
)
_COMMENT_FEED = re.compile(r"comment|kommentar|comentari|commentaire|коммент|评论|コメント", re.IGNORECASE)
_FEED_SCHEME = re.compile(r"\s*feed:(?=//|https?:)", re.IGNORECASE)
# WordPress links its API and oEmbed as alternates of the page, with a feed's type of JSON.
_JSON_API = re.compile(r"/wp-json/|oembed", re.IGNORECASE)


def feed_links(body: bytes, *, url: str, content_type: str = "", header: str = "") -> tuple[FeedLink, ...]:
    """Return the feeds of an HTML page at `url`, the likeliest first, of comments last; () without any.

    `header` is its Link header (RFC 8288), whose feeds stand before those of the page.
    """
    header_links = tuple(_of_header(header, url))
    page_links = _of_page(body, url, content_type)
    return tuple({link.url: link for link in (*header_links, *page_links)}.values())[: LIMITS.feeds]


def _of_header(header: str, url: str) -> Iterator[FeedLink]:
    for link in parse_header_links(header) if header else ():
        rels = set(str(link.get("rel", "")).lower().split())
        kind = str(link.get("type", "")).partition(";")[0].strip().lower()
        address = _address(url, str(link.get("url", "")))
        if address and rels & {"alternate", "feed"} and _TYPES.get(kind, _UNTYPED) <= _OWN_TYPE:
            yield FeedLink(address, plain_line(str(link.get("title", ""))[:1000])[:200], storable(kind[:100]))


def _of_page(body: bytes, url: str, content_type: str) -> tuple[FeedLink, ...]:
    try:
        # Megabytes of scripts before the link count for nothing.
        text = shown(text_of(body, content_type))[
            # NetNewsWire 4124: a large page whose link stands behind its scripts.
            : LIMITS.discovery_bytes
        ]  # megabytes of scripts count for none
        root = whole_tree(text, LIMITS.link_elements)
    except ReadingError:
        return ()
    return _ranked(_candidates(root.iter("link", "a")), root, url) if root is not None else ()


def page_title(body: bytes, content_type: str = "") -> str:
    """Return the title of an HTML page in one line, "" without one."""
    try:
        root = whole_tree(text_of(body[: LIMITS.discovery_bytes], content_type), LIMITS.link_elements)
    except ReadingError:
        return ""
    title = next(root.iter("title"), None) if root is not None else None
    return "" if title is None else plain_line((title.text or "")[:1000])[:300]


def declared_feeds(root: etree._Element, url: str) -> tuple[FeedLink, ...]:
    """Return the feeds in a page's tree that link elements name by a type that only feeds have."""
    declared = (pair for pair in _candidates(root.iter("link")) if pair[1] <= _OWN_TYPE)
    return _ranked(declared, root, url)[:_MAX_DECLARED]


def _ranked(
    candidates: Iterator[tuple[etree._Element, int]], root: etree._Element, url: str
) -> tuple[FeedLink, ...]:
    # liferea 87: relative links of a page with a <base> led to nowhere.
    base = next((b for e in root.iter("base") if (b := absolute(url, e.get("href") or ""))), url)
    ranked: dict[str, tuple[int, FeedLink]] = {}
    for element, kind in islice(candidates, LIMITS.candidates):
        link = _address(base, element.get("href") or "").partition("#")[0]
        if not link or _JSON_API.search(link):
            continue
        feed_link = FeedLink(
            link, _title(element), storable((element.get("type") or "").strip().lower()[:100])
        )
        rank = kind + (_COMMENTS if _COMMENT_FEED.search(f"{feed_link.title} {link}") else 0)
        # A page may link a feed in its head and once more as an anchor; the better rank counts.
        if link not in ranked or rank < ranked[link][0]:
            ranked[link] = (rank, feed_link)
    ordered = sorted(ranked.values(), key=lambda pair: pair[0])
    return tuple(link for _, link in ordered[: LIMITS.feeds])


def _address(base: str, reference: str) -> str:
    """Return the absolute URL of a feed, "" without a valid one.

    The scheme `feed:` stands for http, before a whole address for nothing.
    """
    # NetNewsWire 1896: older themes link feed://site/feed, for a browser to open a reader.
    if scheme := _FEED_SCHEME.match(reference):
        rest = reference[scheme.end() :]
        reference = f"http:{rest}" if rest.startswith("//") else rest
    return absolute(base, reference)


def _candidates(elements: Iterable[etree._Element]) -> Iterator[tuple[etree._Element, int]]:
    """Yield the elements that may name a feed, with their ranks."""
    for element in elements:
        rank = _named(element) if element.tag == "link" else _guessed(element)
        if rank is not None:
            yield element, rank


def _named(element: etree._Element) -> int | None:
    """Return the rank of a link element, None when it names no feed."""
    rels = set((element.get("rel") or "").lower().split())
    kind = (element.get("type") or "").partition(";")[0].strip().lower()
    # HTML5 once had rel=feed without a type (Allen-B1/news 77).
    if "feed" in rels and not kind:
        return _UNTYPED
    return _TYPES.get(kind) if rels & {"alternate", "feed"} else None


def _guessed(element: etree._Element) -> int | None:
    """Return the rank of an anchor, None when it does not look like a feed's."""
    # miniflux 2844: a feed that only an anchor with a type names.
    if (element.get("type") or "").strip().lower() in _TYPES:
        return _ANCHOR
    return (
        _ANCHOR + 1 if _LIKELY.search((element.get("href") or "").strip()[:2000].partition("#")[0]) else None
    )


def _title(element: etree._Element) -> str:
    """Return the title attribute, else the anchor's text."""
    text = element.get("title") or (
        "".join(map(str, islice(element.itertext(), 100))) if element.tag == "a" else ""
    )
    return plain_line(text[:1000])[:200]
