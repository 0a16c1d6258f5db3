"""A web of feeds on loopback for benchmarks: every feed on an address of its own, with validators and 304.

python benchmarks/feed_server.py --feeds 1000 --items 20 --port 8700
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import resource
from email.utils import formatdate
from functools import partial
from html import escape

WORDS = (
    "stream",
    "river",
    "delta",
    "spring",
    "flood",
    "water",
    "bridge",
    "harbour",
    "season",
    "morning",
    "record",
    "station",
    "market",
    "village",
)
EPOCH = 1_750_000_000


def feed_host(number: int, network: str = "127.77") -> str:
    """Address of feed `number`; all of 127/8 is local on Linux."""
    return f"{network}.{number // 250}.{number % 250 + 1}"


def feed_url(number: int, port: int) -> str:
    """Where feed `number` is."""
    return f"http://{feed_host(number)}:{port}/feed.xml"


def paragraph(seed: int, words: int) -> str:
    """Deterministic prose of some words."""
    return " ".join(WORDS[(seed * 7 + i * (i + seed)) % len(WORDS)] for i in range(words)).capitalize() + "."


def document(number: int, items: int, port: int) -> bytes:
    """An RSS 2.0 document with `items` items of some 150 words each."""
    base = f"http://{feed_host(number)}:{port}"
    rows = []
    for i in range(items):
        seed = number * 1000 + i
        texts = [f"<p>{paragraph(seed + p, 50)} <a href='/more/{p}'>more</a></p>" for p in range(3)]
        rows.append(
            f"<item><title>{paragraph(seed, 8)}</title><link>{base}/post/{i}</link>"
            f"<guid isPermaLink='false'>feed-{number}-post-{i}</guid>"
            f"<dc:creator>Author {number % 97}</dc:creator><category>{WORDS[i % len(WORDS)]}</category>"
            f"<pubDate>{formatdate(EPOCH - i * 3600 - number, usegmt=True)}</pubDate>"
            f"<description>{escape(''.join(texts))}</description></item>"
        )
    return (
        "<?xml version='1.0' encoding='utf-8'?>"
        "<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        f"<channel><title>Feed {number}</title><link>{base}/</link>"
        f"<description>Benchmark</description>{''.join(rows)}</channel></rss>"
    ).encode()


async def answer(
    answers: tuple[bytes, bytes, bytes],
    delay: float,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Serve one keep-alive connection."""
    etag, whole, unchanged = answers
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if delay:
                await asyncio.sleep(delay)
            writer.write(unchanged if etag in head else whole)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def prepared(number: int, items: int, port: int) -> tuple[bytes, bytes, bytes]:
    """ETag, the whole response and the 304 of one feed."""
    body = document(number, items, port)
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'.encode()
    validators = b"ETag: " + etag + b"\r\nLast-Modified: " + formatdate(EPOCH, usegmt=True).encode() + b"\r\n"
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nContent-Length: %d\r\n" % len(body)
    return etag, whole + validators + b"\r\n" + body, b"HTTP/1.1 304 Not Modified\r\n" + validators + b"\r\n"


async def main() -> None:
    """Listen on every feed's address until ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--port", type=int, default=8700)
    parser.add_argument("--delay", type=float, default=0.0, help="milliseconds before each answer")
    parser.add_argument("--network", default="127.77", help="the first half of the feeds' addresses")
    args = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a socket per feed, and their connections
    for number in range(args.feeds):
        answers = prepared(number, args.items, args.port)
        await asyncio.start_server(
            partial(answer, answers, args.delay / 1000), feed_host(number, args.network), args.port
        )
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
