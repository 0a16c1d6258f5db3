"""Sockets that know how much time and how many bytes a retrieval has left.

`timeout=` of socket libraries bounds one read, so a server that drips bytes holds a worker for
ever (measured: 12 s against a timeout of 1 s). Here every single read waits no longer than what
is left of the whole retrieval, on headers, bodies and redirects alike, and no watchdog is needed.
"""

from __future__ import annotations

import socket
import ssl
import time
from typing import Any

from crawler.failures import Failure, FetchError


class Allowance:
    """The time and bytes that remain for one retrieval: `deadline` is on the monotonic clock.

    One allowance covers all hops; `received` counts bytes after TLS. Used by one thread.
    """

    def __init__(self, deadline: float, silence: float) -> None:
        self.deadline = deadline
        self.silence = silence
        self.received = 0
        self._end = 0
        self._excess = Failure.PROTOCOL

    @property
    def left(self) -> float:
        """Seconds left, zero or less when the time is over."""
        return self.deadline - time.monotonic()

    def limit(self, count: int, excess: Failure) -> None:
        """Allow `count` more bytes from here on; exceeding them raises `excess`."""
        self._end = self.received + count
        self._excess = excess

    def patience(self) -> float:
        """Return the seconds that the next step may wait. Raises FetchError (too-slow) when time is over."""
        remaining_seconds = self.left
        if remaining_seconds <= 0:
            raise FetchError(Failure.TOO_SLOW, "the time for the whole retrieval is over")
        return min(remaining_seconds, self.silence)

    def take(self, count: int) -> None:
        """Count received bytes. Raises FetchError when they are too many."""
        self.received += count
        if self.received > self._end:
            raise FetchError(self._excess, "more bytes came than allowed")


class MeteredSocket(socket.socket):
    """A TCP socket under an allowance."""

    allowance: Allowance | None = None

    def recv_into(self, buffer: Any, *bounds: Any) -> int:
        if self.allowance is None:
            return super().recv_into(buffer, *bounds)
        # Renewed before each read, so that a server that drips bytes cannot outlast the deadline.
        self.settimeout(self.allowance.patience())
        count = super().recv_into(buffer, *bounds)
        self.allowance.take(count)
        return count


class MeteredTLSSocket(MeteredSocket, ssl.SSLSocket):
    """A TLS socket under an allowance. The handshake is bounded by the timeout set before it."""


def tls_context(ca_file: str) -> ssl.SSLContext:
    """Return a verifying client context with metered sockets. Raises OSError for an unreadable `ca_file`."""
    context = ssl.create_default_context(cafile=ca_file)
    context.sslsocket_class = MeteredTLSSocket
    return context
