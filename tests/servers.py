"""Web servers on loopback that answer by path, and remember what they were asked and how much at once."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller


@dataclass(frozen=True)
class Reply:
    """What to answer, `seconds` after the question; an ETag that comes back in If-None-Match makes a 304.

    With `pause` the body goes out line by line, so many seconds apart, and ends with the connection.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    pause: float = 0.0


@dataclass(frozen=True)
class Request:
    """A request as it came, header names in lower case; `at` is on the monotonic clock."""

    path: str
    headers: Mapping[str, str]
    at: float
    body: bytes = b""


@dataclass(frozen=True)
class Answered:
    """A request and the status it was answered with."""

    request: Request
    status: int


Script = Reply | Callable[[Request], Reply]


class WebServer:
    """Serves `replies` by path, all else is 404. Use it as a context manager."""

    def __init__(self, replies: Mapping[str, Script] | None = None, host: str = "127.0.0.1") -> None:
        self.replies: dict[str, Script] = dict(replies or {})
        self.requests: list[Request] = []
        self.answers: list[Answered] = []
        self.most_at_once = 0
        self.stopping = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        self._server = _Listener(self, host)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join(5)

    @property
    def origin(self) -> str:
        """As in `http://127.0.0.1:8080`."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [request.path for request in self.requests]

    def statuses(self, path: str) -> list[int]:
        """How each request for the path was answered."""
        return [answered.status for answered in self.answers if answered.request.path == path]

    def reply_to(self, request: Request) -> Reply:
        """Note the request and find its answer, waiting as long as that one wants."""
        with self._noted(request):
            script = self.replies.get(request.path, Reply(status=404))
            reply = script if isinstance(script, Reply) else script(request)
            self.stopping.wait(reply.seconds)
        etag = reply.headers.get("ETag")
        if etag and request.headers.get("if-none-match") == etag:
            reply = Reply(status=304, headers=reply.headers)
        self.answers.append(Answered(request, reply.status))
        return reply

    @contextlib.contextmanager
    def _noted(self, request: Request) -> Iterator[None]:
        """It counts as over before the answer goes out: whoever has read that may ask again at once."""
        with self._lock:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, web: WebServer, host: str) -> None:
        self.web = web
        self._connections: list[socket.socket] = []
        super().__init__((host, 0), _Handler)

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def close_connections(self) -> None:
        """End the ones that clients keep open."""
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        reply = self.server.web.reply_to(Request(self.path, headers, time.monotonic(), body))
        self.send_response_only(reply.status, HTTPStatus(reply.status).phrase)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.pause:
            self._drip(reply)
            return
        if "Content-Length" not in reply.headers:
            self.send_header("Content-Length", str(len(reply.body)))
        with contextlib.suppress(OSError):  # the client was killed, or has given up
            self.end_headers()
            self.wfile.write(reply.body)

    def _drip(self, reply: Reply) -> None:
        self.send_header("Connection", "close")
        with contextlib.suppress(OSError):
            self.end_headers()
            for line in reply.body.splitlines(keepends=True):
                self.wfile.write(line)
                self.server.web.stopping.wait(reply.pause)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """pytest's output is for pytest."""


def rss(origin: str, numbers: range, *, pages: str = "/page") -> bytes:
    """An RSS 2.0 feed with these entries, whose articles are at `origin` + `pages` + number."""
    items = "".join(
        f"<item><guid isPermaLink='false'>{origin}#{number}</guid><title>Entry {number}</title>"
        f"<link>{origin}{pages}{number}</link><description>Words on {number}.</description></item>"
        for number in numbers
    )
    channel = f"<title>Feed of {origin}</title><link>{origin}/</link><description/>{items}"
    return f"<?xml version='1.0'?><rss version='2.0'><channel>{channel}</channel></rss>".encode()


def article(number: int) -> bytes:
    """An HTML page with enough prose to be an article."""
    sentence = f"The river rose again on day {number}, and the people of the town went to the upper streets. "
    return (
        f"<!doctype html><html lang='en'><head><title>Article {number}</title></head><body><article>"
        f"<h1>Article {number}</h1><p>{sentence * 4}</p><p>{sentence * 3}</p></article></body></html>"
    ).encode()


class _Letters:
    def __init__(self) -> None:
        self.letters: list[Message] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.letters.append(message_from_bytes(envelope.content))
        return "250 OK"


def mail_server(settings: Any) -> Iterator[list[Message]]:
    """Run a mail server that the deployment sends by; yields the list of the mails that it took."""
    box = _Letters()
    server = Controller(box, hostname="127.0.0.1", port=0)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server.port = int(probe.getsockname()[1])
    server.start()
    settings.EMAIL_URL = "smtp://127.0.0.1"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
    yield box.letters
    server.stop()
