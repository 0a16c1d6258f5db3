"""Programs in processes of their own: they read a part of another account, and an exported file.

What they answer is safe to show: content goes through the sanitiser that feeds go through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from articles.moving import fever, files, greader, miniflux
from articles.moving.http import Http
from articles.moving.values import ForeignAccount, MovedItem, MovedPart, MovingError
from crawler.fetching.http.addresses import AddressGuard
from crawler.fetching.http.guarded_sockets import guard_sockets
from crawler.fetching.sandboxed.programs import SENDING
from crawler.isolation import memory
from crawler.isolation.calls import register
from crawler.isolation.limits import ProcessLimits
from crawler.reading.pages.kept import clean_entry
from crawler.text.marking import gettext_noop

MOVE_IN, READ_EXPORT = "move-in", "read-export"
CPU_SECONDS = 60
"""Of the program that reads a file, whose every item is sanitised at once."""
FILE_LIMITS = ProcessLimits(cpu_seconds=CPU_SECONDS, memory_bytes=memory.share(1 / 2, 400, 2000))
STEPS: dict[str, Callable[[ForeignAccount, Http], MovedPart]] = {
    "greader": greader.step,
    "fever": fever.step,
    "miniflux": miniflux.step,
}


def step(account: ForeignAccount, http: Http) -> MovedPart:
    """Return the next part of an account of any kind, with content that is safe. Raises MovingError."""
    read = STEPS.get(account.kind)
    if read is None:
        raise MovingError("unknown-kind", gettext_noop("accounts of this kind cannot be read"))
    return safe_part(read(account, http))


def safe_part(part: MovedPart) -> MovedPart:
    """Return a part whose items have sanitised content, and its text."""
    return msgspec.structs.replace(part, items=tuple(_safe(item) for item in part.items))


def _safe(item: MovedItem) -> MovedItem:
    content, text = clean_entry(item.content, item.url or item.feed_url)
    return msgspec.structs.replace(item, content=content, text=text)


def move_in(request: dict[str, Any], body: bytes) -> bytes:
    """Return the next part of the account in the body; both are MessagePack."""
    guard_sockets(AddressGuard(request["allowed_networks"]))
    with Http(request["user_agent"]) as http:
        return msgspec.msgpack.encode(step(msgspec.msgpack.decode(body, type=ForeignAccount), http))


def read_export(request: dict[str, Any], body: bytes) -> bytes:
    """Return what the exported file in the body holds as MessagePack."""
    return msgspec.msgpack.encode(safe_part(files.read_export(request["name"], body)))


register(MOVE_IN, move_in, SENDING)
register(READ_EXPORT, read_export, FILE_LIMITS)
