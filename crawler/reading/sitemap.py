"""Sitemaps (sitemaps.org 0.9): the URLs that a site names itself, from hostile XML."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping

from lxml import etree

from crawler.http.urls import BadUrl, canonical_url, host_key
from crawler.reading.documents import Listed
from crawler.reading.pages import ExtractionError
from crawler.text.characters import storable

MOST_BYTES = 50_000_000
"""Uncompressed, as sitemaps.org allows."""

MOST_ELEMENTS = 2_000_000

_PIECE = 1 << 20
_LONGEST = 4_000  # characters of an address
_PARTS = 1_000  # of a text; references cut it into parts
_ROOT = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]")
_GZIP = b"\x1f\x8b"


def is_sitemap(body: bytes) -> bool:
    """Whether the document is a sitemap or an index of them, packed or not."""
    head = body[:2048]
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(31).decompress(body[:4096], 2048)
        except zlib.error:
            return False
    return _ROOT.search(head) is not None


def sitemap_links(body: bytes, url: str, most: int) -> tuple[tuple[str, ...], int]:
    """Canonical URLs on the sitemap's own host, each once, at most so many; and how many more.

    Raises ExtractionError when it is too large or no XML.
    """
    listed, more, _ = read_sitemap(body, url, most)
    return tuple(one.url for one in listed), more


def read_sitemap(body: bytes, url: str, most: int) -> tuple[tuple[Listed, ...], int, bool]:
    """The same with the times of last modification; and whether these are sitemaps themselves."""
    body = _inflated(body)
    index = b"sitemapindex" in body[:2048]
    found: dict[str, str] = {}
    more = 0
    host = host_key(url)
    try:
        for text, stamp in _entries(body):
            try:
                link = canonical_url(text)
                if link in found or host_key(link) != host:
                    continue
            except BadUrl:
                continue
            if len(found) >= most:
                more += 1
            else:
                found[link] = stamp
    except etree.XMLSyntaxError as error:
        if not found:
            raise ExtractionError("malformed", str(error)[:300]) from error
    return tuple(Listed(link, stamp) for link, stamp in found.items()), more, index


def _entries(body: bytes) -> Iterator[tuple[str, str]]:
    """Addresses and times as written; a time belongs to the address beside it."""
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
    """What the parser tells of, without a tree: 50 MB of empty elements would take gigabytes in one."""

    def __init__(self) -> None:
        self._left = MOST_ELEMENTS
        self._found: list[tuple[str, str]] = []
        self._address = self._stamp = ""
        self._text: list[str] | None = None

    def taken(self) -> list[tuple[str, str]]:
        """The entries since the last time."""
        found, self._found = self._found, []
        return found

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        """Raises ExtractionError(too-large) for more elements than any sitemap has."""
        self._left -= 1
        if self._left < 0:
            raise ExtractionError("too-large", f"more than {MOST_ELEMENTS} elements")
        self._text = [] if tag.rpartition("}")[2] in ("loc", "lastmod") else None

    def data(self, text: str) -> None:
        """Part of an address or time; longer ones than there are get cut."""
        if self._text is not None and len(self._text) < _PARTS:
            self._text.append(text[:_LONGEST])

    def end(self, tag: str) -> None:
        """The entry ends, or another begins without one."""
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
        """Comes after faults as well: what was being read then does not count."""

    def end_entry(self) -> None:
        """Keep the address at hand with its time, if there is one."""
        if self._address:
            self._found.append((self._address, self._stamp))
        self._address = self._stamp = ""


def _inflated(body: bytes) -> bytes:
    if body.startswith(_GZIP):
        try:
            with gzip.open(io.BytesIO(body)) as unpacked:
                body = unpacked.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ExtractionError("malformed", f"damaged gzip: {error}") from error
    if len(body) > MOST_BYTES:
        raise ExtractionError("too-large", f"more than {MOST_BYTES} bytes")
    return body
