"""The HTTP proxy of one browser run: every connection of the browser goes through it and is checked here.

A browser resolves names itself, follows redirects and runs strangers' scripts; behind a proxy it does none
of the dialling. The dialler is the HTTP client's, which connects to the address that it has checked.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import re
import secrets
import select
import socket
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urlsplit

from crawler.failures import Failure, FetchError
from crawler.fetching.browser.jobs import USER
from crawler.fetching.http.addresses import AddressGuard
from crawler.fetching.http.connections import Dialer
from crawler.fetching.http.names import Lookup, Resolver
from crawler.fetching.http.wire import Allowance

BYTES, CONNECTIONS, REQUESTS, DEADLINE = "bytes", "connections", "requests", "deadline"
"""Names of the limits."""

_PIECE, _MAX_HEAD, _MAX_INTERIM_HEADS = 65_536, 65_536, 16
_MAX_REFUSALS = 100
_CONNECT_SECONDS, _HEAD_SECONDS, _POLL_SECONDS = 5.0, 20.0, 0.5
_TARGET = re.compile(r"\[?([0-9A-Za-z.:_-]{1,253})\]?:([0-9]{1,5})")
_TOKEN = re.compile(r"[A-Z]{1,20}")
# These are between two neighbours (RFC 9110, section 7.6.1), and each hop here serves one request.
_HOP_HEADERS = frozenset({"connection", "keep-alive", "upgrade", "te", "trailer"})


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """The limits of one run; times in seconds, sizes in bytes, both directions counted.

    A tunnel counts as one request. Chromium opens up to 32 connections to a proxy, and as many WebSockets.
    """

    seconds: float = 45.0
    max_bytes: int = 50 * 1024 * 1024
    max_connections: int = 64
    max_requests: int = 500


DEFAULT_LIMITS = ProxyLimits()


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a request or a response: its first line, and its other lines by lower-case names."""

    first: str
    lines: tuple[tuple[str, str], ...]
    rest: bytes

    def value(self, name: str) -> str:
        """Return the value of a header, empty if there is none."""
        return next((line.partition(":")[2].strip() for key, line in self.lines if key == name), "")

    def encoded(self, first: str) -> bytes:
        """Return the head for the next hop, which is asked to close the connection afterwards."""
        passed = [
            line for key, line in self.lines if key not in _HOP_HEADERS and not key.startswith("proxy-")
        ]
        return "\r\n".join([first, *passed, "Connection: close", "", ""]).encode("latin-1")


class _Refused(Exception):
    """A request that gets a status and no connection; browsers discard an error without a body."""

    def __init__(self, status: str, *headers: str) -> None:
        super().__init__(status)
        self.answer = "\r\n".join(
            [
                f"HTTP/1.1 {status}",
                *headers,
                f"Content-Length: {len(status)}",
                "Connection: close",
                "",
                status,
            ]
        ).encode()


class GuardedProxy:
    """A proxy on loopback that demands its `secret`, guards addresses and ports, and ends at its limits.

    `requests` and `bytes` count, `exceeded` names the limit that ended it. `refusals` holds the failure of
    each `host:port` that could not be connected to. `lookup` replaces `socket.getaddrinfo`.
    """

    def __init__(
        self,
        allowed_networks: Iterable[str] = (),
        limits: ProxyLimits = DEFAULT_LIMITS,
        lookup: Lookup | None = None,
    ) -> None:
        self.secret = secrets.token_urlsafe(24)
        self.requests = self.bytes = 0
        self.exceeded = ""
        self.refusals: dict[str, FetchError] = {}
        self.blocked = 0
        self._limits = limits
        self._dialer = Dialer(AddressGuard(allowed_networks), Resolver(lookup), _CONNECT_SECONDS)
        self._deadline = time.monotonic() + limits.seconds
        self._expected = base64.b64encode(f"{USER}:{self.secret}".encode()).decode()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._connections = 0
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> GuardedProxy:
        threading.Thread(target=self._accept, name="browser-proxy", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the listener, then all connections."""
        # First of all: a connection that is accepted meanwhile closes itself in `_register`.
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            sockets = list(self._sockets)
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    # A page that opens tunnels without end does not stop by itself, so that this limit ends the run.
    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._connections += 1
                is_over = self._connections > self._limits.max_connections
            if is_over:
                self._exceed(CONNECTIONS)
                client.close()
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client:
                self._register(client)
                try:
                    self._answer(client)
                except _Refused as refused:
                    with contextlib.suppress(OSError):
                        client.sendall(refused.answer)
                except (OSError, ValueError):
                    pass
                finally:
                    self._forget(client)
        finally:
            with self._lock:
                self._connections -= 1

    def _answer(self, client: socket.socket) -> None:
        """Read one request and relay it: a connection is used for one target alone."""
        head = self._read_head(client)
        method, target, version = head.first.split(" ")
        if not _TOKEN.fullmatch(method) or version not in ("HTTP/1.1", "HTTP/1.0"):
            raise _Refused("400 Bad Request")
        scheme, _, token = head.value("proxy-authorization").partition(" ")
        # Other programs of the machine can reach loopback; without the secret this would be an open proxy.
        if scheme.lower() != "basic" or not hmac.compare_digest(token.encode(), self._expected.encode()):
            challenge = 'Proxy-Authenticate: Basic realm="browser"'
            raise _Refused("407 Proxy Authentication Required", challenge)
        with self._lock:
            self.requests += 1
            is_over = self.requests > self._limits.max_requests
        if is_over:
            self._exceed(REQUESTS)
            return
        if method == "CONNECT":
            with self._dial(*_host_and_port(target)) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._relay(client, server, head.rest)
            return
        parts = urlsplit(target)
        # Request bodies pass by Content-Length alone: with two framings two servers may disagree where it
        # ends.
        if parts.scheme != "http" or not parts.hostname or head.value("transfer-encoding"):
            raise _Refused("400 Bad Request")
        path = target[target.index("//") + 2 + len(parts.netloc) :] or "/"
        with self._dial(parts.hostname, parts.port or 80) as server:
            self._send(server, head.encoded(f"{method} {path} HTTP/1.1"))
            self._relay(client, server, head.rest, is_plain=True)

    def _dial(self, host: str, port: int) -> socket.socket:
        """Return a connection to a host. Raises _Refused after noting why there is none."""
        allowance = Allowance(self._deadline, _CONNECT_SECONDS)
        try:
            server = self._dialer.dial(host.lower().rstrip("."), port, allowance)
        except FetchError as error:
            with self._lock:
                self.blocked += error.kind in (Failure.BLOCKED_ADDRESS, Failure.BLOCKED_PORT)
                # A page can name hosts without end, and the table is only for the one that it led to.
                if len(self.refusals) < _MAX_REFUSALS:
                    self.refusals[f"{host}:{port}"] = error
            raise _Refused("403 Forbidden") from error
        server.allowance = None  # the bytes of all connections are counted together
        self._register(server)
        return server

    def _relay(
        self, client: socket.socket, server: socket.socket, early: bytes, *, is_plain: bool = False
    ) -> None:
        """Pass bytes both ways until one side ends, a limit is reached, or the run is over.

        The answer to a plain request is passed with a head that says that the connection closes, so that the
        browser sends nothing for another host on it.
        """
        try:
            self._send(server, early)
            needs_head = is_plain
            waiting = select.poll()
            for sock in (client, server):
                waiting.register(sock, select.POLLIN)
            while not self._closed.is_set():
                if time.monotonic() > self._deadline:
                    self._exceed(DEADLINE)
                    return
                readable = {descriptor for descriptor, _ in waiting.poll(_POLL_SECONDS * 1000)}
                if server.fileno() in readable and needs_head:
                    head = self._response_head(server)
                    self._send(client, head.encoded(head.first) + head.rest)
                    needs_head = False
                    continue
                for source, sink in ((client, server), (server, client)):
                    if source.fileno() in readable and not self._pass(source, sink):
                        return
        finally:
            self._forget(server)

    def _pass(self, source: socket.socket, sink: socket.socket) -> bool:
        """Pass what has arrived. Returns False at the end."""
        piece = source.recv(_PIECE)
        if not piece or not self._count(len(piece)):
            return False
        self._send(sink, piece)
        return True

    def _send(self, sink: socket.socket, piece: bytes) -> None:
        sink.settimeout(max(self._deadline - time.monotonic(), 0.1))
        sink.sendall(piece)

    def _response_head(self, server: socket.socket) -> _Head:
        """Read the head of the final response, past interim ones. Raises ValueError for an endless series."""
        surplus = b""
        # A server can send 102 and 103 for ever (20,000 times in the table of poisons).
        for _ in range(_MAX_INTERIM_HEADS):
            head = self._read_head(server, surplus)
            if not re.match(r"HTTP/1\.[01] 1[0-9]{2}(?: |$)", head.first):
                return head
            surplus = head.rest
        raise ValueError("too many interim responses")

    def _read_head(self, sock: socket.socket, received: bytes = b"") -> _Head:
        """Read a head. Raises OSError, and ValueError for one that is too long or not valid."""
        until = min(time.monotonic() + _HEAD_SECONDS, self._deadline)
        while b"\r\n\r\n" not in received:
            sock.settimeout(max(until - time.monotonic(), 0.01))
            piece = sock.recv(_PIECE)
            if not piece or len(received) > _MAX_HEAD or not self._count(len(piece)):
                raise ValueError("the head is not complete")
            received += piece
        encoded, _, surplus = received.partition(b"\r\n\r\n")
        first, *lines = encoded.decode("latin-1").split("\r\n")
        # A bare line feed or a folded line is where smuggled headers hide.
        if any(":" not in line for line in lines) or "\n" in first:
            raise ValueError("a line of the head is no header")
        return _Head(first, tuple((line.partition(":")[0].strip().lower(), line) for line in lines), surplus)

    def _count(self, size: int) -> bool:
        """Count bytes. Returns False, and ends the run, when they are too many."""
        with self._lock:
            self.bytes += size
            is_over = self.bytes > self._limits.max_bytes
        if is_over:
            self._exceed(BYTES)
        return not is_over

    def _exceed(self, limit: str) -> None:
        with self._lock:
            self.exceeded = self.exceeded or limit
        self.close()

    def _register(self, sock: socket.socket) -> None:
        sock.settimeout(_HEAD_SECONDS)
        with self._lock:
            self._sockets.add(sock)
        # Closed between accept and registration: `close` did not see this socket.
        if self._closed.is_set():
            sock.close()

    def _forget(self, sock: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(sock)


def _host_and_port(target: str) -> tuple[str, int]:
    match = _TARGET.fullmatch(target)
    if match is None:
        raise _Refused("400 Bad Request")
    return match[1], int(match[2])
