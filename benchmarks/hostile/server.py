"""Hosts on loopback at one port, each with healthy answers and one path that is poisoned when told to."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import resource
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.hostile import wire

MAX_HEAD = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """A document as a server gives it; the body is made when it is asked for."""

    body: Callable[[], bytes]
    content_type: str
    headers: Mapping[bytes, bytes] = field(default_factory=dict)
    send: wire.Send = wire.plainly
    status: int = 200


@dataclass(slots=True)
class Site:
    """One host: answers by path, the poison's path with its answer, and whether it is out already."""

    address: str
    answers: dict[str, Answer]
    path: str
    poison: Answer
    poisoned: bool = False
    heard: Callable[[str, bytes], None] | None = None
    """Told path and body of every POST, in a separate thread."""

    sent: int = 0
    """How often the poison went out."""


class Server:
    """A web of such hosts, served from a separate thread. Use it as a context manager."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.sites: dict[str, Site] = {}
        self.asked: Counter[tuple[str, str]] = Counter()
        self._sockets = _listening(addresses)
        self.port: int = self._sockets[0].getsockname()[1] if self._sockets else 0
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self._serve(),), daemon=True
        )

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def origin(self, address: str) -> str:
        """As in `http://127.64.0.1:8080`."""
        return f"http://{address}:{self.port}"

    def requests(self, address: str, path: str) -> int:
        """How often a path was asked for."""
        return self.asked[address, path]

    async def _serve(self) -> None:
        servers = [await asyncio.start_server(self._connected, sock=one) for one in self._sockets]
        await self._stop.wait()
        for server in servers:
            server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site = self.sites.get(writer.get_extra_info("sockname")[0])
        try:
            while site is not None and await self._answered(site, reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass  # the client has gone, or is no client
        except asyncio.CancelledError:
            pass  # the server ends
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    async def _answered(self, site: Site, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether another may follow on this connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, *_ = head.split(b" ", 2)
        lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
        fields = {name.strip().lower(): value.strip() for name, _, value in lines}
        body = await reader.readexactly(int(fields.get(b"content-length", b"0")))
        path = target.decode("latin-1").partition("?")[0]
        self.asked[site.address, path] += 1
        if method == b"POST" and site.heard is not None:
            threading.Thread(target=site.heard, args=(path, body), daemon=True).start()
        if path == site.path and site.poisoned:
            site.sent += 1
            await _write(writer, site.poison, fields)
            return False
        await _write(writer, site.answers.get(path, _MISSING), fields)
        return True


_MISSING = Answer(lambda: b"nothing is here", "text/plain", status=404)


async def _write(writer: asyncio.StreamWriter, answer: Answer, asked: Mapping[bytes, bytes]) -> None:
    body = answer.body()
    tag = b'"' + hashlib.sha256(body).hexdigest()[:16].encode() + b'"'
    headers = {
        b"Content-Type": answer.content_type.encode(),
        b"ETag": tag,
        b"Content-Length": str(len(body)).encode(),
        **answer.headers,
    }
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers.items())
    if answer.send is wire.plainly and asked.get(b"if-none-match") == headers[b"ETag"]:
        await answer.send(
            writer, b"HTTP/1.1 304 Not Modified\r\nETag: " + headers[b"ETag"] + b"\r\n\r\n", b""
        )
        return
    await answer.send(writer, b"HTTP/1.1 %d Said\r\n" % answer.status + lines + b"\r\n", body)


def _listening(addresses: Sequence[str]) -> list[socket.socket]:
    """A socket on each address, all at one port that was free on all of them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for _ in range(20):
        made: list[socket.socket] = []
        port = 0
        try:
            for address in addresses:
                made.append(socket.create_server((address, port), backlog=64))
                port = made[0].getsockname()[1]
        except OSError:
            for one in made:
                one.close()
            continue
        return made
    raise OSError("no port is free on all addresses")
