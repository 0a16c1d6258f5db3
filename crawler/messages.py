"""What controller and terminals say to each other: small frozen records with one encoding.

A `Batch` of `Assignment`s for one host goes out on the queue `fetch`; `Report`s with `Harvest`s
come back on the queue `store`. Nothing here knows a database or the network, so that both sides,
the replay and the tests can share it. Times are seconds since the epoch (UTC), durations seconds.
"""

from __future__ import annotations

import base64
import json
import types
import typing
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar

import orjson

# After so many seconds a terminal gives the rest of a batch back, so that nobody waits for a slow host.
TURN_SECONDS = 10.0

Kind = Literal["feed", "page", "hub", "push", "crawl", "watch", "source"]


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A media file that an entry carries (RSS enclosure, Atom link rel=enclosure, JSON attachment)."""

    url: str
    type: str = ""
    length: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
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


@dataclass(frozen=True, slots=True)
class FeedDocument:
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


@dataclass(frozen=True, slots=True)
class FeedLink:
    """A feed that an HTML page names (link rel=alternate), or a likely one among its links."""

    url: str
    title: str = ""
    type: str = ""


PAGE_READING = "2"
"""Version of what terminals read from article pages: main text, language, metadata."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """An article page that is stored, to be read again: its HTML as it was received (zlib)."""

    id: int
    url: str
    html: bytes
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class PageDocument:
    """An article page: the HTML as received (zlib) with its type, and what was read from it."""

    html: bytes = b""
    content_type: str = ""
    title: str = ""
    text: str = ""
    language: str = ""
    author: str = ""
    published: float | None = None
    canonical_url: str = ""


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page of a crawl: where it leads (canonical, each once), its bytes (zlib), what was told of them.

    `cut` counts links beyond those that are taken of one page. Pages of watched sites have their text as
    marked `lines` (`recrawl.content`). A `sitemap` has links alone.
    """

    links: tuple[str, ...] = ()
    cut: int = 0
    title: str = ""
    content_type: str = ""
    size: int = 0
    digest: str = ""
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    lines: bytes = b""
    sitemap: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A page that a sitemap or a feed names, with the time that it gives for it, as written there."""

    url: str
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One thing to do: download a feed, an article's page, a crawl's page; ask a hub; read what it pushed.

    `id` is that of the feed, of a page its own. `content` is the form for a hub, or what a hub pushed
    with its `content_type`. A crawl that takes `any_type` wants feeds and data as well as pages. Pages of
    watched sites are read for their text, what the `selectors` match marked as ignored.
    """

    kind: Kind
    id: int
    url: str
    etag: str = ""
    last_modified: str = ""
    body_hash: str = ""
    known: bytes = b""
    subscribers: int = 0
    content: bytes = b""
    content_type: str = ""
    any_type: bool = False
    selectors: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Robots:
    """An origin's robots.txt as last read: `status` 200 with its text, 404 without, 500 when unreadable."""

    status: int
    text: str
    at: float
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Assignments of one host under one lease. After `expires` a terminal must not start a request.

    What hubs pushed needs no host: `host` is empty.
    """

    host: str
    lease: str
    expires: float
    spacing: float
    assignments: tuple[Assignment, ...]
    robots: Robots | None = None


@dataclass(frozen=True, slots=True)
class Harvest:
    """The answer to one assignment. `failure` is a name of the taxonomy, empty on success.

    `unchanged` is true on 304 and when the body's hash is the stored one. `moved_to` is set when
    every redirect on the way was permanent (301, 308). `retry_after` and `max_age` are seconds
    from `at`. `links` are the feeds that an HTML page names; `listed` are the pages that a site's sitemap or
    feed names, `index` tells that they are sitemaps themselves.
    """

    kind: Kind
    id: int
    at: float
    url: str
    final_url: str = ""
    moved_to: str = ""
    status: int = 0
    failure: str = ""
    detail: str = ""
    elapsed: float = 0.0
    bytes: int = 0
    conditional: bool = False
    unchanged: bool = False
    etag: str = ""
    last_modified: str = ""
    body_hash: str = ""
    retry_after: float | None = None
    max_age: float | None = None
    feed: FeedDocument | None = None
    page: PageDocument | None = None
    crawled: CrawledPage | None = None
    links: tuple[FeedLink, ...] = ()
    listed: tuple[Listed, ...] = ()
    index: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """All harvests of one lease. It ends the lease; assignments without a harvest are free again."""

    host: str
    lease: str
    harvests: tuple[Harvest, ...] = ()
    robots: Robots | None = None


Message = TypeVar("Message")


def encode(message: object) -> str:
    """The message as text for any broker: JSON without empty fields, deflated, base64.

    Half of a surrogate pair, which no UTF-8 can carry, becomes a question mark.
    """
    plain = _plain(message)
    try:
        raw = orjson.dumps(plain)
    except TypeError:  # such a half, or an integer beyond 64 bits
        raw = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
    return base64.b64encode(zlib.compress(raw, 1)).decode("ascii")


def decode(kind: type[Message], text: str) -> Message:
    """The message of the given kind back from `encode`. Raises ValueError when it is damaged."""
    try:
        raw = zlib.decompress(base64.b64decode(text, validate=True))
        read = _reader(kind)  # type: ignore[arg-type]
        message = read(orjson.loads(raw)) if read else None
    except (zlib.error, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"damaged {kind.__name__}: {error}") from error
    return typing.cast(Message, message)


def _plain(value: Any) -> Any:
    """Dataclasses to dictionaries without defaults, bytes to base64."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if is_dataclass(value):
        return {
            name: given if type(given) is str else _plain(given)
            for name, default in _defaults(type(value))  # type: ignore[arg-type]
            if (given := getattr(value, name)) != default
        }
    return value


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """Names of a record's fields with their defaults."""
    return tuple((field.name, field.default) for field in fields(kind))


@cache
def _reader(kind: Any) -> Callable[[Any], Any] | None:
    """The inverse of `_plain` for an annotated type; None where the value stays as it is."""
    if isinstance(kind, types.UnionType):
        return _reader(next(k for k in typing.get_args(kind) if k is not type(None)))
    if is_dataclass(kind):
        readers = {name: _reader(hint) for name, hint in typing.get_type_hints(kind).items()}

        def record(value: dict[str, Any]) -> Any:
            given = {k: read(v) if (read := readers[k]) else v for k, v in value.items()}
            return kind(**given)  # type: ignore[operator]

        return record
    if typing.get_origin(kind) is tuple:
        inner = _reader(typing.get_args(kind)[0])
        return tuple if inner is None else lambda values: tuple(map(inner, values))
    return base64.b64decode if kind is bytes else None
