"""Connections that check the address they dial, and a small store of idle ones.

The guard sits where urllib3 opens its socket (`_new_conn`): a check before the request loses to
DNS rebinding (measured), and here SNI, certificate and Host stay those of the URL.
"""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from http.client import BadStatusLine, HTTPResponse, parse_headers
from typing import Any
from urllib.parse import unquote

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util import Url, parse_url

from crawler.failures import Failure, FetchError
from crawler.fetching.http.addresses import AddressGuard, permits_port
from crawler.fetching.http.names import Resolver, is_literal
from crawler.fetching.http.wire import Allowance, MeteredSocket, MeteredTLSSocket

Target = tuple[str, str, int]
"""Scheme, host (no brackets) and port of an origin."""

# Idle connections are closed by Apache after 5 s, by nginx after 75 s; a request that meets a closed one is
# sent twice.
_MAX_IDLE, _IDLE_SECONDS = 64, 15.0
_MAX_INTERIM_ANSWERS = 16
_SWITCHING_PROTOCOLS = 101


@dataclass(frozen=True)
class Dialer:
    """An opener of guarded TCP connections. `connect_timeout` is seconds per address and for the lookup."""

    guard: AddressGuard
    resolver: Resolver
    connect_timeout: float

    def dial(self, host: str, port: int, allowance: Allowance, *, guarded: bool = True) -> MeteredSocket:
        """Connect to the first permitted address that accepts. Raises FetchError."""
        # Guarded also after redirects, which can point at a database's port on a public address.
        if guarded and not permits_port(port):
            raise FetchError(Failure.BLOCKED_PORT, f"port {port}")
        # The look-up may use no more than one address may, so that time for the connection remains.
        timeout = min(allowance.patience(), self.connect_timeout)
        answers = self.resolver.resolve(host, port, timeout)
        permitted = [a for a in answers if not guarded or self.guard.permits(a[4][0])]
        if not permitted:
            refused = ", ".join(sorted({str(entry[4][0]) for entry in answers})) or "nowhere"
            raise FetchError(Failure.BLOCKED_ADDRESS, f"{host} is at {refused[:200]}")
        failure: OSError | None = None
        # A host with a broken IPv6 route often answers over IPv4.
        for family, kind, protocol, _, address in permitted:
            try:
                return self._connect(MeteredSocket(family, kind, protocol), address, allowance)
            except OSError as error:
                failure = error
        raise _dial_failure(failure, allowance) from failure

    def still_permits(self, sock: socket.socket) -> bool:
        """Return whether an idle connection leads to a permitted address."""
        try:
            return self.guard.permits(sock.getpeername()[0])
        except OSError:
            return False

    def _connect(self, sock: MeteredSocket, address: Any, allowance: Allowance) -> MeteredSocket:
        try:
            sock.settimeout(min(allowance.patience(), self.connect_timeout))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.connect(address)
            # bounds a TLS handshake, which waits in C and not in our recv_into
            sock.settimeout(allowance.patience())
        except BaseException:
            sock.close()
            raise
        sock.allowance = allowance
        return sock


class FinalAnswer(HTTPResponse):
    """The final response to a request, read past any interim ones (1xx; RFC 9110, section 15.2).

    http.client skips 100 alone and takes 103 for the answer; the connection then gives the real answer to the
    next request. An interim answer that wrongly has a body may still be taken for the final one, so a
    connection on which one came is used for no further request.
    """

    interim_answers = 0

    def begin(self) -> None:
        """Read status line and headers. Raises HTTPException for an endless series of interim responses."""
        super().begin()
        # See above: such a connection may hold a leftover that would answer the next request.
        if self.interim_answers:
            self.will_close = True

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 100 <= status < 200:
                return version, status, reason
            self.interim_answers += 1
            if status == _SWITCHING_PROTOCOLS or self.interim_answers > _MAX_INTERIM_ANSWERS:
                raise BadStatusLine(f"interim answer {self.interim_answers} has status {status}")
            parse_headers(self.fp)


class GuardedConnection(HTTPConnection):
    """A plain connection to an origin, or to the proxy on the way to the origin."""

    dialer: Dialer
    allowance: Allowance
    through_proxy = False
    response_class = FinalAnswer
    sock: MeteredSocket | MeteredTLSSocket | None

    def _new_conn(self) -> socket.socket:
        # An operator's own proxy may well be inside: its address is trusted, those behind it are not resolved
        # here.
        if not self.through_proxy:
            return self.dialer.dial(self.host, self.port, self.allowance)
        try:
            return self.dialer.dial(self.host, self.port, self.allowance, guarded=False)
        except FetchError as error:
            if error.kind is Failure.BUSY:  # nothing was asked
                raise
            raise FetchError(Failure.PROXY, str(error)) from error

    def connect(self) -> None:
        super().connect()
        self.spend(self.allowance)

    def spend(self, allowance: Allowance) -> None:
        """Run the next request under this allowance."""
        self.allowance = allowance
        if self.sock is not None:
            self.sock.allowance = allowance


class GuardedTLSConnection(GuardedConnection, HTTPSConnection):
    """A guarded connection over TLS, verified against the host of the URL."""


@dataclass(frozen=True)
class Proxy:
    """A trusted forward proxy. It resolves names itself, so only literal addresses are checked."""

    url: Url

    @classmethod
    def parse(cls, url: str) -> Proxy:
        """Parse a proxy's URL. Raises ValueError for anything but `http://[user:password@]host:port`."""
        parsed = parse_url(url)
        if parsed.scheme != "http" or not parsed.host or not parsed.port:
            raise ValueError(f"a proxy must be given as http://host:port, not {url!r}")
        return cls(parsed)

    def headers(self) -> dict[str, str]:
        """Return the headers with the proxy's own credentials."""
        if not self.url.auth:
            return {}
        token = base64.b64encode(unquote(self.url.auth).encode()).decode("ascii")
        return {"Proxy-Authorization": f"Basic {token}"}


class Connections:
    """A store of connections that keeps at most one idle per origin, for a short while. Thread-safe."""

    def __init__(
        self,
        dialer: Dialer,
        tls: ssl.SSLContext,
        *,
        proxy: Proxy | None = None,
    ) -> None:
        self._dialer = dialer
        self._tls = tls
        self._proxy = proxy
        self._idle: OrderedDict[Target, tuple[GuardedConnection, float]] = OrderedDict()
        self._abrupt: OrderedDict[Target, None] = OrderedDict()
        self._lock = threading.Lock()

    def idle(self, target: Target, allowance: Allowance) -> GuardedConnection | None:
        """Return the idle connection kept for this origin, or None when there is no usable one."""
        with self._lock:
            connection, since = self._idle.pop(target, (None, 0.0))
        if connection is None:
            return None
        sock = connection.sock
        is_fresh = time.monotonic() - since < _IDLE_SECONDS and connection.is_connected
        if not is_fresh or sock is None or not (self._proxy or self._dialer.still_permits(sock)):
            connection.close()
            return None
        connection.spend(allowance)
        return connection

    def new(self, target: Target, allowance: Allowance) -> GuardedConnection:
        """Create a connection to this origin, which its first request opens. Raises FetchError."""
        scheme, host, port = target
        address = (host, port)
        if self._proxy is not None:
            if not permits_port(port):
                raise FetchError(Failure.BLOCKED_PORT, f"port {port}")
            # A proxy resolves names itself; a literal inner address is the only one that can be refused here.
            if is_literal(host) and not self._dialer.guard.permits(host):
                raise FetchError(Failure.BLOCKED_ADDRESS, host)
            address = (str(self._proxy.url.host).strip("[]"), int(self._proxy.url.port or 0))
        connection: GuardedConnection
        if scheme == "https":
            connection = GuardedTLSConnection(*address, ssl_context=self._tls)
        else:
            connection = GuardedConnection(*address)
        connection.dialer = self._dialer
        connection.allowance = allowance
        if self._proxy is not None:
            connection.through_proxy = True
            if scheme == "https":
                connection.set_tunnel(host, port, self._proxy.headers())
        return connection

    def proxy_headers(self, target: Target) -> dict[str, str]:
        """Return the headers for the proxy, which forwards plain http and tunnels TLS."""
        return self._proxy.headers() if self._proxy is not None and target[0] == "http" else {}

    def needs_absolute_form(self, target: Target) -> bool:
        """Return whether requests to this origin name the whole URL (RFC 9112 section 3.2.2)."""
        return self._proxy is not None and target[0] == "http"

    def keep(self, target: Target, connection: GuardedConnection) -> None:
        """Keep a connection whose response was read to its end."""
        now = time.monotonic()
        closing = []
        with self._lock:
            if target in self._abrupt:
                connection.close()
                # Otherwise the next request on it would fail, be repeated, and reach the server twice.
                return
            replaced = self._idle.pop(target, None)
            closing += [replaced[0]] if replaced else []
            self._idle[target] = (connection, now)
            while len(self._idle) > _MAX_IDLE or self._oldest() < now - _IDLE_SECONDS:
                closing.append(self._idle.popitem(last=False)[1][0])
        for old in closing:
            old.close()

    def distrust(self, target: Target) -> None:
        """Keep no more connections to this origin, because it closes even new ones without notice.

        A request that fails on a kept connection is sent again; such an origin would get each request twice.
        """
        with self._lock:
            self._abrupt[target] = None
            while len(self._abrupt) > _MAX_IDLE:
                self._abrupt.popitem(last=False)

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, OrderedDict()
        for connection, _ in idle.values():
            connection.close()

    def _oldest(self) -> float:
        return next(iter(self._idle.values()))[1]


def _dial_failure(error: BaseException | None, allowance: Allowance) -> FetchError:
    """Return the failure of the last address tried."""
    if isinstance(error, TimeoutError):
        kind = Failure.TIMEOUT if allowance.left > 0 else Failure.TOO_SLOW
        return FetchError(kind, "connecting took too long")
    if isinstance(error, ConnectionRefusedError):
        return FetchError(Failure.REFUSED, str(error))
    return FetchError(Failure.UNREACHABLE, str(error))
