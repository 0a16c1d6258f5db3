"""The messages between controller and terminals: small frozen records with one encoding.

A `Batch` of `Assignment`s for one host goes out on the queue `fetch`; `Report`s with `Harvest`s come back on
the queue `store`. This module needs no database and no network, so that both sides, the replay and the tests
can share it. Times are seconds since the epoch (UTC), durations seconds.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import threading
import zlib
from collections.abc import Sequence
from typing import Any, TypeVar, Union

import msgspec

from crawler.fetching.http.logins import Login
from crawler.fetching.http.site_lines import Robots
from crawler.reading.documents import Payload
from crawler.reading.inflate import inflated
from crawler.text.records import Record

log = logging.getLogger(__name__)

# After so many seconds a terminal gives the rest of a batch back, so that nobody waits for a slow host.
TURN_SECONDS = 10.0

Kind = str
"""Name of a kind of work, given by an app (`crawler.engine.work`)."""

Brought = TypeVar("Brought", bound=Payload)
Ordered = TypeVar("Ordered", bound="Order")
Message = TypeVar("Message", bound=Record)


class Order:
    """The parameters of an assignment that are specific to its kind; subclasses are identified by name.

    All of their fields have defaults.
    """

    __slots__ = ()


class Assignment(Record, frozen=True):
    """A task for a terminal: an address, what is known of it (`etag` to `body_hash`), and the kind's `order`.

    A `suspect` has lost a lease, and is alone in its batch. With an `owner` this person's
    logins are sent, too.
    """

    kind: Kind
    id: int
    url: str
    etag: str = ""
    last_modified: str = ""
    body_hash: str = ""
    suspect: bool = False
    order: Order | None = None
    owner: int = 0

    def ordered(self, kind: type[Ordered]) -> Ordered:
        """Return the order as this class, or its defaults if there is none."""
        return self.order if isinstance(self.order, kind) else kind()


class Batch(Record, frozen=True):
    """The assignments of one host under one lease. After `expires` a terminal must not start a request.

    `host` is empty for work that needs no host. `logins` are sent with the requests they are for.
    """

    host: str
    lease: str
    expires: float
    spacing: float
    assignments: tuple[Assignment, ...]
    robots: Robots | None = None
    logins: tuple[Login, ...] = ()


class Harvest(Record, frozen=True):
    """The result of one assignment. `failure` is a name of the taxonomy, empty on success.

    `unchanged` is true on 304 and when the body's hash is the stored one. `moved_to` is set when every
    redirect on the way was permanent (301, 308). `retry_after` and `max_age` are seconds from `at`. `payload`
    is the document that was read.
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
    payload: Payload | None = None

    def brought(self, kind: type[Brought]) -> Brought | None:
        """Return the payload if it is of this class, else None."""
        return self.payload if isinstance(self.payload, kind) else None


class Report(Record, frozen=True):
    """The harvests of one lease, which the report ends; assignments without a harvest are free again.

    `pause` is the number of seconds for which the host is to be left alone from now on.
    """

    host: str
    lease: str
    harvests: tuple[Harvest, ...] = ()
    robots: Robots | None = None
    pause: float = 0.0


MAX_BYTES = 128 * 1024 * 1024
"""Maximum bytes of a message as JSON, for sending and reading. Deflated, it may be a thousandth of that."""


_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def encode(message: Record) -> str:
    """Encode the message as text for any broker: JSON without empty fields, deflated, base64.

    JSON, because NUL shows in its bytes. In MessagePack only a walk over all decoded fields finds it, which
    makes decoding a feed of 30 entries ten times as slow (1.4 instead of 0.13 ms), and saves crawls 3 % of
    the bytes.

    Half of a surrogate pair, which UTF-8 cannot carry, becomes a question mark. Raises ValueError for a
    message of more than MAX_BYTES.
    """
    try:
        raw = msgspec.json.encode(message)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(message)
        raw = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
    if len(raw) > MAX_BYTES:
        raise ValueError(f"a {type(message).__name__} of {len(raw)} bytes is longer than {MAX_BYTES}")
    return base64.b64encode(zlib.compress(raw, 1)).decode("ascii")


def decode(kind: type[Message], text: str) -> Message:
    """Decode a message of the given kind. NUL, which no database text can hold, becomes U+FFFD.

    Raises ValueError for a damaged message, wrong field types, or more than MAX_BYTES.
    """
    try:
        raw = inflated(base64.b64decode(text, validate=True), MAX_BYTES)
        if b"\\u0000" in raw:
            raw = _NUL.sub(rb"\1\\ufffd", raw)
        _know((kind,))
        return msgspec.json.decode(raw, type=kind, dec_hook=_of_kind)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"damaged {kind.__name__}: {str(error)[:300]}") from error


def decode_all(kind: type[Message], texts: Sequence[str]) -> list[Message]:
    """Decode messages. Drops damaged ones with a warning."""
    read = []
    for text in texts:
        try:
            read.append(decode(kind, text))
        except ValueError as error:
            log.warning("a message was dropped: %s", error)
    return read


def _of_kind(base: type, plain: Any) -> Any:
    """Convert plain data to an order or payload of the class that it names."""
    kinds: tuple[type, ...] = tuple(base.__subclasses__())
    _know(kinds)
    return msgspec.convert(plain, Union[kinds])  # noqa: UP007 - known when it runs


_learned_kinds: set[tuple[type, ...]] = set()
_learning = threading.Lock()


def _know(kinds: tuple[type, ...]) -> None:
    """Let msgspec learn the fields of these classes, in one thread.

    msgspec does so when a class is first decoded. A second thread that decodes the class meanwhile finds it
    half learned, and msgspec 0.22 ends the process with a segmentation fault.
    """
    if kinds not in _learned_kinds:
        with _learning:
            msgspec.json.Decoder(Union[kinds], dec_hook=_of_kind)  # noqa: UP007 - known when it runs
            _learned_kinds.add(kinds)
