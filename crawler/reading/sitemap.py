"""Sitemaps (sitemaps.org 0.9): the URLs that a site names itself, from hostile XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from crawler.http.urls import BadUrl, canonical_url, host_key
from crawler.reading.documents import Listed
from crawler.reading.errors import ReadingError
from crawler.reading.inflate import head_inside_gzip, without_gzip
from crawler.reading.limits import LIMITS
from crawler.text.characters import storable

_PIECE = 1 << 20
_PARTS = 1_000  # of a text; references cut it into parts
_ROOT = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]")


def is_sitemap(body: bytes) -> bool:
    """Return whether the document is a sitemap or an index of them, packed or not."""
    return _ROOT.search((head_inside_gzip(body) or body)[:2048]) is not None


def sitemap_links(body: bytes, url: str, max_pages: int) -> tuple[tuple[str, ...], int]:
    """Return up to `max_pages` canonical URLs on the sitemap's own host, and the number of further ones.

    Raises ReadingError when it is too large or no XML.
    """
    listed, cut, _ = read_sitemap(body, url, max_pages)
    return tuple(page.url for page in listed), cut


def read_sitemap(body: bytes, url: str, max_pages: int) -> tuple[tuple[Listed, ...], int, bool]:
    """Read the pages with their times of modification. Also returns whether they are sitemaps themselves."""
    body = without_gzip(body, LIMITS.sitemap_bytes)
    index = b"sitemapindex" in body[:2048]
    stamps: dict[str, str] = {}
    cut = 0
    host = host_key(url)
    try:
        for text, stamp in _entries(body):
            try:
                link = canonical_url(text)
                if link in stamps or host_key(link) != host:
                    continue
            except BadUrl:
                continue
            if len(stamps) >= max_pages:
                cut += 1
            else:
                stamps[link] = stamp
    except etree.XMLSyntaxError as error:
        if not stamps:
            raise ReadingError("malformed", str(error)[:300]) from error
    return tuple(Listed(link, stamp) for link, stamp in stamps.items()), cut, index


def _entries(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield addresses and times as written; a time belongs to the address beside it."""
    reader = _Reader()
    parser = etree.XMLParser(
        target=reader,  # type: ignore[arg-type]  # a target needs no more methods
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for start in range(0, len(body), _PIECE):
            parser.feed(body[start : start + _PIECE])
            yield from reader.taken()
        parser.close()
    except etree.XMLSyntaxError:
        yield from reader.taken()  # what stood before the fault
        raise
    reader.end_entry()
    yield from reader.taken()


class _Reader:
    """A parser target without a tree: 50 MB of empty elements would take gigabytes in one."""

    def __init__(self) -> None:
        self._left = LIMITS.sitemap_elements
        self._found: list[tuple[str, str]] = []
        self._address = self._stamp = ""
        self._text: list[str] | None = None

    def taken(self) -> list[tuple[str, str]]:
        """Take the entries found since the last call."""
        read, self._found = self._found, []
        return read

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        """Begin an element. Raises ReadingError(too-large) for more elements than any sitemap has."""
        self._left -= 1
        if self._left < 0:
            raise ReadingError("too-large", f"more than {LIMITS.sitemap_elements} elements")
        self._text = [] if tag.rpartition("}")[2] in ("loc", "lastmod") else None

    def data(self, text: str) -> None:
        """Collect a part of an address or time, up to its greatest length."""
        if self._text is not None and len(self._text) < _PARTS:
            self._text.append(text[: LIMITS.address])

    def end(self, tag: str) -> None:
        """End an entry, also where the next one begins without an end."""
        name = tag.rpartition("}")[2]
        text, self._text = "".join(self._text or ()).strip(), None
        if name == "lastmod":
            self._stamp = storable(text)[:40]
        elif name == "loc" and not self._address:
            self._address = text
        elif name in ("loc", "url", "sitemap"):
            self.end_entry()
            if name == "loc":
                self._address = text

    def close(self) -> None:
        """Do nothing. It is called after faults as well, and a partial entry does not count."""

    def end_entry(self) -> None:
        """Keep the address at hand with its time, if there is one."""
        if self._address:
            self._found.append((self._address, self._stamp))
        self._address = self._stamp = ""
