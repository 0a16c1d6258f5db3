"""A web that lives: feeds that publish and pages that change at given moments, on loopback.

    python benchmarks/day_server.py MOMENTS.json --port 8700 [--faults 0.2] [--away FROM UNTIL]

MOMENTS.json has `feeds` and `pages`: for each a list of rising times in seconds since 1970. Every feed shows
its newest 20 entries with validators, and answers 304 if nothing is new. `/served` on 127.77.0.1 tells how
many entries of each feed, and how many states of each page, were sent at least once. With `--faults` that
share of the requests goes wrong: refused, cut off, or answered by what is neither feed nor page. Between two
times of `--away`, in seconds since 1970, no request has an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import sys
import time
from bisect import bisect_right
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import partial
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.feed_server import feed_host, paragraph

SHOWN = 20
FAULTS = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nerror",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 90000\r\n\r\n<rss><channel>",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 9\r\n\r\n\xff\xfe\x00<<>>\x00\x01",
    b"",
)
"""What is written before the connection is closed, in the place of an answer."""
CONTROL = "/served"


@dataclass
class Source:
    """A feed or page: its moments, its share of faults, and the ranges of numbers of those that were sent."""

    number: int
    is_page: bool
    moments: list[float]
    faults: float = 0.0
    away: tuple[float, float] = (0.0, 0.0)
    sent: list[list[int]] = field(default_factory=list)

    def shown(self, now: float) -> int:
        """Count the moments up to now."""
        return bisect_right(self.moments, now)

    def fails(self) -> bytes | None:
        """Return what is written in the place of an answer, None if this one goes well."""
        if self.away[0] <= time.time() < self.away[1]:
            return b""
        return random.choice(FAULTS) if random.random() < self.faults else None

    def note(self, first: int, last: int) -> None:
        """Record that the entries `first` to `last` (exclusive) were sent."""
        if self.sent and first <= self.sent[-1][1]:
            self.sent[-1][1] = max(self.sent[-1][1], last)
        elif first < last:
            self.sent.append([first, last])


def page_host(number: int) -> str:
    """Return the address of page `number`."""
    return f"127.78.{number // 250}.{number % 250 + 1}"


def feed_document(feed: Source, count: int, port: int) -> bytes:
    """Return an RSS document with the newest of `count` entries."""
    base, rows = f"http://{feed_host(feed.number)}:{port}", []
    for entry in range(max(count - SHOWN, 0), count):
        seed = feed.number * 1000 + entry
        text = f"<p>{paragraph(seed, 60)}</p><p>{paragraph(seed + 1, 40)} {feed.number} {entry}</p>"
        rows.append(
            f"<item><title>{paragraph(seed, 8)} {entry}</title><link>{base}/post/{entry}</link>"
            f"<guid isPermaLink='false'>{feed.number}-{entry}</guid>"
            f"<pubDate>{formatdate(feed.moments[entry], usegmt=True)}</pubDate>"
            f"<description>{escape(text)}</description></item>"
        )
    return (
        f"<?xml version='1.0' encoding='utf-8'?><rss version='2.0'><channel><title>Feed {feed.number}</title>"
        f"<link>{base}/</link><description>A day</description>{''.join(reversed(rows))}</channel></rss>"
    ).encode()


def page_document(page: Source, count: int) -> bytes:
    """Return a page in its state after `count` changes."""
    texts = "".join(f"<p>{paragraph(page.number + part, 30)}</p>" for part in range(5))
    return (
        f"<!doctype html><html lang=en><title>Page {page.number}</title><main><h1>Page {page.number}</h1>"
        f"<p>Notice {count}: {paragraph(count + page.number, 12)}</p>{texts}</main></html>"
    ).encode()


def answer_to(source: Source, head: bytes, port: int) -> bytes:
    """Return the answer to a request, and record what it shows."""
    count = source.shown(time.time())
    tag = b'"%d"' % count
    if tag in head:
        return b"HTTP/1.1 304 Not Modified\r\nETag: %s\r\n\r\n" % tag
    body = page_document(source, count) if source.is_page else feed_document(source, count, port)
    source.note(count if source.is_page else max(count - SHOWN, 0), count + 1 if source.is_page else count)
    kind = b"text/html; charset=utf-8" if source.is_page else b"application/rss+xml"
    return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nETag: %s\r\nContent-Length: %d\r\n\r\n%s" % (
        kind, tag, len(body), body,
    )  # fmt: skip


async def serve(
    source: Source,
    everything: dict[str, list[Source]],
    port: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Serve one keep-alive connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            target = head.split(b" ", 2)[1].decode()
            if target == CONTROL:
                sums = {
                    kind: [sum(last - first for first, last in one.sent) for one in sources]
                    for kind, sources in everything.items()
                }
                body = json.dumps(sums).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            elif target in {"/feed.xml", "/page.html"}:
                fault = source.fails()
                writer.write(answer_to(source, head, port) if fault is None else fault)
                if fault is not None:
                    await writer.drain()
                    return
            else:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Listen on the address of every feed and page until ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("moments", type=Path)
    parser.add_argument("--port", type=int, default=8700)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--away", type=float, nargs=2, default=(0.0, 0.0))
    options = parser.parse_args()
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    everything = {
        kind: [
            Source(number, kind == "pages", moments, options.faults, tuple(options.away))
            for number, moments in enumerate(lists)
        ]
        for kind, lists in json.loads(options.moments.read_text()).items()
    }
    for kind, sources in everything.items():
        host = page_host if kind == "pages" else feed_host
        for source in sources:
            handler = partial(serve, source, everything, options.port)
            await asyncio.start_server(handler, host(source.number), options.port)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
