"""A loopback server of pages for the crawl benchmark: 20 KB each, 30 links to others, no end of them.

    python benchmarks/page_server.py PAGES

Prints its port. Page n links to the pages 30 n + 1 ... 30 n + 30, wrapped, so that page 0 leads to all.
"""

from __future__ import annotations

import asyncio
import re
import sys

SIZE, LINKS = 20_000, 30
_FILLER = "<p>The ferry left the upper quay at seven and came back with the tide, as it does in spring.</p>\n"
_PATH = re.compile(rb"GET /(\d+) ")


def page(number: int, pages: int) -> bytes:
    """The page as bytes, head included."""
    links = "".join(
        f'<li><a href="/{(number * LINKS + 1 + i) % pages}">page {i} of {number}</a></li>'
        for i in range(LINKS)
    )
    head = f"<head><title>Page {number}</title></head>"
    start = f"<!doctype html><html>{head}<body><h1>{number}</h1><ul>{links}</ul>"
    filler = _FILLER * ((SIZE - len(start)) // len(_FILLER))
    body = f"{start}{filler}</body></html>".encode()
    status = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return status.encode() + body


async def main() -> None:
    """Serve until killed."""
    pages = int(sys.argv[1])
    made = [page(number, pages) for number in range(pages)]
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                found = _PATH.match(request)
                number = int(found[1]) if found else -1
                writer.write(made[number] if 0 <= number < pages else missing)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
