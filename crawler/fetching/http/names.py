"""Look-ups of host names: in threads with a time limit, few at once for one zone, failures kept for a while.

Slow name servers of one zone made healthy feeds fail: its look-ups of 40 seconds held all slots.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from crawler.failures import Failure, FetchError
from crawler.fetching.http.domains import registrable_domain

Answers = list[tuple[Any, ...]]
Lookup = Callable[..., Answers]
"""`socket.getaddrinfo` or something that answers like it."""

MAX_LOOKUPS = 64
MAX_LOOKUPS_OF_DOMAIN = 4
SLOW_SECONDS = 2.0
"""Age of all look-ups of a domain at which another one does not wait for them."""
BUSY_PAUSE_SECONDS = 30.0
"""Seconds after which a host of a slow domain may be tried again."""
MAX_KEPT = 4096
# Shorter for a server's failure than for a missing name: EAI_AGAIN is often over with the next try.
KEEP_SECONDS = {
    socket.EAI_NONAME: 120.0, socket.EAI_NODATA: 120.0, socket.EAI_AGAIN: 60.0, socket.EAI_FAIL: 60.0,
}  # fmt: skip
"""Seconds for which a failed look-up answers for its name; RFC 9520, section 3.2, allows five minutes."""


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A look-up under way, which everybody shares who asks the same."""

    host: str
    port: int
    domain: str
    since: float
    future: Future[Answers] = field(default_factory=Future)


class Resolver:
    """A resolver of names with a time limit; it runs in threads, for the system's cannot be interrupted.

    At most 64 look-ups are under way at once, and 4 of one registrable domain, however slow its name servers
    are. What was found is not kept: the address that is dialled is always of a look-up of that moment.
    """

    def __init__(self, lookup: Lookup | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._lookup = lookup
        self._clock = clock
        self._changed = threading.Condition()
        self._under_way: dict[tuple[str, int], _UnderWay] = {}
        self._failures: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def resolve(self, host: str, port: int, timeout: float) -> Answers:
        """Resolve a host to addresses as `getaddrinfo` gives them.

        Raises FetchError: dns where the look-up fails, busy if none could begin within `timeout` seconds.
        """
        # Without a thread: nothing is asked of a name server.
        if is_literal(host):
            return socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)
        deadline = self._clock() + timeout
        shared = self._joined(host, port, deadline)
        # Who comes late to a look-up that hangs does not wait for it as long as the first.
        patience = min(deadline, shared.since + timeout) - self._clock()
        try:
            return shared.future.result(max(patience, 0.0))
        except NoAnswer as error:
            raise FetchError(Failure.DNS, f"no answer from the name servers in {timeout:.1f} s") from error
        except (OSError, UnicodeError) as error:
            raise FetchError(Failure.DNS, str(error)) from error

    def _joined(self, host: str, port: int, deadline: float) -> _UnderWay:
        """Return the look-up of a host that is under way, or begin one. Raises FetchError."""
        domain = registrable_domain(host)
        with self._changed:
            while True:
                self._check_failures(host)
                if (host, port) in self._under_way:
                    return self._under_way[host, port]
                of_domain = [other.since for other in self._under_way.values() if other.domain == domain]
                is_domain_full = len(of_domain) >= MAX_LOOKUPS_OF_DOMAIN
                if not is_domain_full and len(self._under_way) < MAX_LOOKUPS:
                    return self._begun(_UnderWay(host, port, domain, self._clock()))
                # A slow domain's hosts do not wait for each other longer than it takes to see that it is
                # slow.
                until = min(deadline, max(of_domain) + SLOW_SECONDS) if is_domain_full else deadline
                if until <= self._clock():
                    raise _busy(f"too many look-ups of {domain if is_domain_full else 'names'} are under way")
                self._changed.wait(until - self._clock())

    def _check_failures(self, host: str) -> None:
        """Raise FetchError (dns) where a look-up of the host failed a moment ago."""
        until, words = self._failures.get(host, (0.0, ""))
        if self._clock() < until:
            raise FetchError(Failure.DNS, words)

    def _begun(self, new: _UnderWay) -> _UnderWay:
        self._under_way[new.host, new.port] = new
        # A process at its limit of threads: nothing was asked, and the host is not to blame.
        try:
            threading.Thread(target=self._run, args=(new,), daemon=True).start()
        except RuntimeError as error:
            del self._under_way[new.host, new.port]
            raise _busy("no thread could be started for a name look-up") from error
        return new

    def _run(self, query: _UnderWay) -> None:
        lookup = self._lookup or socket.getaddrinfo
        try:
            # bytes, because a str would go through Python's old IDNA once more
            answers = lookup(query.host.encode("ascii"), query.port, 0, socket.SOCK_STREAM)
        except Exception as error:  # handed to the waiting threads
            self._end(query, error)
            query.future.set_exception(error)
        else:
            self._end(query, None)
            query.future.set_result(answers)

    def _end(self, query: _UnderWay, error: Exception | None) -> None:
        """Free a look-up's slot, and keep its failure if it is one of the name."""
        keep_seconds = KEEP_SECONDS.get(error.errno or 0, 0.0) if isinstance(error, socket.gaierror) else 0.0
        with self._changed:
            del self._under_way[query.host, query.port]
            # Popped first, so that the newest failure stands last and the oldest is dropped.
            self._failures.pop(query.host, None)
            if keep_seconds:
                self._failures[query.host] = (self._clock() + keep_seconds, str(error))
            while len(self._failures) > MAX_KEPT:
                self._failures.popitem(last=False)
            self._changed.notify_all()


def is_literal(host: str) -> bool:
    """Return whether a host is an address and no name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _busy(detail: str) -> FetchError:
    return FetchError(Failure.BUSY, detail, retry_after=BUSY_PAUSE_SECONDS)
