"""Feeds that an HTML page names: autodiscovery by link elements, then links that look like feeds.

Autodiscovery is the WHATWG HTML standard's rel=alternate with a feed's type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree

from crawler.reading.census import take_census
from crawler.reading.charset import to_utf8
from crawler.reading.documents import FeedLink
from crawler.reading.feeds.addresses import absolute
from crawler.reading.feeds.markup import MAX_ATTRIBUTES
from crawler.reading.feeds.titles import plain_line
from crawler.text.characters import storable

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
_UNTYPED = 4
_ANCHOR = 10
_COMMENTS = 5
_LIKELY = re.compile(
    r"(?:^|/)(?:feeds?|rss2?|atom|index\.(?:rss|atom|rdf|xml)|(?:rss2?|atom|feeds?|index)\.(?:xml|json|rdf|php|aspx)"
    r"|[\w.-]+\.(?:rss|atom|rdf))/?$|[?&](?:feed|format|type|alt)=(?:rss|atom|feed)",
    re.IGNORECASE,
)
_COMMENT_FEED = re.compile(r"comment|kommentar|comentari|commentaire|коммент|评论|コメント", re.IGNORECASE)
_JSON_API = re.compile(r"/wp-json/|oembed", re.IGNORECASE)
_MAX_BYTES = 2_000_000
_MAX_LINKS = 30
_MAX_CANDIDATES = 1_000


def feed_links(body: bytes, *, url: str, content_type: str = "") -> tuple[FeedLink, ...]:
    """Feeds of an HTML page at `url`, the likeliest first (feeds of comments last); () when it names none.

    Only the first 2 MB of the page are read. Hostile pages give what the parser got.
    """
    root = _tree(body[:_MAX_BYTES], content_type)
    if root is None:
        return ()
    base = next((b for e in root.iter("base") if (b := absolute(url, e.get("href") or ""))), url)
    ranked: dict[str, tuple[int, FeedLink]] = {}
    for element, kind in islice(_candidates(root), _MAX_CANDIDATES):
        link = absolute(base, element.get("href") or "").partition("#")[0]
        if not link or _JSON_API.search(link):
            continue
        found = FeedLink(link, _title(element), storable((element.get("type") or "").strip().lower()[:100]))
        rank = kind + (_COMMENTS if _COMMENT_FEED.search(f"{found.title} {link}") else 0)
        if link not in ranked or rank < ranked[link][0]:
            ranked[link] = (rank, found)
    ordered = sorted(ranked.values(), key=lambda pair: pair[0])
    return tuple(link for _, link in ordered[:_MAX_LINKS])


def _tree(body: bytes, content_type: str) -> etree._Element | None:
    """The page as libxml2's forgiving parser sees it."""
    data, _ = to_utf8(body, content_type)
    parser = etree.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        take_census(data, _MAX_BYTES, MAX_ATTRIBUTES)
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):  # CrowdedError is one
        return None


def _candidates(root: etree._Element) -> Iterator[tuple[etree._Element, int]]:
    """The elements that may name a feed, and their ranks."""
    for element in root.iter("link", "a"):
        rank = _named(element) if element.tag == "link" else _guessed(element)
        if rank is not None:
            yield element, rank


def _named(element: etree._Element) -> int | None:
    """Rank of a link element, None when it names no feed."""
    rels = set((element.get("rel") or "").lower().split())
    kind = (element.get("type") or "").partition(";")[0].strip().lower()
    if "feed" in rels and not kind:
        return _UNTYPED
    return _TYPES.get(kind) if rels & {"alternate", "feed"} else None


def _guessed(element: etree._Element) -> int | None:
    """Rank of an anchor, None when nothing about it is a feed's."""
    if (element.get("type") or "").strip().lower() in _TYPES:
        return _ANCHOR
    return (
        _ANCHOR + 1 if _LIKELY.search((element.get("href") or "").strip()[:2000].partition("#")[0]) else None
    )


def _title(element: etree._Element) -> str:
    """The title attribute, else the anchor's text."""
    text = element.get("title") or (
        "".join(map(str, islice(element.itertext(), 100))) if element.tag == "a" else ""
    )
    return plain_line(text[:1000])[:200]
