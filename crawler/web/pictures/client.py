"""Requests of the web server to the processes that fetch and decode pictures."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from crawler.failures import Failure
from crawler.fetching.sandboxed import client
from crawler.fetching.sandboxed.client import FetchLimits
from crawler.isolation.calls import ProgramError
from crawler.web.pictures.programs import DECODE
from crawler.web.pictures.render import PictureError, Rendered

FETCH_SECONDS = 12.0
DECODE_SECONDS = 20.0
MAX_BYTES = 12_000_000
"""Bytes of a picture as its publisher sends it."""
ACCEPT = "image/avif, image/webp, image/png, image/jpeg, image/gif;q=0.9, image/*;q=0.5, text/html;q=0.2"
_LIMITS = FetchLimits(ACCEPT, FETCH_SECONDS, MAX_BYTES)

client.programs.add_module("crawler.web.pictures.programs")

Made = TypeVar("Made")


def fetched(url: str) -> tuple[bytes, str]:
    """Return the document at an address, and the address after redirects. Raises PictureError."""
    try:
        document = client.fetch(url, _LIMITS)
    except ProgramError as error:
        raise PictureError(error.kind, error.detail) from error
    return document.body, document.url


def rendered(body: bytes) -> Rendered:
    """Return a picture encoded anew. Raises PictureError."""
    request = {"name": DECODE, "task": "picture"}
    return _decoded(Rendered, request, body)


def icon_links(body: bytes, url: str) -> list[str]:
    """Return the addresses of icons that a page names. Raises PictureError."""
    request = {"name": DECODE, "task": "icons", "url": url}
    return _decoded(list[str], request, body)


def manifest_link(body: bytes, url: str) -> str:
    """Return the address of the manifest that a page names, "" for none. Raises PictureError."""
    return _decoded(str, {"name": DECODE, "task": "manifest", "url": url}, body)


def _decoded(kind: type[Made], arguments: dict[str, Any], body: bytes) -> Made:
    try:
        reply = client.programs.call(DECODE, arguments, body, seconds=DECODE_SECONDS, max_bytes=3 * MAX_BYTES)
        return msgspec.msgpack.decode(reply, type=kind)
    except ProgramError as error:
        raise PictureError(error.kind, error.detail) from error
    except msgspec.MsgspecError as error:
        raise PictureError(Failure.MALFORMED, "the decoder returned invalid output") from error
