"""Ways to send an answer that no well-meaning server takes. All of them end when the client goes."""

from __future__ import annotations

import asyncio
import gzip
import io
import itertools
import zlib
from collections.abc import Awaitable, Callable
from functools import cache

Send = Callable[[asyncio.StreamWriter, bytes, bytes], Awaitable[None]]
"""Writes an answer, given its head (with the empty line) and its body."""

PIECE = b"x" * 65_536
LONGEST = 60.0
"""Seconds after which even the slowest poison has ended."""


async def plainly(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """As servers do."""
    writer.write(head + body)
    await writer.drain()


async def silence(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Never answer."""
    await asyncio.sleep(LONGEST)


async def reset(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Close before a word was said."""


async def drip_body(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """A byte of the body at a time."""
    writer.write(head)
    for place in range(int(LONGEST / 0.2)):
        writer.write(body[place : place + 1] or b" ")
        await writer.drain()
        await asyncio.sleep(0.2)


async def drip_head(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """A byte of the head at a time."""
    for place in range(int(LONGEST / 0.2)):
        writer.write(head[:-2][place : place + 1] or b"x")
        await writer.drain()
        await asyncio.sleep(0.2)


async def endless_body(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """A body without length that never ends."""
    writer.write(_without_length(head) + body)
    while True:
        writer.write(PIECE)
        await writer.drain()


async def endless_head(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Five megabytes of headers, then the answer."""
    writer.write(head[:-2])
    for number in range(90):
        writer.write(b"X-%d: " % number + b"x" * 60_000 + b"\r\n")
        await writer.drain()
    writer.write(b"\r\n" + body)
    await writer.drain()


async def many_continues(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """20,000 interim answers before the answer."""
    for _ in range(200):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        await writer.drain()
    writer.write(head + body)
    await writer.drain()


async def early_hints(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Three interim answers before the answer."""
    writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
    writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")
    await writer.drain()
    writer.write(b"HTTP/1.1 199 Odd\r\nContent-Length: 0\r\n\r\n" + head + body)
    await writer.drain()


async def cut_off(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Promise more than comes."""
    writer.write(_with_length(head, str(len(body) + 1000)) + body)
    await writer.drain()


async def negative_length(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """A length below zero."""
    writer.write(_with_length(head, "-5") + body)
    await writer.drain()


async def two_lengths(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Two lengths that contradict each other, and chunks that are none."""
    more = b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.write(head[:-2] + more + body)
    await writer.drain()


async def no_http(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Bytes that are no HTTP."""
    writer.write(b"\x00\xff\xfe SSH-2.0-poison\r\n\r\n" + body)
    await writer.drain()


async def bomb(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """200 MB of blanks behind the body, under gzip."""
    packed = _bomb(body[:100_000])
    writer.write(_with_length(head, str(len(packed)))[:-2] + b"Content-Encoding: gzip\r\n\r\n" + packed)
    await writer.drain()


async def nested_bomb(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """The same twice, in half a kilobyte."""
    packed = gzip.compress(_bomb(b""))
    more = b"Content-Encoding: gzip, gzip\r\n\r\n"
    writer.write(_with_length(head, str(len(packed)))[:-2] + more + packed)
    await writer.drain()


async def bomb_within(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """A file under gzip that no header tells of: 200 MB."""
    packed = _bomb(body[:100_000])
    writer.write(_with_length(head, str(len(packed))) + packed)
    await writer.drain()


async def damaged_gzip(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
    """Compressed, with a byte turned round in the middle."""
    packed = bytearray(gzip.compress(body))
    packed[len(packed) // 2] ^= 0xFF
    more = b"Content-Encoding: gzip\r\n\r\n"
    writer.write(_with_length(head, str(len(packed)))[:-2] + more + bytes(packed))
    await writer.drain()


def redirect(status: int, location: bytes) -> Send:
    """Lead elsewhere."""

    async def send(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
        writer.write(
            b"HTTP/1.1 %d Found\r\nLocation: " % status + location + b"\r\nContent-Length: 0\r\n\r\n"
        )
        await writer.drain()

    return send


def redirect_anew() -> Send:
    """Lead to another address each time."""
    numbers = itertools.count()

    async def send(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
        await redirect(302, b"?%d" % next(numbers))(writer, head, body)

    return send


def cookies_anew() -> Send:
    """Lead to the same address each time, with another cookie."""
    numbers = itertools.count()

    async def send(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
        await redirect(302, b"?again\r\nSet-Cookie: n=%d" % next(numbers))(writer, head, body)

    return send


def refreshes_anew() -> Send:
    """Send a page that leads to another address at once, each time to a new one."""
    numbers = itertools.count()

    async def send(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
        page = b"<!doctype html><meta http-equiv=refresh content='0; url=?%d'><p>On" % next(numbers)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page))
        writer.write(page)
        await writer.drain()

    return send


def status(line: bytes) -> Send:
    """Another status line."""

    async def send(writer: asyncio.StreamWriter, head: bytes, body: bytes) -> None:
        writer.write(line + b"\r\n" + head.partition(b"\r\n")[2] + body)
        await writer.drain()

    return send


@cache
def _bomb(start: bytes) -> bytes:
    packed = io.BytesIO()
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed.write(squeeze.compress(start))
    for _ in range(200):
        packed.write(squeeze.compress(b" " * 1_000_000))
    return packed.getvalue() + squeeze.flush()


def _without_length(head: bytes) -> bytes:
    lines = head.split(b"\r\n")
    return b"\r\n".join(line for line in lines if not line.lower().startswith(b"content-length:"))


def _with_length(head: bytes, length: str) -> bytes:
    return _without_length(head)[:-2] + b"Content-Length: " + length.encode() + b"\r\n\r\n"
