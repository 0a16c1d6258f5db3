"""Sitemaps (sitemaps.org 0.9): the URLs that a site names itself, from hostile XML."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping

from lxml import etree

from crawler.fetching.http.urls import BadUrl, canonical_url, host_key, join
from crawler.reading.documents import Listed
from crawler.reading.errors import ReadingError
from crawler.reading.inflate import head_inside_gzip, without_gzip
from crawler.reading.limits import LIMITS
from crawler.reading.references import mended
from crawler.text.characters import storable

_PIECE = 1 << 20
_PARTS = 1_000  # of a text; references cut it into parts
_HEAD_BYTES = 4096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WEB_ADDRESS = re.compile(rb"https?://[^\s<>\"]+$")
_HOLDERS = frozenset({"url", "sitemap", "urlset", "sitemapindex", ""})
"""Elements whose addresses are of pages; those of pictures and films stand within elements of their own."""
_ROOT = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]")
_BEGIN = re.compile(rb"<\?xml\s|" + _ROOT.pattern)
_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,100}\sencoding\s*=\s*[\"'](?!utf-?8[\"'])", re.IGNORECASE)
"""The declaration of another encoding than UTF-8."""
_SECTION, _SECTION_END = b"<![CDATA[", b"]]>"


def is_sitemap(body: bytes) -> bool:
    """Return whether the document is a sitemap or an index of them, packed or not."""
    return _ROOT.search((head_inside_gzip(body) or body)[:2048]) is not None


def is_list_of_addresses(body: bytes) -> bool:
    """Return whether the document is a sitemap in its form as text: an address on each line."""
    lines = (head_inside_gzip(body) or body[:_HEAD_BYTES]).lstrip(_BYTE_ORDER_MARK).split()
    lines = lines[:-1] or lines  # the last one may be cut
    # All lines, for any text has addresses in some.
    return bool(lines) and all(map(_WEB_ADDRESS.match, lines))


def sitemap_links(body: bytes, url: str, max_pages: int) -> tuple[tuple[str, ...], int]:
    """Return up to `max_pages` canonical URLs on whatever host, and the number of further ones.

    Raises ReadingError when it is too large or no XML.
    """
    listed, cut, _ = read_sitemap(body, url, max_pages, own_host=False)
    return tuple(page.url for page in listed), cut


def read_sitemap(
    body: bytes, url: str, max_pages: int, *, own_host: bool = True
) -> tuple[tuple[Listed, ...], int, bool]:
    """Read the pages with their times of modification, with `own_host` only those on the sitemap's host.

    Also returns the number of further ones, and whether they are sitemaps themselves.
    """
    body = without_gzip(body, LIMITS.sitemap_bytes)
    index = b"sitemapindex" in body[:2048]
    stamps: dict[str, str] = {}
    cut = 0
    host = host_key(url)
    entries = _entries(body) if _ROOT.search(body[:2048]) else listed_addresses(body)
    try:
        for text, stamp in entries:
            try:
                link = canonical_url(join(url, text) if _is_relative(text) else text)
                # sitemaps.org: a sitemap speaks for its own host.
                if link in stamps or (own_host and host_key(link) != host):
                    continue
            except BadUrl:
                continue
            if len(stamps) >= max_pages:
                cut += 1
            else:
                stamps[link] = stamp
    except etree.XMLSyntaxError as error:
        # A sitemap that is cut off names pages up to there.
        if not stamps:
            raise ReadingError("malformed", str(error)[:300]) from error
    return tuple(Listed(link, stamp) for link, stamp in stamps.items()), cut, index


def _is_relative(address: str) -> bool:
    """Return whether an address needs that of the sitemap: it begins with no scheme and with no host."""
    return "://" not in address and (address.startswith(("/", ".")) or "." not in address.partition("/")[0])


def listed_addresses(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the addresses of a sitemap as text, whose times are not known."""
    for line in body.lstrip(_BYTE_ORDER_MARK).split():
        yield line[: LIMITS.address + 1].decode("utf-8", "replace"), ""


def _entries(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield addresses and times as written; a time belongs to the address beside it."""
    reader = _Reader()
    try:
        for _ in events_into(reader, body):
            yield from reader.taken()
    except etree.XMLSyntaxError:
        yield from reader.taken()  # what stood before the fault
        raise
    reader.end_entry()
    yield from reader.taken()


def events_into(reader: object, body: bytes) -> Iterator[None]:
    """Feed a sitemap to a parser's target, and yield after each piece. Raises etree.XMLSyntaxError.

    What stands before the declaration, stray ampersands and bytes that are no UTF-8, all of which XML
    forbids, are mended.
    """
    parser = etree.XMLParser(
        target=reader,  # type: ignore[arg-type]  # a target needs no more methods
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    begin = _BEGIN.search(body, 0, _HEAD_BYTES)
    first = begin.start() if begin else len(body) - len(body.lstrip())
    whole = _pieces(body, first, len(body))
    legal = _mended_around_sections(body, first) if _SECTION in body else mended(whole)
    if b"\0" not in body[:4] and not _ENCODING.match(body, first):
        legal = (text.encode() for text in codecs.iterdecode(legal, "utf-8", "replace"))
    for piece in legal:
        parser.feed(piece)
        yield
    parser.close()


def _pieces(body: bytes, start: int, end: int) -> Iterator[bytes]:
    return (body[place : min(place + _PIECE, end)] for place in range(start, end, _PIECE))


def _mended_around_sections(body: bytes, first: int) -> Iterator[bytes]:
    """Yield a sitemap with the references mended outside of its CDATA sections, in which `&` is a letter."""
    place = first
    while (start := body.find(_SECTION, place)) >= 0:
        yield from mended(_pieces(body, place, start))
        end = body.find(_SECTION_END, start)
        place = end + len(_SECTION_END) if end >= 0 else len(body)
        yield from _pieces(body, start, place)
    yield from mended(_pieces(body, place, len(body)))


class _Reader:
    """A parser target without a tree: 50 MB of empty elements would take gigabytes in one."""

    def __init__(self) -> None:
        self._left = LIMITS.sitemap_elements
        self._found: list[tuple[str, str]] = []
        self._address = self._stamp = ""
        self._text: list[str] | None = None
        self._path: list[str] = []

    def taken(self) -> list[tuple[str, str]]:
        """Take the entries found since the last call."""
        read, self._found = self._found, []
        return read

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        """Begin an element. Raises ReadingError(too-large) for more elements than any sitemap has."""
        self._left -= 1
        if self._left < 0:
            raise ReadingError("too-large", f"more than {LIMITS.sitemap_elements} elements")
        name = local_name(tag)
        is_ours = name in ("loc", "lastmod") and (self._path[-1] if self._path else "") in _HOLDERS
        self._text = [] if is_ours else None
        self._path.append(name)

    def data(self, text: str) -> None:
        """Collect a part of an address or time, up to its greatest length."""
        if self._text is not None and len(self._text) < _PARTS:
            self._text.append(text[: LIMITS.address])

    def end(self, tag: str) -> None:
        """End an entry, also where the next one begins without an end."""
        name = local_name(tag)
        if self._path:
            self._path.pop()
        if name in ("loc", "lastmod") and self._text is None:
            return  # of a picture or film
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


def local_name(tag: str) -> str:
    """Return an element's name; one whose prefix is not declared keeps it, for it is no element of ours."""
    return tag.rpartition("}")[2]
