"""The web server under `manage.py run` and `manage.py web`: waitress, with limits for slow clients.

One thread reads requests and writes answers for all connections; a request reaches a thread that runs Django
only when it has arrived as a whole, so a client that sends slowly holds a connection and nothing else.
benchmarks/slow_clients.py measures it.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.module_loading import import_string
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask

from crawler.isolation import lifeline, memory
from crawler.web.deadline import is_search
from crawler.web.middleware import MAX_BYTES
from crawler.web.requests import ARRIVED

BACKLOG = 1024
MAX_CONNECTIONS = 4000
CROWDED_CONNECTIONS = 3000
MAX_HEAD_BYTES = 65_536
MAX_HEAD_SECONDS = 20.0
MAX_CROWDED_SECONDS = 3.0
"""Maximum time for a whole request to arrive while more than CROWDED_CONNECTIONS are open."""
MIN_ANSWER_BYTES = 40_000
"""Minimum number of bytes of its answer that a client must take every MAX_HEAD_SECONDS."""
MAX_PIPELINED = 16
MIN_BODY_BYTES_PER_SECOND = 2000.0
"""Minimum rate of a body: a request may take MAX_HEAD_SECONDS plus a second per so many received bytes."""

THREADS = (
    {"first": 1, "usual": 3, "costly": 1, "pictures": 2, "passwords": 1}
    if memory.is_small()
    else {"first": 2, "usual": 6, "costly": 2, "pictures": 4, "passwords": 2}
)
"""Threads that answer the requests of each class. Each may hold a connection to PostgreSQL, of some MB."""

COSTLY_PATHS = ("/graph/", "/api/graph/", "/search/", "/mcp")
PASSWORD_PATHS = (
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password/",
    "/accounts/reauthenticate/",
    "/accounts/ClientLogin",
    "/api/greader.php/accounts/ClientLogin",
)
"""Where forms with passwords are sent, each of which takes a processor for half a second."""


def request_class(path: str, query: str, method: str = "GET") -> str:
    """Return the request's class of threads: health checks and static files first, costly searches apart.

    So neither eight searches nor eight slow pages, nor pictures that wait for their publishers, delay the
    answer to a load balancer's health check, and passwords are checked two at a time however many are sent.
    """
    if method == "POST" and path.startswith(PASSWORD_PATHS):
        return "passwords"
    if path == "/healthz" or path.startswith("/static/"):
        return "first"
    if path.startswith("/img/"):
        return "pictures"
    return "costly" if is_search(query) or path.startswith(COSTLY_PATHS) else "usual"


class TimedRequest(HTTPRequestParser):  # type: ignore[misc]
    """A request that is arriving, with the time of its first byte."""

    def __init__(self, adjustments: Adjustments) -> None:
        super().__init__(adjustments)
        self.began = time.time()

    def is_overdue(self, now: float, *, crowded: bool) -> bool:
        """Return whether the client has taken too long to send the request."""
        allowed = MAX_HEAD_SECONDS + self.body_bytes_received / MIN_BODY_BYTES_PER_SECOND
        return bool(now - self.began > (MAX_CROWDED_SECONDS if crowded else allowed))

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the head. Raises ParsingError also for an address that Python's URL parser refuses."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            raise ParsingError("Bad address") from error


class BodilessHead(WSGITask):  # type: ignore[misc]
    """A request being answered, with no body in the answer to HEAD, and with the time of its arrival."""

    def get_environment(self) -> dict[str, Any]:
        """Return the environment of WSGI, with when the request began to wait for a thread."""
        return {**super().get_environment(), ARRIVED: self.request.arrived}

    def finish(self) -> None:
        """Write the rest of the answer, or only the headers for HEAD."""
        if self.request.command != "HEAD":
            super().finish()
        elif not self.wrote_header:
            self.write(b"")


class ClientConnection(HTTPChannel):  # type: ignore[misc]
    """A connection that times its requests and measures how fast its client reads."""

    parser_class = TimedRequest
    task_class = BodilessHead
    _sent_bytes = 0
    _progress = (0.0, 0)

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send some of the data. Returns the number of bytes."""
        count = int(super().send(data, do_close=do_close))
        self._sent_bytes += count
        return count

    def received(self, data: bytes) -> bool:
        """Process received bytes. Closes the connection when they hold too many pipelined requests."""
        accepted = bool(super().received(data))
        if len(self.requests) > MAX_PIPELINED:
            self.abort()
        return accepted

    def is_stalled(self, now: float) -> bool:
        """Return whether the client has read too little of its answer for MAX_HEAD_SECONDS."""
        since, sent = self._progress
        if not self.total_outbufs_len or not since or self._sent_bytes - sent >= MIN_ANSWER_BYTES:
            self._progress = now, self._sent_bytes
            return False
        return now - since > MAX_HEAD_SECONDS

    def abort(self) -> None:
        """Close without sending the rest, and release a thread that waits to write more."""
        self.will_close = True
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


CROWD_SECONDS = 0.2
"""Time that a request waits for a thread from which on a second process would help."""


class Threads:
    """A task dispatcher for waitress with a thread pool for each class of requests."""

    def __init__(self) -> None:
        self._dispatchers = {name: ThreadedTaskDispatcher() for name in THREADS}
        self.crowded = time.monotonic()
        """When a request was last seen to wait so long that a second process would help."""
        for name, count in THREADS.items():
            self._dispatchers[name].set_thread_count(count)

    def add_task(self, channel: HTTPChannel) -> None:
        """Let a thread of the right class answer the first request of a connection."""
        request = channel.requests[0]
        request.arrived = time.monotonic()
        dispatcher = self._dispatchers["first" if request.error else _class_of(request)]
        dispatcher.add_task(channel)
        with suppress(IndexError):  # nobody waits any more
            oldest = dispatcher.queue[0].requests[0].arrived
            if request.arrived - oldest > CROWD_SECONDS and request.arrived - self.crowded > CROWD_SECONDS:
                self.crowded = request.arrived
                lifeline.tell_wanted(SECOND_WEB)

    def shutdown(self) -> None:
        """End all threads after their current tasks."""
        for dispatcher in self._dispatchers.values():
            dispatcher.shutdown()


def _class_of(request: HTTPRequestParser) -> str:
    """Return the class of a request, whose address counts as Django will see it."""
    path = "/" + request.path.lstrip("/")
    return request_class(path.removeprefix(settings.URL_PREFIX), request.query, request.command)


SECOND_WEB = "second web"
"""The process that answers requests beside the first one while there is a crowd.

Python runs one thread of a process at a time, so one answers some 20 pages a second (benchmarks/readers.py).
"""
QUIET_SECONDS = 120.0
"""Time without a crowd after which it ends."""


class LimitedServer(TcpWSGIServer):  # type: ignore[misc]
    """A waitress server that also closes connections whose clients send or read too slowly."""

    channel_class = ClientConnection
    ends_when_quiet = False

    def maintenance(self, now: float) -> None:
        """Close idle and overdue connections; waitress calls it once a second."""
        super().maintenance(now)
        crowded = len(self.active_channels) > CROWDED_CONNECTIONS
        for channel in self._receiving():
            if channel.request.is_overdue(now, crowded=crowded):
                channel.will_close = True
        for channel in list(self.active_channels.values()):
            if channel.is_stalled(now):
                channel.abort()
        if self.ends_when_quiet and time.monotonic() - self.task_dispatcher.crowded > QUIET_SECONDS:
            self._leave()

    def _leave(self) -> None:
        """Leave new connections to the first process, and end when the last answer was sent."""
        self.accepting = False
        channels = self.active_channels.values()
        if not any(channel.requests or channel.total_outbufs_len for channel in channels):
            sys.exit(0)

    def _receiving(self) -> Iterator[Any]:
        channels = list(self.active_channels.values())
        return (channel for channel in channels if channel.request is not None and not channel.requests)


class WebServer:
    """The web server on an address such as `127.0.0.1:8000`, run by this process and its threads.

    Several processes may share a `listener`. One that `ends_when_quiet` does when there is no crowd any more.
    """

    def __init__(
        self, bind: str, listener: socket.socket | None = None, *, ends_when_quiet: bool = False
    ) -> None:
        self._bind, self._listener, self._ends_when_quiet = bind, listener, ends_when_quiet

    def run(self) -> None:
        """Answer requests until SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(0))
        lifeline.die_when_stuck()
        _raise_file_limit()
        adjusted, listener = adjustments(self._bind), self._listener or systemd_socket()
        application = without_head_bodies(import_string("crawler.wsgi.application"))
        if listener is None:
            server = LimitedServer(application, dispatcher=Threads(), adj=adjusted)
        else:
            info = (listener.family, listener.type, listener.proto, listener.getsockname())
            server = LimitedServer(
                application,
                dispatcher=Threads(),
                adj=adjusted,
                _sock=listener,
                sockinfo=info,
                bind_socket=False,
            )
        server.ends_when_quiet = self._ends_when_quiet
        lifeline.tell_ready()
        server.run()


def listen(bind: str) -> socket.socket:
    """Return a socket that listens on an address, for processes to share. Raises OSError, ValueError."""
    family, kind, protocol, address = adjustments(bind).listen[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    listener.bind(address)
    listener.listen(BACKLOG)
    return listener


def systemd_socket() -> socket.socket | None:
    """Return the listening socket that systemd has opened for this process, None without one.

    Source: sd_listen_fds(3).
    """
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS") != "1":
        return None
    listener = socket.socket(fileno=_FIRST_DESCRIPTOR)
    listener.set_inheritable(False)
    return listener


_FIRST_DESCRIPTOR = 3
"""The first file descriptor that systemd passes."""


def without_head_bodies(application: Any) -> Any:
    """Return the WSGI application wrapped so that answers to HEAD have no body."""

    def answer(environ: dict[str, Any], start_response: Any) -> Any:
        body = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return body
        if hasattr(body, "close"):
            body.close()
        return []

    return answer


def adjustments(bind: str) -> Adjustments:
    """Return waitress's settings. Raises ValueError for an address without a host or a port.

    Proxy headers are passed on to Django, which knows whether to trust them.
    """
    address = urlsplit(f"//{bind}")
    if not address.hostname or address.port is None:
        raise ValueError("an address and a port are needed, such as 127.0.0.1:8000")
    return Adjustments(
        host=address.hostname,
        url_prefix=settings.URL_PREFIX,
        port=address.port,
        ident=None,
        backlog=BACKLOG,
        connection_limit=MAX_CONNECTIONS,
        channel_timeout=int(MAX_HEAD_SECONDS),
        cleanup_interval=1,
        max_request_header_size=MAX_HEAD_BYTES,
        max_request_body_size=MAX_BYTES + 1,
        clear_untrusted_proxy_headers=False,
        asyncore_use_poll=True,
    )


def _raise_file_limit() -> None:
    """Raise the limit of open files to what the connections need, as far as allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed_files = MAX_CONNECTIONS + 500
    if soft < needed_files:
        limit = needed_files if hard == resource.RLIM_INFINITY else min(needed_files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit, soft), hard))
