"""Sitemaps (sitemaps.org 0.9): the URLs that a site names itself, from hostile XML."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator

from lxml import etree

from articles.extraction import ExtractionError
from crawler.http.urls import BadUrl, canonical_url, host_key
from crawler.messages import Listed

MOST_BYTES = 50_000_000
"""Uncompressed, as sitemaps.org allows."""

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
    events = etree.iterparse(
        io.BytesIO(body),
        tag=("{*}loc", "{*}lastmod", "{*}url", "{*}sitemap"),
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
    )
    address = stamp = ""
    for _, element in events:
        name = etree.QName(element).localname
        text = (element.text or "").strip()
        element.clear()
        if name == "lastmod":
            stamp = text[:40]
        elif name == "loc" and not address:
            address = text
        else:  # the entry has ended, or another begins without one
            if address:
                yield address, stamp
            address, stamp = (text, "") if name == "loc" else ("", "")
    if address:
        yield address, stamp


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
