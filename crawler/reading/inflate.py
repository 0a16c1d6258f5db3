"""What came packed, unpacked to a bound, so that a bomb costs no memory."""

from __future__ import annotations

import zlib

from crawler.http.encodings import decoded
from crawler.http.failures import Failure, FetchError
from crawler.reading.errors import ReadingError

_GZIP = b"\x1f\x8b"
_PACKED_HEAD, _HEAD = 262_144, 65_536


def inflated(packed: bytes, most: int) -> bytes:
    """What zlib packed here. Raises ValueError when it is damaged, or longer than `most` bytes."""
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(f"damaged: {error}") from error
    if len(plain) > most:
        raise ValueError(f"longer than {most} bytes")
    if not stream.eof:
        raise ValueError("damaged: it ends too early")
    return plain


def without_gzip(body: bytes, most: int) -> bytes:
    """A document of at most so many bytes, without gzip around it; of one that is cut off, what is there.

    Raises ReadingError: malformed, too-large.
    """
    whole = bytearray()
    if body.startswith(_GZIP):
        try:
            for piece in decoded(iter([body]), "gzip", most):
                whole += piece
        except FetchError as error:
            if error.kind == Failure.TOO_LARGE:
                raise ReadingError("too-large", f"more than {most} bytes inside gzip") from error
            if error.kind != Failure.TRUNCATED:
                raise ReadingError("malformed", f"damaged gzip: {error.detail}") from error
        return bytes(whole)
    if len(body) > most:
        raise ReadingError("too-large", f"more than {most} bytes")
    return body


def head_inside_gzip(body: bytes) -> bytes:
    """The first 64 KiB of a document in a gzip file; empty for one that is in none, or in a damaged one."""
    if not body.startswith(_GZIP):
        return b""
    try:
        return next(filter(None, decoded(iter([body[:_PACKED_HEAD]]), "gzip", _HEAD)), b"")
    except FetchError:
        return b""
