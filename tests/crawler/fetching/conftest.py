"""A web server on loopback that does exactly, and only, what a test scripts, and a client to meet it."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from crawler.failures import FetchError
from crawler.fetching.http.client import Client, ClientConfig, Response
from crawler.fetching.http.gate import HostGate

CERTIFICATE = Path(__file__).parents[2] / "data" / "http" / "secure.test.pem"

AGENT = "Freshet/1.0 (+https://freshet.test/bot)"


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    target: str
    headers: dict[str, str]
    raw: bytes


Script = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One request and the connection to answer it on."""

    connection: socket.socket
    request: Request
    number: int
    stopping: threading.Event

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def drip(self, data: bytes, every: float) -> None:
        """Send byte by byte until the client has had enough."""
        for index in range(len(data)):
            self.send(data[index : index + 1])
            if self.stopping.wait(every):
                return

    def hang(self) -> None:
        """Say nothing until the client goes away."""
        self.connection.settimeout(10)
        self.connection.recv(1)

    def reset(self) -> None:
        """Close with RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        self.connection.close()


class Server:
    """Answers every request on a connection with its script, until either side closes."""

    def __init__(self, script: Script, host: str, tls: ssl.SSLContext | None) -> None:
        self._script = script
        self._tls = tls
        self._listener = socket.create_server((host, 0))
        self._open: list[socket.socket] = []
        self.host = host
        self.port: int = self._listener.getsockname()[1]
        self.requests: list[Request] = []
        self.connections = 0
        self.stopping = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def url(self, path: str = "/", host: str = "") -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host or self.host}:{self.port}{path}"

    def stop(self) -> None:
        self.stopping.set()
        for sock in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self._threads:
            thread.join(2)

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
                self._open.append(connection)
            while head := _read_head(connection):
                self.requests.append(_parsed(head))
                self._script(Exchange(connection, self.requests[-1], len(self.requests), self.stopping))
        connection.close()


def _read_head(connection: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        if not piece:
            return b""
        head += piece
    return head


def _parsed(raw: bytes) -> Request:
    first, *lines = raw.decode("latin-1").strip().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    return Request(first.split(" ")[1], {name.lower(): value for name, value in pairs}, raw)


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A complete response; header names are given with underscores."""
    named = {"Content-Length": str(len(body))} | {k.replace("_", "-"): v for k, v in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(status=status, Location=location)


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server: `serve(b"HTTP/1.1 ...")` or `serve(script)`, on `host`, with `tls` if given."""
    servers: list[Server] = []

    def start(script: Script | bytes, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Server:
        def fixed(exchange: Exchange) -> None:
            assert isinstance(script, bytes)
            exchange.send(script)
            if b"content-length" not in script.lower() and b"chunked" not in script.lower():
                exchange.connection.close()

        servers.append(Server(fixed if isinstance(script, bytes) else script, host, tls))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


CONFIG = ClientConfig(
    user_agent=AGENT,
    deadline=30.0,
    connect_timeout=20.0,
    silence=20.0,
    max_bytes=1_000_000,
    allowed_networks=("127.0.0.0/8",),
    ca_file=str(CERTIFICATE),  # reading the whole bundle would take most of the tests' time
)


@dataclass
class Fetcher:
    """A client whose configuration a test can change, with short names for the two outcomes."""

    directory: Path
    lookup: Any = None
    clients: list[Client] = field(default_factory=list)

    def client(self, **changes: Any) -> Client:
        gate = HostGate(self.directory, spacing=0)
        self.clients.append(Client(replace(CONFIG, **changes), gate, self.lookup))
        return self.clients[-1]

    def get(self, url: str, client: Client | None = None, **request: Any) -> Response:
        return (client or self.client()).get(url, **{"accept": "*/*"} | request)

    def failure(self, url: str, client: Client | None = None, **request: Any) -> FetchError:
        with pytest.raises(FetchError) as caught:
            self.get(url, client, **request)
        return caught.value


@pytest.fixture
def fetcher(tmp_path: Path) -> Iterator[Fetcher]:
    fetcher = Fetcher(tmp_path / "gate")
    yield fetcher
    for client in fetcher.clients:
        client.close()


def names(**hosts: str | list[str]) -> Callable[..., list[tuple[Any, ...]]]:
    """A resolver that knows these names (dots as underscores) and nothing else."""
    table = {name.replace("_", "."): [at] if isinstance(at, str) else at for name, at in hosts.items()}

    def lookup(host: bytes, port: int, *_: int) -> list[tuple[Any, ...]]:
        if host.decode() not in table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            info
            for at in table[host.decode()]
            for info in socket.getaddrinfo(at, port, 0, socket.SOCK_STREAM)
        ]

    return lookup


MAX_DELAY = 8.0
"""The longest delay of a busy machine in seconds, well below the limits in CONFIG."""


class Stopwatch:
    """`with Stopwatch() as watch: ...` then `watch.seconds`."""

    def __enter__(self) -> Stopwatch:
        self._started = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._started
