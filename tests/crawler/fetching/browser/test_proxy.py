"""The proxy of a browser run, without a browser: its secret, its guard and its limits."""

from __future__ import annotations

import base64
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from crawler.failures import Failure
from crawler.fetching.browser.jobs import USER
from crawler.fetching.browser.proxy import BYTES, CONNECTIONS, DEADLINE, REQUESTS, GuardedProxy, ProxyLimits
from tests.crawler.fetching.browser.conftest import Site

LOOPBACK = ("127.0.0.1/32",)


def credentials(proxy: GuardedProxy, secret: str | None = None) -> str:
    token = base64.b64encode(f"{USER}:{proxy.secret if secret is None else secret}".encode()).decode()
    return f"Proxy-Authorization: Basic {token}\r\n"


def connected(proxy: GuardedProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), 5)


def ask(proxy: GuardedProxy, line: str, headers: str | None = None, body: bytes = b"") -> bytes:
    """Send one request and return the whole answer."""
    headers = credentials(proxy) if headers is None else headers
    with connected(proxy) as sock:
        sock.sendall(f"{line} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode() + body)
        answer = b""
        try:
            while piece := sock.recv(65_536):
                answer += piece
        except ConnectionError:
            pass
        return answer


def test_it_forwards_a_plain_request(site: Site) -> None:
    site.pages["/a"] = "hello"
    with GuardedProxy(LOOPBACK) as proxy:
        answer = ask(proxy, f"GET {site.address}/a?b=c")
        assert answer.startswith(b"HTTP/1.0 200") and answer.endswith(b"hello")
        assert b"\r\nConnection: close\r\n" in answer
        assert site.paths == ["/a?b=c"]
        assert proxy.requests == 1 and proxy.bytes > 50


def test_credentials_do_not_reach_the_server(site: Site) -> None:
    seen: list[str] = []

    def page(handler: BaseHTTPRequestHandler) -> None:
        seen.extend(handler.headers)
        handler.send_response(204)
        handler.end_headers()

    site.pages["/"] = page
    with GuardedProxy(LOOPBACK) as proxy:
        ask(proxy, f"GET {site.address}/")
    assert sorted(seen) == ["Connection", "Host"]


@pytest.mark.parametrize("headers", ["", "wrong"])
def test_it_demands_its_secret(site: Site, headers: str) -> None:
    with GuardedProxy(LOOPBACK) as proxy:
        sent = credentials(proxy, "wrong") if headers else ""
        for line in (f"GET {site.address}/", f"CONNECT 127.0.0.1:{site.port}"):
            assert ask(proxy, line, sent).startswith(b"HTTP/1.1 407 ")
        assert site.paths == [] and proxy.requests == 0


@pytest.mark.parametrize("form", ["GET http://{}/", "CONNECT {}"])
def test_it_refuses_a_private_address_and_notes_it(private: Site, form: str) -> None:
    place = f"127.0.0.2:{private.port}"
    with GuardedProxy(LOOPBACK) as proxy:
        assert ask(proxy, form.format(place)).startswith(b"HTTP/1.1 403 ")
        assert proxy.refusals[place].kind is Failure.BLOCKED_ADDRESS
        assert proxy.blocked == 1
    assert private.paths == []


def test_it_refuses_a_name_that_leads_to_a_private_address(private: Site) -> None:
    def lookup(host: bytes, port: int, *_: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", port))]

    with GuardedProxy(LOOPBACK, lookup=lookup) as proxy:
        assert ask(proxy, f"CONNECT rebound.test:{private.port}").startswith(b"HTTP/1.1 403 ")
    assert private.paths == []


@pytest.mark.parametrize(
    "address", ["[::1]:8080", "[::ffff:127.0.0.2]:80", "0:80", "127.2:80", "0x7f000002:80", "2130706434:80"]
)
def test_other_spellings_of_private_addresses_are_refused(address: str) -> None:
    with GuardedProxy(LOOPBACK) as proxy:
        assert ask(proxy, f"CONNECT {address}").startswith(b"HTTP/1.1 403 ")


def test_it_refuses_ports_of_other_services() -> None:
    with GuardedProxy(LOOPBACK) as proxy:
        assert ask(proxy, "CONNECT 127.0.0.1:6379").startswith(b"HTTP/1.1 403 ")
        assert proxy.refusals["127.0.0.1:6379"].kind is Failure.BLOCKED_PORT


@pytest.mark.parametrize(
    "line",
    ["GET /", "GET ftp://127.0.0.1/", "CONNECT 127.0.0.1", "CONNECT a b:80", "GET http://[::1/", "get x"],
)
def test_nonsense_ends_the_connection(line: str) -> None:
    with GuardedProxy(LOOPBACK) as proxy:
        assert ask(proxy, line)[:12] in (b"HTTP/1.1 400", b"")


def test_a_second_request_is_not_sent_to_the_first_server(site: Site, private: Site) -> None:
    site.pages["/"] = "first"
    with GuardedProxy(LOOPBACK) as proxy:
        second = f"GET {private.address}/ HTTP/1.1\r\nHost: x\r\n{credentials(proxy)}\r\n".encode()
        answer = ask(proxy, f"GET {site.address}/", body=second)
    assert answer.count(b"HTTP/1.") == 1
    assert private.paths == []


def test_it_tunnels_tls(tmp_path: Path) -> None:
    files = ["-keyout", tmp_path / "key", "-out", tmp_path / "cert"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", *files],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener, context.wrap_socket(listener.accept()[0], server_side=True) as sock:
            sock.sendall(sock.recv(100).upper())

    threading.Thread(target=serve, daemon=True).start()
    with GuardedProxy(LOOPBACK) as proxy, connected(proxy) as sock:
        sock.sendall(
            f"CONNECT 127.0.0.1:{listener.getsockname()[1]} HTTP/1.1\r\n{credentials(proxy)}\r\n".encode()
        )
        assert sock.recv(1000).startswith(b"HTTP/1.1 200 ")
        client = ssl.create_default_context(cafile=str(tmp_path / "cert"))
        with client.wrap_socket(sock, server_hostname="127.0.0.1") as tunnel:
            tunnel.sendall(b"through tls")
            assert tunnel.recv(100) == b"THROUGH TLS"


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(bytes(65_536))


def test_bytes_of_the_run_are_limited(site: Site) -> None:
    site.pages["/"] = endless
    with GuardedProxy(LOOPBACK, ProxyLimits(max_bytes=1_000_000)) as proxy:
        assert len(ask(proxy, f"GET {site.address}/")) <= 1_000_000
        assert proxy.exceeded == BYTES
        with pytest.raises(OSError):
            connected(proxy)


def test_requests_of_the_run_are_limited(site: Site) -> None:
    site.pages["/"] = "x"
    with GuardedProxy(LOOPBACK, ProxyLimits(max_requests=2)) as proxy:
        answers = [ask(proxy, f"GET {site.address}/") for _ in range(3)]
        assert [bool(answer) for answer in answers] == [True, True, False]
        assert proxy.exceeded == REQUESTS


def test_open_connections_are_limited() -> None:
    with GuardedProxy(LOOPBACK, ProxyLimits(max_connections=2)) as proxy:
        with connected(proxy), connected(proxy), connected(proxy) as third:
            assert third.recv(1) == b""
        assert proxy.exceeded == CONNECTIONS


def test_it_ends_at_its_deadline(site: Site) -> None:
    site.pages["/"] = lambda handler: time.sleep(10)
    with GuardedProxy(LOOPBACK, ProxyLimits(seconds=1.0)) as proxy:
        assert ask(proxy, f"GET {site.address}/") == b""
        assert proxy.exceeded == DEADLINE
