"""Documents read from the web: feeds with their entries, pages, lists of pages. Small frozen records.

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
    """The content of the answer to one assignment; subclasses are known by their names."""

    __slots__ = ()

    @property
    def weight(self) -> int:
        """Bytes of the documents in it, unpacked."""
        return 0


class Enclosure(Record, frozen=True):
    """A media file of an entry: RSS enclosure, Atom link rel=enclosure, media:content, JSON attachment.

    `length` in bytes, `width` and `height` in pixels, `duration` in seconds; 0 if the feed does not say.
    `medium` is Media RSS's: image, audio, video, document or executable.
    """

    url: str
    type: str = ""
    length: int = 0
    medium: str = ""
    title: str = ""
    duration: int = 0
    width: int = 0
    height: int = 0


class CategoryTerm(Record, frozen=True):
    """A category with its scheme: Atom's term and label, RSS's domain."""

    term: str
    scheme: str = ""
    label: str = ""


class FileLink(Record, frozen=True):
    """A file about an entry: a transcript, or the chapters of an episode."""

    url: str
    type: str = ""
    language: str = ""


class Details(Record, frozen=True):
    """The rest of what a feed says of an entry. Fields are empty, 0 or None if it does not say.

    `image` is the address of a picture with its size in pixels; `duration` is seconds; `updated` is ISO 8601
    in UTC; `source_title` and `source_url` name the feed that the entry was taken from.
    """

    image: str = ""
    image_width: int = 0
    image_height: int = 0
    updated: str = ""
    duration: int = 0
    episode: str = ""
    season: str = ""
    episode_type: str = ""
    explicit: bool | None = None
    transcripts: tuple[FileLink, ...] = ()
    chapters: FileLink | None = None
    comments: str = ""
    comment_count: int | None = None
    comments_feed: str = ""
    source_title: str = ""
    source_url: str = ""
    via: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    contributors: tuple[str, ...] = ()
    terms: tuple[CategoryTerm, ...] = ()
    rights: str = ""
    latitude: float | None = None
    longitude: float | None = None


NO_DETAILS = Details()


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
    details: Details = NO_DETAILS


class FeedDocument(Record, frozen=True):
    """A feed's own fields, and its entries in document order.

    `ttl` and `update_period` are seconds; `skip_hours` are hours of day in GMT, `skip_days` days of week with
    Monday = 0. `icon` is the address of a small square picture, `image` of a larger one. `fingerprints`
    concatenates one 12-byte record per entry of the whole document (8 bytes of identity, 4 of content); after
    the terminal compared them with the assignment's, `entries` holds only the new ones and `edited` the known
    ones with new content.
    """

    format: str
    title: str = ""
    site_url: str = ""
    self_url: str = ""
    description: str = ""
    language: str = ""
    hub: str = ""
    icon: str = ""
    image: str = ""
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
    """An article page: the HTML as received (zlib) with its type, and what was read from it.

    `text` is its main text, a line for each paragraph, `content` the same as sanitised HTML,
    `image` the address of the picture that the page names for previews.
    """

    html: bytes = b""
    content_type: str = ""
    title: str = ""
    text: str = ""
    content: str = ""
    image: str = ""
    language: str = ""
    author: str = ""
    published: float | None = None
    canonical_url: str = ""

    @property
    def weight(self) -> int:
        return len(self.text)


class Listed(Record, frozen=True):
    """A page that a sitemap or a feed names, with the time given there, as written."""

    url: str
    stamp: str = ""


class Offer(Record, frozen=True):
    """A price with its currency (ISO 4217), and the availability as one word: `instock`, `outofstock` ..."""

    price: float | None = None
    currency: str = ""
    availability: str = ""


class CrawledPage(Record, Payload, frozen=True, tag=True):
    """A page of a crawl: its links (canonical, each once), its bytes (zlib), and what it declares.

    `cut` counts links beyond those that are taken of one page, `withheld` those that are not to be followed.
    Where no copy is to be kept there is no `body`. Pages of watched sites have their text as
    marked `lines` (`crawler.reading.lines`), the `feeds` that they name, and the `offer` that they state; in
    a browser a `picture` (WebP) and its `look`, a grid of grey cells. A `sitemap` has links alone.
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
    offer: Offer | None = None
    picture: bytes = b""
    look: bytes = b""

    @property
    def weight(self) -> int:
        return self.size


class Disagreement(Record, frozen=True):
    """A point in which feedparser reads a feed otherwise than we: `kind` is count, identity, date or link.

    `ours` and `theirs` are the two readings as text; times are ISO 8601 in UTC, no reading is empty.
    """

    kind: str
    ours: str = ""
    theirs: str = ""


class SourceRules(Record, frozen=True):
    """The way the entries of a document are chosen: expressions, "" for what is looked for by itself.

    For pages they are CSS selectors or XPath (`xpath:`), for JSON programs of jq or paths of JSONPath
    (`jsonpath:`). `next` leads to the next page of the list. With `browser` "yes" the page is opened in a
    browser first, for those that are empty without JavaScript.
    """

    entry: str = ""
    title: str = ""
    link: str = ""
    date: str = ""
    image: str = ""
    summary: str = ""
    next: str = ""
    browser: str = ""


class ReadSource(Record, frozen=True):
    """A source as it was read: its document, or none where its list has gone, with rules that may find it.

    `next` is the address of the next page of its list. An index of sitemaps may stay as it is while what
    stands in its sitemaps changes.
    """

    document: FeedDocument | None = None
    proposal: SourceRules | None = None
    next: str = ""
    is_index: bool = False


class RetrievedFeed(Record, Payload, frozen=True, tag=True):
    """The content of a feed's address: the feed and a copy to keep, or the feeds that a page there names.

    `opinion` is where another reader disagrees about the feed; None if it was not asked. `proposal` are rules
    for the list that has taken the place of one that a page no longer shows.
    """

    document: FeedDocument | None = None
    copy: CrawledPage | None = None
    links: tuple[FeedLink, ...] = ()
    opinion: tuple[Disagreement, ...] | None = None
    proposal: SourceRules | None = None

    @property
    def weight(self) -> int:
        return (self.document.size if self.document else 0) + (self.copy.size if self.copy else 0)


class ListedPages(Record, Payload, frozen=True, tag=True):
    """The pages that a sitemap or a feed names; of an `index` they are sitemaps themselves."""

    pages: tuple[Listed, ...] = ()
    index: bool = False
