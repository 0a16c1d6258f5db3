"""A sitemap read as a feed: its news with their titles and times, or the pages that are new in it.

Google's news sitemaps name articles of the last two days; plain ones name all pages of a site, of which only
those are entries that were not there before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree
from msgspec.structs import replace

from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.reading.dates import Dates
from crawler.reading.documents import FeedDocument, Listed
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.build import document
from crawler.reading.feeds.fingerprints import known_identities, merged, records
from crawler.reading.feeds.raw import RawDetails, RawEntry, RawFeed, RawLink
from crawler.reading.inflate import without_gzip
from crawler.reading.limits import LIMITS
from crawler.reading.sitemap import (
    events_into,
    is_list_of_addresses,
    is_sitemap,
    listed_addresses,
    local_name,
    read_sitemap,
)
from crawler.reading.sources.kinds import NEWS_FORMAT, PLAIN_FORMAT
from crawler.text.characters import one_line, storable

MAX_KNOWN = 50_000
"""Addresses that are remembered of a sitemap: as many as sitemaps.org allows in one file."""
FIRST_PAGES = 20
"""Pages of a plain sitemap that are entries at its first reading: the rest is what the site had before."""
_UNREADABLE = "neither a sitemap nor a list of addresses"
_PARTS = 200
_FIELDS = frozenset({
    "loc", "lastmod", "title", "publication_date", "name", "language", "keywords", "access", "thumbnail_loc",
    "description", "genres",
})  # fmt: skip


@dataclass(slots=True)
class _Item:
    """A page of a sitemap as it is written: its fields by group (url, news, image, video) and name."""

    fields: dict[tuple[str, str], str] = field(default_factory=dict)

    def said(self, group: str, name: str) -> str:
        """Return a field, "" without it."""
        return self.fields.get((group, name), "")


def sitemaps_of_index(body: bytes, url: str) -> tuple[Listed, ...]:
    """Return the sitemaps that an index names, those of news first, then the newest; () for no index.

    Raises ReadingError.
    """
    listed, _, is_index = read_sitemap(body, url, MAX_KNOWN, own_host=False)
    if not is_index:
        return ()
    epoch = Dates().epoch
    return tuple(
        sorted(listed, key=lambda part: ("news" not in part.url.lower(), -(epoch(part.stamp) or 0.0)))
    )


def sitemap_feed(body: bytes, url: str, known_records: bytes, *, is_first: bool) -> FeedDocument:
    """Return a sitemap at `url` as a feed that holds only unknown entries. Raises ReadingError.

    Of many new entries the newest come now and the others at the next reading; at the first reading the
    others are old, and never come.
    """
    body = without_gzip(body, LIMITS.sitemap_bytes)
    if is_list_of_addresses(body):
        items = [_Item({("url", "loc"): address}) for address, _ in listed_addresses(body)]
    else:
        items = _items(body)
        if not items and not is_sitemap(body):
            raise ReadingError("malformed", _UNREADABLE)
    by_url: dict[str, _Item] = {}
    for item in items[:MAX_KNOWN]:
        try:
            canonical_url(item.said("url", "loc"))
        except BadUrl:
            continue
        by_url.setdefault(item.said("url", "loc"), item)
    is_news = any(item.said("news", "title") for item in by_url.values())
    before = known_identities(known_records)
    new_urls = [address for address in by_url if _key(address) not in before]
    epoch = Dates().epoch
    moments = {address: epoch(_stamp(by_url[address])) for address in new_urls}
    new_urls.sort(key=lambda address: -(moments[address] or 0.0))
    limit = LIMITS.entries
    if is_first and not is_news:
        new_urls = [address for address in new_urls if moments[address] is not None]
        limit = FIRST_PAGES
    entry_urls = new_urls[:limit]
    raw = RawFeed(
        NEWS_FORMAT if is_news else PLAIN_FORMAT,
        title=next((name for item in by_url.values() if (name := item.said("news", "name"))), ""),
        entries=[_raw(address, by_url[address]) for address in entry_urls],
    )
    read = document(raw, url, LIMITS, well_formed=True)
    later = set() if is_first else set(new_urls[limit:])
    now = records((_same(address), "") for address in by_url if address not in later)
    return replace(read, fingerprints=merged(now, known_records, MAX_KNOWN), size=len(by_url))


def _raw(address: str, item: _Item) -> RawEntry:
    """Return a page of a sitemap as an entry. One without a title gets that of its page later."""
    picture = item.said("image", "loc") or item.said("video", "thumbnail_loc")
    return RawEntry(
        identity=address,
        links=[RawLink(address)],
        title=item.said("news", "title") or item.said("video", "title"),
        title_kind="text",
        published=item.said("news", "publication_date") or item.said("video", "publication_date"),
        updated=item.said("url", "lastmod"),
        language=item.said("news", "language"),
        categories=[part.strip() for part in item.said("news", "keywords").split(",") if part.strip()],
        details=RawDetails(images=[RawLink(picture)]) if picture else None,
    )


def _stamp(item: _Item) -> str:
    return item.said("news", "publication_date") or item.said("url", "lastmod")


def _key(address: str) -> bytes:
    return hashlib.blake2b(_same(address).encode("utf-8", "replace"), digest_size=8).digest()


def _same(address: str) -> str:
    """Return what stays of an address when its site moves to https."""
    return address.partition("://")[2] or address


def _items(body: bytes) -> list[_Item]:
    """Return the pages of a sitemap. Raises ReadingError(malformed) when nothing can be read of it."""
    reader = _Reader()
    try:
        for _ in events_into(reader, body):
            if len(reader.items) > MAX_KNOWN:
                break
    except etree.XMLSyntaxError as error:
        if not reader.items:
            raise ReadingError("malformed", str(error)[:300]) from error
    return reader.items


class _Reader:
    """A parser target that keeps what a sitemap says of each page, without a tree."""

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self._left = LIMITS.sitemap_elements
        self._item: _Item | None = None
        self._groups: list[str] = []
        self._text: list[str] | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element. Raises ReadingError(too-large) for more elements than any sitemap has."""
        self._left -= 1
        if self._left < 0:
            raise ReadingError("too-large", f"more than {LIMITS.sitemap_elements} elements")
        name = local_name(tag).rpartition(":")[2]
        if name == "url" and not self._groups:
            self._item, self._groups = _Item(), ["url"]
        elif self._item is not None:
            if name in ("news", "image", "video"):
                self._groups.append(name)
            self._text = [] if name in _FIELDS else None

    def data(self, text: str) -> None:
        """Collect a part of a field, up to its greatest length."""
        if self._text is not None and len(self._text) < _PARTS:
            self._text.append(text[: LIMITS.address])

    def end(self, tag: str) -> None:
        """End a field, a group of fields or a page."""
        name = local_name(tag).rpartition(":")[2]
        if self._item is None:
            return
        if self._text is not None and name in _FIELDS:
            value = one_line(storable("".join(self._text)), LIMITS.address)
            self._item.fields.setdefault((self._groups[-1], name), value)
            self._text = None
        elif name == "url":
            if self._item.said("url", "loc"):
                self.items.append(self._item)
            self._item, self._groups = None, []
        elif len(self._groups) > 1 and name == self._groups[-1]:
            self._groups.pop()

    def close(self) -> None:
        """Do nothing: a page that does not end does not count."""
