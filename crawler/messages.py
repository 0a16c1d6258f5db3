"""What controller and terminals say to each other: small frozen records with one encoding.

A `Batch` of `Assignment`s for one host goes out on the queue `fetch`; `Report`s with `Harvest`s
come back on the queue `store`. Nothing here knows a database or the network, so that both sides,
the replay and the tests can share it. Times are seconds since the epoch (UTC), durations seconds.
"""

from __future__ import annotations

import base64
import json
import logging
import types
import typing
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar

import orjson

from crawler.http.site_lines import Robots
from crawler.reading.documents import CrawledPage, FeedDocument, FeedLink, Listed, PageDocument
from crawler.reading.inflate import inflated

log = logging.getLogger(__name__)

# After so many seconds a terminal gives the rest of a batch back, so that nobody waits for a slow host.
TURN_SECONDS = 10.0

Kind = str
"""Of work: apps have the names (`crawler.engine.work`)."""


PAGE_READING = "2"
"""Version of what terminals read from article pages: main text, language, metadata."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """An article page that is stored, to be read again: its HTML as it was received (zlib).

    Only what comes back with the `permit` is taken.
    """

    id: int
    url: str
    html: bytes
    content_type: str = ""
    permit: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One thing to do: download a feed, an article's page, a crawl's page; ask a hub; read what it pushed.

    `id` is that of the feed, of a page its own. `content` is the form for a hub, or what a hub pushed
    with its `content_type`. A crawl that takes `any_type` wants feeds and data as well as pages. Pages of
    watched sites are read for their text, what the `selectors` match marked as ignored. A `suspect` has lost
    a lease, and is alone in its batch.
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
    suspect: bool = False


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
    """All harvests of one lease. It ends the lease; assignments without a harvest are free again.

    `pause` are seconds for which the host is to be left alone from now on.
    """

    host: str
    lease: str
    harvests: tuple[Harvest, ...] = ()
    robots: Robots | None = None
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Reread:
    """What a stored page says by today's reading, with the permit to write it down."""

    permit: str
    harvest: Harvest


Message = TypeVar("Message")


MOST_BYTES = 128 * 1024 * 1024
"""Of a message as JSON: what is longer is neither sent nor read. A packed one may be a thousandth of that."""


def encode(message: object) -> str:
    """The message as text for any broker: JSON without empty fields, deflated, base64.

    Half of a surrogate pair, which no UTF-8 can carry, becomes a question mark. Raises ValueError for a
    message of more than MOST_BYTES.
    """
    plain = _plain(message)
    try:
        raw = orjson.dumps(plain)
    except TypeError:  # such a half, or an integer beyond 64 bits
        raw = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
    if len(raw) > MOST_BYTES:
        raise ValueError(f"a {type(message).__name__} of {len(raw)} bytes is longer than {MOST_BYTES}")
    return base64.b64encode(zlib.compress(raw, 1)).decode("ascii")


def decode(kind: type[Message], text: str) -> Message:
    """The message of the given kind back from `encode`; NUL, which no database text holds, becomes U+FFFD.

    Raises ValueError when it is damaged, holds other types than the kind's, or more than MOST_BYTES.
    """
    try:
        raw = inflated(base64.b64decode(text, validate=True), MOST_BYTES)
        plain = orjson.loads(raw)
        if b"\\u0000" in raw:
            plain = _without_nul(plain)
        message = _reader(kind)(plain)  # type: ignore[arg-type]
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ValueError(f"damaged {kind.__name__}: {str(error)[:300]}") from error
    return typing.cast(Message, message)


def decode_all(kind: type[Message], texts: Sequence[str]) -> list[Message]:
    """The messages; one that is damaged, or none of ours, is dropped with a word, and harms no other."""
    read = []
    for text in texts:
        try:
            read.append(decode(kind, text))
        except ValueError as error:
            log.warning("a message was dropped: %s", error)
    return read


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, list):
        return [_without_nul(one) for one in value]
    return {key: _without_nul(one) for key, one in value.items()} if isinstance(value, dict) else value


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
def _reader(kind: Any) -> Callable[[Any], Any]:
    """The inverse of `_plain` for an annotated type; it raises TypeError for a value of another."""
    if isinstance(kind, types.UnionType):
        some = _reader(next(k for k in typing.get_args(kind) if k is not type(None)))
        return lambda value: None if value is None else some(value)
    if is_dataclass(kind):
        readers = {name: _reader(hint) for name, hint in typing.get_type_hints(kind).items()}
        return lambda value: kind(**{name: readers[name](given) for name, given in value.items()})  # type: ignore[operator]
    if typing.get_origin(kind) is tuple:
        return _tuple_reader(typing.get_args(kind))
    if typing.get_origin(kind) is Literal:
        return _checked((str,), frozenset(typing.get_args(kind)))
    return _scalar_reader(kind)


def _scalar_reader(kind: Any) -> Callable[[Any], Any]:
    if kind is bytes:
        return lambda value: base64.b64decode(value, validate=True)
    if kind is int:
        whole = _checked((int, float))  # beyond 64 bits orjson reads a float
        return lambda value: int(value) if whole(value) == int(value) else _checked((int,))(value)
    return _checked((int, float) if kind is float else (kind,))


def _tuple_reader(inner: tuple[Any, ...]) -> Callable[[Any], Any]:
    """`tuple[X, ...]`, or a tuple of as many types as it names."""
    if inner[-1] is not Ellipsis:
        parts = [_reader(one) for one in inner]
        return lambda values: tuple(part(one) for part, one in zip(parts, values, strict=True))
    each, list_only = _reader(inner[0]), _checked((list,))
    return lambda values: tuple(map(each, list_only(values)))


def _checked(wanted: tuple[type, ...], among: frozenset[str] | None = None) -> Callable[[Any], Any]:
    """The value. Raises TypeError for one of another type (a bool is no number) or not `among` these."""

    def check(value: Any) -> Any:
        if type(value) not in wanted or (among is not None and value not in among):
            raise TypeError(f"{str(value)[:50]!r} where {'/'.join(one.__name__ for one in wanted)} belongs")
        return value

    return check
