"""What controller and terminals say to each other: small frozen records with one encoding.

A `Batch` of `Assignment`s for one host goes out on the queue `fetch`; `Report`s with `Harvest`s
come back on the queue `store`. Nothing here knows a database or the network, so that both sides,
the replay and the tests can share it. Times are seconds since the epoch (UTC), durations seconds.
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

from crawler.http.site_lines import Robots
from crawler.reading.documents import Payload
from crawler.reading.inflate import inflated
from crawler.text.records import Record

log = logging.getLogger(__name__)

# After so many seconds a terminal gives the rest of a batch back, so that nobody waits for a slow host.
TURN_SECONDS = 10.0

Kind = str
"""Of work: apps have the names (`crawler.engine.work`)."""

Brought = TypeVar("Brought", bound=Payload)
Message = TypeVar("Message", bound=Record)


class Assignment(Record, frozen=True):
    """One thing to do for a kind of work, which reads of it what it has put there.

    `content` is what is sent to the address, or what came from it with its `content_type`. With `any_type`
    not only pages are wanted. With `selectors` a page is read for its text, what they match marked as
    ignored. A `suspect` has lost a lease, and is alone in its batch.
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


class Batch(Record, frozen=True):
    """Assignments of one host under one lease. After `expires` a terminal must not start a request.

    Work that asks nobody needs no host: `host` is empty.
    """

    host: str
    lease: str
    expires: float
    spacing: float
    assignments: tuple[Assignment, ...]
    robots: Robots | None = None


class Harvest(Record, frozen=True):
    """The answer to one assignment. `failure` is a name of the taxonomy, empty on success.

    `unchanged` is true on 304 and when the body's hash is the stored one. `moved_to` is set when
    every redirect on the way was permanent (301, 308). `retry_after` and `max_age` are seconds
    from `at`. What was read is the `payload`.
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
        """The payload, if it is of this class."""
        return self.payload if isinstance(self.payload, kind) else None


class Report(Record, frozen=True):
    """All harvests of one lease. It ends the lease; assignments without a harvest are free again.

    `pause` are seconds for which the host is to be left alone from now on.
    """

    host: str
    lease: str
    harvests: tuple[Harvest, ...] = ()
    robots: Robots | None = None
    pause: float = 0.0


MOST_BYTES = 128 * 1024 * 1024
"""Of a message as JSON: what is longer is neither sent nor read. A packed one may be a thousandth of that."""


_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def encode(message: Record) -> str:
    """The message as text for any broker: JSON without empty fields, deflated, base64.

    Half of a surrogate pair, which no UTF-8 can carry, becomes a question mark. Raises ValueError for a
    message of more than MOST_BYTES.
    """
    try:
        raw = msgspec.json.encode(message)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(message)
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
        if b"\\u0000" in raw:
            raw = _NUL.sub(rb"\1\\ufffd", raw)
        _know((kind,))
        return msgspec.json.decode(raw, type=kind, dec_hook=_payload)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"damaged {kind.__name__}: {str(error)[:300]}") from error


def decode_all(kind: type[Message], texts: Sequence[str]) -> list[Message]:
    """The messages; one that is damaged, or none of ours, is dropped with a word, and harms no other."""
    read = []
    for text in texts:
        try:
            read.append(decode(kind, text))
        except ValueError as error:
            log.warning("a message was dropped: %s", error)
    return read


def _payload(_: type, plain: Any) -> Any:
    """A payload of the class that it names."""
    kinds = tuple(Payload.__subclasses__())
    _know(kinds)
    return msgspec.convert(plain, Union[kinds])  # noqa: UP007 - known when it runs


_known: set[tuple[type, ...]] = set()
_learning = threading.Lock()


def _know(kinds: tuple[type, ...]) -> None:
    """Let msgspec learn the fields of these classes, in one thread.

    It does so when a class is first decoded; a second thread that decodes it meanwhile finds what is half
    learned, and msgspec 0.22 ends the process with a segmentation fault.
    """
    if kinds not in _known:
        with _learning:
            msgspec.json.Decoder(Union[kinds], dec_hook=_payload)  # noqa: UP007 - known when it runs
            _known.add(kinds)
