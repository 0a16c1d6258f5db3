"""Parsing of a feed's bytes: cheap refusals, the fast reader, repair, feedparser last.

All of it is pure: no network, no files, nothing kept between calls.
"""

from __future__ import annotations

from lxml import etree

from crawler.reading.charset import to_utf8
from crawler.reading.documents import FeedDocument
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.build import document
from crawler.reading.feeds.jsonfeed import read_json
from crawler.reading.feeds.raw import RawFeed
from crawler.reading.feeds.repair import repair
from crawler.reading.feeds.sniff import description, is_feed_root, media
from crawler.reading.feeds.tolerant import read_tolerantly
from crawler.reading.feeds.xmlfeed import parse_xml, read_xml
from crawler.reading.inflate import without_gzip
from crawler.reading.limits import LIMITS, Limits


def parse_feed(body: bytes, *, url: str, content_type: str = "", limits: Limits = LIMITS) -> FeedDocument:
    """Parse the feed in a response body from `url` (the address after redirects).

    Reads RSS 0.90 to 2.0, RSS 1.0, Atom 0.3 and 1.0, JSON Feed, well-formed or not. Raises ReadingError with
    kind not-a-feed (the detail says what it is instead), malformed, too-deep or too-large.
    """
    body = without_gzip(body, limits.bytes)
    data, sound = to_utf8(body, content_type)
    # By the bytes: servers send JSON Feed as application/json, text/html and text/plain.
    if data[:4096].lstrip()[:1] == b"{":
        return document(read_json(data, limits), url, limits, well_formed=sound)
    if not is_feed_root(data):
        raise ReadingError("not-a-feed", media(body) or description(data))
    raw, well_formed = _read(data, url, limits)
    if raw is None:
        raise ReadingError("not-a-feed", description(data))
    return document(raw, url, limits, well_formed=well_formed and sound)


def _read(data: bytes, url: str, limits: Limits) -> tuple[RawFeed | None, bool]:
    """Read the feed's fields by the first reader that can. Also returns whether it was well-formed."""
    try:
        return read_xml(parse_xml(data, url, limits), url, limits), True
    except etree.XMLSyntaxError as error:
        # Mending takes several passes over the text; large ill-formed documents are mostly no feeds.
        if len(data) > limits.mended_bytes:
            raise ReadingError("malformed", str(error)[:200]) from error
        text = repair(data.decode("utf-8", "replace"))
    try:
        return read_xml(parse_xml(text.encode("utf-8", "replace"), url, limits), url, limits), False
    # elfeed 411: HTML in a description that was not escaped; feedparser gets along with it.
    except etree.XMLSyntaxError as error:
        raw = read_tolerantly(text, limits)
        if raw is None or not (raw.entries or raw.title):
            raise ReadingError("malformed", str(error)[:200]) from error
        return raw, False
