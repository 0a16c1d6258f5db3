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
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar

Kind = Literal["feed", "page"]


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


@dataclass(frozen=True, slots=True)
class PageDocument:
    """An article page: the HTML as received (zlib), and what was read from it."""

    html: bytes = b""
    title: str = ""
    text: str = ""
    language: str = ""
    author: str = ""
    published: float | None = None
    canonical_url: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One download to do: a feed or an article page."""

    kind: Kind
    id: int
    url: str
    etag: str = ""
    last_modified: str = ""
    body_hash: str = ""
    known: bytes = b""
    subscribers: int = 0


@dataclass(frozen=True, slots=True)
class Robots:
    """An origin's robots.txt as last read: `status` 200 with its text, 404 without, 500 when unreadable."""

    status: int
    text: str
    at: float
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Assignments of one host under one lease. After `expires` a terminal must not start a request."""

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
    from `at`. `links` are the feeds found when the body was an HTML page instead of a feed.
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
    links: tuple[FeedLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All harvests of one lease. It ends the lease; assignments without a harvest are free again."""

    host: str
    lease: str
    harvests: tuple[Harvest, ...] = ()
    robots: Robots | None = None


Message = TypeVar("Message", Batch, Report)


def encode(message: Batch | Report) -> str:
    """The message as text for any broker: JSON without empty fields, deflated, base64."""
    raw = json.dumps(_plain(message), separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(raw.encode("utf-8", "surrogatepass"), 1)).decode("ascii")


def decode(kind: type[Message], text: str) -> Message:
    """The message of the given kind back from `encode`. Raises ValueError when it is damaged."""
    try:
        raw = zlib.decompress(base64.b64decode(text, validate=True)).decode("utf-8", "surrogatepass")
        message = _typed(kind, json.loads(raw))
    except (zlib.error, KeyError, TypeError) as error:
        raise ValueError(f"damaged {kind.__name__}: {error}") from error
    return typing.cast(Message, message)


def _plain(value: Any) -> Any:
    """Dataclasses to dictionaries without defaults, bytes to base64."""
    if is_dataclass(value):
        given = ((f, getattr(value, f.name)) for f in fields(value))
        return {f.name: _plain(v) for f, v in given if v != f.default}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value


def _typed(kind: Any, value: Any) -> Any:
    """The inverse of `_plain` for an annotated type."""
    if isinstance(kind, types.UnionType):
        if value is None:
            return None
        kind = next(k for k in typing.get_args(kind) if k is not type(None))
    if is_dataclass(kind):
        hints = _hints(kind)  # type: ignore[arg-type]
        return kind(**{k: _typed(hints[k], v) for k, v in value.items()})  # type: ignore[operator]
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)[0]
        return tuple(_typed(inner, v) for v in value)
    if kind is bytes:
        return base64.b64decode(value)
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Resolved annotations of a record (typing.get_type_hints is slow)."""
    return typing.get_type_hints(kind)
