"""Decompression up to a bound, so that a bomb costs no memory."""

from __future__ import annotations

import zlib

from crawler.failures import Failure, FetchError
from crawler.fetching.http.encodings import decoded
from crawler.reading.errors import ReadingError

_GZIP = b"\x1f\x8b"
_PACKED_HEAD, _HEAD = 262_144, 65_536


def inflated(packed: bytes, max_bytes: int) -> bytes:
    """Decompress our own zlib data. Raises ValueError when it is damaged, or longer than `max_bytes`."""
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(packed, max_bytes + 1)
    except zlib.error as error:
        raise ValueError(f"damaged: {error}") from error
    if len(plain) > max_bytes:
        raise ValueError(f"longer than {max_bytes} bytes")
    if not stream.eof:
        raise ValueError("damaged: it ends too early")
    return plain


def without_gzip(body: bytes, max_bytes: int) -> bytes:
    """Unpack a document of at most `max_bytes` from gzip, if packed. A truncated one is returned in part.

    Raises ReadingError: malformed, too-large.
    """
    whole = bytearray()
    if body.startswith(_GZIP):
        try:
            for piece in decoded(iter([body]), "gzip", max_bytes):
                whole += piece
        except FetchError as error:
            if error.kind == Failure.TOO_LARGE:
                raise ReadingError("too-large", f"more than {max_bytes} bytes inside gzip") from error
            # The part that came holds the newest entries, which stand first.
            if error.kind != Failure.TRUNCATED:
                raise ReadingError("malformed", f"damaged gzip: {error.detail}") from error
        return bytes(whole)
    if len(body) > max_bytes:
        raise ReadingError("too-large", f"more than {max_bytes} bytes")
    return body


def head_inside_gzip(body: bytes) -> bytes:
    """Return the first 64 KiB of a document in gzip, empty when it is not gzip or damaged."""
    if not body.startswith(_GZIP):
        return b""
    try:
        return next(filter(None, decoded(iter([body[:_PACKED_HEAD]]), "gzip", _HEAD)), b"")
    except FetchError:
        return b""
