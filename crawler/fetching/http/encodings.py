"""Decoding of content codings (gzip, deflate, br) as a bounded stream, so that a bomb costs no memory."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from itertools import chain

import brotli

from crawler.failures import Failure, FetchError

ACCEPTED = "gzip, br"
"""What requests offer; deflate is understood too, because some servers send it unasked."""

# Two are rare but honest; each further layer multiplies a bomb ("200 MB under gzip twice").
MAX_CODINGS = 2
_CODINGS = frozenset(
    {"gzip", "x-gzip", "deflate", "br", "compress", "x-compress", "zstd", "exi", "dcb", "dcz", "aes128gcm"}
)
"""The content codings that there are (IANA), of which some are not understood here."""
_PIECE = 65536
# Sixty characters of ASCII behind a bracket: no packed stream begins so, though one may begin with a bracket.
_TEXT = re.compile(rb"(?:\xef\xbb\xbf)?\s*[<{\[][\t\n\r\x20-\x7e]{60}")
_HEAD_BYTES = 128


def decoded(pieces: Iterator[bytes], content_encoding: str, limit: int) -> Iterator[bytes]:
    """Yield the body with all codings of the header undone, in pieces of at most some 64 KiB.

    A name that is no coding (`UTF-8`, `none`) codes nothing: servers write there what belongs elsewhere.
    Nor is a body packed that begins as a page, a feed or JSON does.

    Raises FetchError: decoding for an unknown, damaged or too often applied coding, truncated
    when the compressed stream does not end, too-large when any layer grows beyond `limit` bytes.
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    # aws-release-notes-rss 6 sends "Content-Encoding: UTF-8", others "none": the body is plain.
    codings = [name for name in names if name in _CODINGS]
    if len(codings) > MAX_CODINGS:
        raise FetchError(Failure.DECODING, f"{len(codings)} content codings")
    for name in reversed(codings):
        decode = _DECODERS.get(name)
        if decode is None:
            raise FetchError(Failure.DECODING, f"unknown content coding {name[:40]!r}")
        pieces = _limited(_unpacked(pieces, decode), limit)
    return pieces


def _unpacked(
    pieces: Iterator[bytes], decode: Callable[[Iterator[bytes]], Iterator[bytes]]
) -> Iterator[bytes]:
    """Yield the decoded pieces, or the pieces themselves where the body is text that nobody packed."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= _HEAD_BYTES:
            break
    whole = chain([head] if head else [], pieces)
    # httrack 515, curl 8928: PHP and caches announce gzip and send the page or the feed as it is.
    yield from whole if _TEXT.match(head) else decode(whole)


def _limited(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """Raise FetchError when a layer grows too large, even if the next layer makes little of it."""
    size = 0
    for piece in pieces:
        size += len(piece)
        yield piece
        if size > limit:
            raise FetchError(Failure.TOO_LARGE, f"more than {limit} bytes after decompression")


def _gunzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decode gzip (RFC 1952) of any number of members. Ignores trailing bytes, as zcat and browsers do."""
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    at_member_start = True
    for piece in pieces:
        data = piece
        while data:
            if member.eof:
                # Servers pad the end with zeros or line breaks, which are no new member.
                if not data.startswith(b"\x1f"):
                    return
                member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            at_member_start = False
            output, data = _inflated(member, data)
            yield output
    if not at_member_start and not member.eof:
        raise FetchError(Failure.TRUNCATED, "the gzip stream does not end")


def _inflate(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decode the coding named deflate: zlib's format by the RFC, raw deflate from some servers."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) > 1:
            break
    if not head:
        return
    # The two bytes of zlib's head (RFC 1950, section 2.2): method 8 and a checksum by 31.
    is_zlib = len(head) > 1 and head[0] & 15 == 8 and (head[0] << 8 | head[1]) % 31 == 0
    stream = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
    data = head
    while data and not stream.eof:
        while data and not stream.eof:
            output, data = _inflated(stream, data)
            yield output
        data = next(pieces, b"")
    # raw deflate has no checksum after it, so the last output may still be inside zlib
    output, _ = _inflated(stream, b"")
    yield output
    if not stream.eof:
        raise FetchError(Failure.TRUNCATED, "the deflate stream does not end")


def _inflated(stream: zlib._Decompress, data: bytes) -> tuple[bytes, bytes]:
    """Return one piece of output, and the input that remains."""
    try:
        output = stream.decompress(data, _PIECE)
    except zlib.error as error:
        raise FetchError(Failure.DECODING, str(error)) from error
    return output, stream.unused_data if stream.eof else stream.unconsumed_tail


def _unbrotli(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decode Brotli (RFC 7932)."""
    stream = brotli.Decompressor()
    at_start = True
    for piece in pieces:
        at_start = False
        try:
            output = stream.process(piece, output_buffer_limit=_PIECE)
            while output:
                yield output
                # More output may wait inside after each piece: the limit cuts a bomb into pieces of 64 KiB.
                output = stream.process(b"", output_buffer_limit=_PIECE)
        except brotli.error as error:
            raise FetchError(Failure.DECODING, "damaged brotli stream") from error
        if stream.is_finished():
            return
    if not at_start:
        raise FetchError(Failure.TRUNCATED, "the brotli stream does not end")


_DECODERS: dict[str, Callable[[Iterator[bytes]], Iterator[bytes]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
}
