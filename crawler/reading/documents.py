"""What bytes from the web become: feeds with their entries, pages, lists of pages. Small frozen records.

A `Payload` is one that a terminal sends to the controller. Times are seconds since the epoch (UTC),
durations seconds.
"""

from __future__ import annotations

from crawler.text.records import Record

REQUEST, STATUS = ":request", ":status"
"""Before the headers of a crawled page: the request's head as sent, and the status line as received.

No header of HTTP/1.1 has a colon in its name.
"""


class Payload:
    """What the answer to one assignment brings; subclasses are known by their names."""

    __slots__ = ()

    @property
    def weight(self) -> int:
        """Bytes of the documents in it, unpacked."""
        return 0


class Enclosure(Record, frozen=True):
    """A media file that an entry carries (RSS enclosure, Atom link rel=enclosure, JSON attachment)."""

    url: str
    type: str = ""
    length: int = 0


class Entry(Record, frozen=True):
    """One item of a feed as the feed gives it; HTML is sanitised and its URLs are absolute.

    `identity` is the guid or id as the feed gave it, else the absolute URL, else the title.
    """

    identity: str
    url: str = ""
    title: str = ""
    author: str = ""
    published: float | None = None
    updated: float | None = None
    summary: str = ""
    content: str = ""
    text: str = ""
    language: str = ""
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()


class FeedDocument(Record, frozen=True):
    """What a feed says of itself, and its entries in document order.

    `ttl` and `update_period` are seconds; `skip_hours` are hours of day in GMT, `skip_days` days
    of week with Monday = 0. `fingerprints` concatenates one 12-byte record per entry of the whole
    document (8 bytes of identity, 4 of content); after the terminal compared them with the
    assignment's, `entries` holds only the new ones and `edited` the known ones with new content.
    """

    format: str
    title: str = ""
    site_url: str = ""
    self_url: str = ""
    description: str = ""
    language: str = ""
    hub: str = ""
    ttl: float | None = None
    update_period: float | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    entries: tuple[Entry, ...] = ()
    edited: tuple[Entry, ...] = ()
    fingerprints: bytes = b""
    size: int = 0
    well_formed: bool = True


class FeedLink(Record, frozen=True):
    """A feed that an HTML page names (link rel=alternate), or a likely one among its links."""

    url: str
    title: str = ""
    type: str = ""


class PageDocument(Record, Payload, frozen=True, tag=True):
    """An article page: the HTML as received (zlib) with its type, and what was read from it."""

    html: bytes = b""
    content_type: str = ""
    title: str = ""
    text: str = ""
    language: str = ""
    author: str = ""
    published: float | None = None
    canonical_url: str = ""

    @property
    def weight(self) -> int:
        return len(self.text)


class Listed(Record, frozen=True):
    """A page that a sitemap or a feed names, with the time that it gives for it, as written there."""

    url: str
    stamp: str = ""


class CrawledPage(Record, Payload, frozen=True, tag=True):
    """A page of a crawl: where it leads (canonical, each once), its bytes (zlib), what was told of them.

    `cut` counts links beyond those that are taken of one page, `withheld` those that are not to be followed.
    Where no copy is to be kept there is no `body`. Pages of watched sites have their text as
    marked `lines` (`crawler.reading.lines`), and the `feeds` that they name. A `sitemap` has links alone.
    """

    links: tuple[str, ...] = ()
    cut: int = 0
    withheld: int = 0
    title: str = ""
    content_type: str = ""
    size: int = 0
    digest: str = ""
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    lines: bytes = b""
    sitemap: bool = False
    feeds: tuple[FeedLink, ...] = ()

    @property
    def weight(self) -> int:
        return self.size


class RetrievedFeed(Record, Payload, frozen=True, tag=True):
    """What is at a feed's address: the feed, and a copy to keep; else the feeds that a page there names."""

    document: FeedDocument | None = None
    copy: CrawledPage | None = None
    links: tuple[FeedLink, ...] = ()

    @property
    def weight(self) -> int:
        return (self.document.size if self.document else 0) + (self.copy.size if self.copy else 0)


class ListedPages(Record, Payload, frozen=True, tag=True):
    """The pages that a sitemap or a feed names; of an `index` they are sitemaps themselves."""

    pages: tuple[Listed, ...] = ()
    index: bool = False
