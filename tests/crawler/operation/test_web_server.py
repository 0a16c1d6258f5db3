"""The web server: slow clients and costly requests keep nobody else waiting."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from crawler.operation.deployment import web_server as web
from crawler.web.requests import ARRIVED

HALF_HEAD = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
HALF_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\nabc"


class Site:
    """An application whose costly and usual requests wait until the test lets them go on."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.environ: dict[str, Any] = {}

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"].startswith(("/graph/", "/slow/", "/accounts/login/")):
            self.free.wait(30)
        self.environ = environ
        start_response("200 OK", [("Content-Type", "text/plain")])
        if environ["PATH_INFO"] == "/static/endless":
            return (b"x" * 1_000_000 for _ in range(100))
        return [environ["PATH_INFO"].encode()]


@pytest.fixture
def site() -> Site:
    return Site()


@contextlib.contextmanager
def serving(application: Any) -> Iterator[int]:
    """Serve a WSGI application on a free port."""
    server = web.LimitedServer(application, dispatcher=web.Threads(), adj=web.adjustments("127.0.0.1:0"))
    stopping = False

    def run() -> None:
        while not stopping:
            server.asyncore.loop(timeout=0.05, map=server._map, use_poll=True, count=1)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield int(server.effective_port)
    stopping = True
    thread.join(10)
    server.task_dispatcher.shutdown()
    server.close()


@pytest.fixture
def port(site: Site) -> Iterator[int]:
    with serving(site) as port:
        yield port
        site.free.set()


def get(port: int, path: str, seconds: float = 5.0, method: str = "GET") -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path)
        return connection.getresponse().read()
    finally:
        connection.close()


def begin(port: int, path: str, method: str = "GET") -> None:
    """Ask, and do not wait for the answer."""

    def ask() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            get(port, path, 40, method)

    threading.Thread(target=ask, daemon=True).start()


@pytest.mark.parametrize("start", [b"", HALF_HEAD, HALF_BODY])
def test_slow_clients_keep_nobody_waiting_and_are_closed(
    port: int, start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    for client in slow:
        client.sendall(start)
    assert get(port, "/page", 60) == b"/page"
    for client in slow:  # all of them are still there: the page came beside them, not after them
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)
    monkeypatch.setattr(web, "MAX_CROWDED_SECONDS", 0.0)
    monkeypatch.setattr(web, "CROWDED_CONNECTIONS", 50)
    if start:
        for client in slow:
            client.settimeout(5)
            assert client.recv(1) == b""
    for client in slow:
        client.close()


def test_a_head_has_its_time_and_a_body_more_by_what_arrived() -> None:
    request = web.TimedRequest(web.adjustments("127.0.0.1:0"))
    request.received(HALF_BODY)
    assert not request.is_overdue(request.began + web.MAX_HEAD_SECONDS - 1, crowded=False)
    assert request.is_overdue(request.began + web.MAX_HEAD_SECONDS + 1, crowded=False)
    assert request.is_overdue(request.began + web.MAX_CROWDED_SECONDS + 1, crowded=True)
    request.received(b"x" * 4000)
    assert not request.is_overdue(request.began + web.MAX_HEAD_SECONDS + 1, crowded=False)


def test_costly_requests_leave_threads_to_others(port: int) -> None:
    for _ in range(20):
        begin(port, "/graph/sparql?query=x")
    time.sleep(0.3)
    assert get(port, "/feeds/") == b"/feeds/"
    assert get(port, "/healthz") == b"/healthz"


def test_health_and_static_files_are_answered_while_all_pages_are_slow(port: int) -> None:
    for _ in range(20):
        begin(port, "/slow/")
    time.sleep(0.3)
    assert get(port, "/healthz") == b"/healthz"
    assert get(port, "/static/app.css") == b"/static/app.css"


@pytest.mark.parametrize(
    ("path", "query", "name"),
    [
        ("/healthz", "", "first"),
        ("/static/app.css", "q=1", "first"),
        ("/healthz/x", "", "usual"),
        ("/articles/", "page=2", "usual"),
        ("/articles/", "feed=3&q=word", "costly"),
        ("/api/articles/", "q=a", "costly"),
        ("/graph/sparql", "", "costly"),
    ],
)
def test_requests_have_threads_by_what_they_cost(path: str, query: str, name: str) -> None:
    assert web.request_class(path, query) == name


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/accounts/login/", "passwords"),
        ("POST", "/accounts/ClientLogin", "passwords"),
        ("POST", "/api/greader.php/accounts/ClientLogin", "passwords"),
        ("POST", "/accounts/password/reset/", "passwords"),
        ("GET", "/accounts/login/", "usual"),
        ("POST", "/accounts/choices/", "usual"),
    ],
)
def test_passwords_are_checked_by_threads_of_their_own(method: str, path: str, name: str) -> None:
    assert web.request_class(path, "", method) == name


@pytest.mark.parametrize("path", ["/accounts/login/", "//accounts/login/", "/%61ccounts/login/"])
def test_forty_sign_ins_at_once_delay_no_page(port: int, path: str) -> None:
    for _ in range(40):
        begin(port, path, "POST")
    time.sleep(0.3)
    assert get(port, "/feeds/") == b"/feeds/"
    assert get(port, "/healthz") == b"/healthz"


def test_a_request_says_when_it_arrived(port: int, site: Site) -> None:
    began = time.monotonic()
    get(port, "/feeds/")
    assert began <= site.environ[ARRIVED] <= time.monotonic()


@pytest.mark.parametrize("bind", ["", "localhost", "127.0.0.1:99999", "127.0.0.1:x"])
def test_an_address_without_a_port_is_refused(bind: str) -> None:
    with pytest.raises(ValueError, match=r"port|Port"):
        web.adjustments(bind)


def unread(port: int, requests: bytes) -> socket.socket:
    """Send requests on a connection whose answers nobody reads."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.sendall(requests)
    return client


def test_clients_that_do_not_read_their_answers_lose_the_connection(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "MAX_HEAD_SECONDS", 1.0)
    clients = [
        unread(port, b"GET /static/endless HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(web.THREADS["first"])
    ]
    assert get(port, "/healthz", 15) == b"/healthz"
    for client in clients:
        client.close()


def test_many_requests_at_once_on_one_connection_close_it(port: int) -> None:
    requests = b"GET /slow/ HTTP/1.1\r\nHost: x\r\n\r\n" * 200
    client = unread(port, requests)
    client.settimeout(10)
    received = b""
    with contextlib.suppress(ConnectionError):
        while data := client.recv(65_536):
            received += data
    client.close()
    assert received.count(b"200 OK") == 0
    assert get(port, "/healthz") == b"/healthz"


def test_answers_to_head_end_with_their_headers() -> None:
    for headers in ([("Content-Length", "5")], []):

        def application(
            environ: dict[str, Any], start_response: Any, headers: list[Any] = headers
        ) -> list[bytes]:
            start_response("200 OK", headers)
            return [b"seven", b""]

        with serving(web.without_head_bodies(application)) as port:
            client = socket.create_connection(("127.0.0.1", port), timeout=10)
            client.sendall(b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = b""
            while data := client.recv(65_536):
                answer += data
            client.close()
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.endswith(b"\r\n\r\n")
            assert answer.count(b"\r\n\r\n") == 1


@pytest.mark.parametrize("address", [b"http://[x/a", b"//[", b"\xff", b"*"])
def test_odd_addresses_are_answered(port: int, address: bytes) -> None:
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    client.sendall(b"GET " + address + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert client.recv(65_536).startswith(b"HTTP/1.")
    client.close()


def test_a_crowd_wants_a_second_process(port: int, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[str] = []
    monkeypatch.setattr(web.lifeline, "tell_wanted", wanted.append)
    for _ in range(web.THREADS["usual"]):
        begin(port, "/slow/")
    time.sleep(1)
    assert wanted == [], "each has a thread"
    begin(port, "/slow/")
    time.sleep(2 * web.CROWD_SECONDS)
    begin(port, "/slow/")
    until = time.monotonic() + 5
    while not wanted and time.monotonic() < until:
        time.sleep(0.05)
    assert wanted == [web.SECOND_WEB]


def test_a_second_process_finishes_its_answers_and_leaves_new_requests_to_the_first(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "QUIET_SECONDS", 1.0)
    with web.listen("127.0.0.1:0") as listener:
        port = listener.getsockname()[1]
        answers: list[bytes] = []
        asking = threading.Thread(target=lambda: answers.append(get(port, "/slow/", 20)))
        asking.start()
        time.sleep(0.5)  # it has asked, and waits to be accepted
        info = (listener.family, listener.type, listener.proto, listener.getsockname())
        adjusted = web.adjustments("127.0.0.1:0")
        second = web.LimitedServer(
            site,
            dispatcher=web.Threads(),
            adj=adjusted,
            _sock=listener.dup(),
            sockinfo=info,
            bind_socket=False,
        )
        second.ends_when_quiet = True
        thread = threading.Thread(target=second.run, daemon=True)
        thread.start()
        time.sleep(3)
        assert thread.is_alive(), "an answer is under way"
        site.free.set()
        asking.join(10)
        thread.join(10)
        assert answers == [b"/slow/"]
        assert not thread.is_alive()
        with socket.create_connection(("127.0.0.1", port)) as waiting:
            assert listener.accept()[1] == waiting.getsockname()
