"""Server-side request forgery: no spelling, name, redirect, proxy or port leads to where it must not."""

import itertools
import socket
import ssl
import threading
from typing import Any

import pytest

from crawler.failures import Failure

from .conftest import CERTIFICATE, MAX_DELAY, Exchange, Fetcher, Serve, Stopwatch, answer, names, redirect

# fmt: off
LITERALS = [
    "127.0.0.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "100.100.100.200", "192.168.0.1",
    "255.255.255.255", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fd00:ec2::254]", "[fe80::1]",
    "[ff02::1]", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.1", "0",
    "①②⑦.⓪.⓪.①", "127。0。0。1", "127.0.0.1.", "１２７.0.0.1",
]
# fmt: on


@pytest.mark.parametrize("host", LITERALS)
def test_it_refuses_special_addresses_in_any_spelling(fetcher: Fetcher, host: str) -> None:
    error = fetcher.failure(f"http://{host}/", fetcher.client(allowed_networks=()))
    assert error.kind is Failure.BLOCKED_ADDRESS
    assert error.bytes == 0


def test_nothing_is_sent_to_a_refused_server(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(answer(b"secret"))
    fetcher.failure(server.url(), fetcher.client(allowed_networks=()))
    assert server.connections == 0


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fd00::1", "::ffff:192.168.0.1"])
def test_it_refuses_names_of_private_addresses(fetcher: Fetcher, address: str) -> None:
    fetcher.lookup = names(inside_test=address)
    error = fetcher.failure("http://inside.test/", fetcher.client(allowed_networks=()))
    assert error.kind is Failure.BLOCKED_ADDRESS
    assert "inside.test" in error.detail


def test_of_mixed_addresses_only_the_permitted_are_dialled(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(answer(b"public"), host="127.0.0.2")
    fetcher.lookup = names(mixed_test=["10.255.255.1", "::1", "127.0.0.2"])
    client = fetcher.client(allowed_networks=("127.0.0.2/32",))
    with Stopwatch() as watch:
        assert fetcher.get(server.url(host="mixed.test"), client).body == b"public"
    assert watch.seconds < MAX_DELAY


def test_the_next_address_is_tried_when_one_refuses(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(answer(b"second"), host="127.0.0.3")
    fetcher.lookup = names(two_test=["127.0.0.2", "127.0.0.3"])
    assert fetcher.get(server.url(host="two.test")).body == b"second"


def test_the_address_that_is_checked_is_the_address_that_is_dialled(fetcher: Fetcher, serve: Serve) -> None:
    """DNS rebinding: every lookup answers differently, so a check by a lookup of its own would be fooled."""
    server = serve(answer(b"secret"))
    flips = itertools.cycle(["127.0.0.2", "127.0.0.1"])

    def rebinding(host: bytes, port: int, *_: int) -> list[tuple[Any, ...]]:
        return socket.getaddrinfo(next(flips), port, 0, socket.SOCK_STREAM)

    fetcher.lookup = rebinding
    client = fetcher.client(allowed_networks=("127.0.0.2/32",))
    kinds = {fetcher.failure(server.url(host="rebind.test"), client).kind for _ in range(4)}
    assert kinds == {Failure.REFUSED, Failure.BLOCKED_ADDRESS}
    assert server.connections == 0


def test_a_kept_connection_is_checked_again(
    fetcher: Fetcher, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answer(b"x"))
    client = fetcher.client()
    fetcher.get(server.url(), client)
    monkeypatch.setattr("crawler.fetching.http.addresses.AddressGuard.permits", lambda *_: False)
    assert fetcher.failure(server.url(), client).kind is Failure.BLOCKED_ADDRESS
    assert len(server.requests) == 1


def test_an_unknown_name_is_a_dns_failure(fetcher: Fetcher) -> None:
    fetcher.lookup = names()
    assert fetcher.failure("http://nowhere.test/").kind is Failure.DNS


@pytest.mark.parametrize("host", ["a" * 64 + ".test", "x." * 200 + "test", "_", "-", "*.test"])
def test_a_strange_name_is_a_named_failure(fetcher: Fetcher, host: str) -> None:
    fetcher.lookup = names()
    assert fetcher.failure(f"http://{host}/").kind in (Failure.DNS, Failure.BAD_URL)


def test_a_slow_resolver_does_not_hold_the_worker(fetcher: Fetcher) -> None:
    over = threading.Event()
    fetcher.lookup = lambda *_: over.wait(60)
    with Stopwatch() as watch:
        error = fetcher.failure("http://slow.test/", fetcher.client(deadline=0.3))
    over.set()
    assert error.kind in (Failure.DNS, Failure.TOO_SLOW)
    assert watch.seconds < MAX_DELAY


@pytest.mark.parametrize("port", [22, 25, 6379, 3306])
def test_ports_of_other_services_are_refused_even_where_the_network_is_allowed(
    fetcher: Fetcher, port: int
) -> None:
    assert fetcher.failure(f"http://127.0.0.1:{port}/").kind is Failure.BLOCKED_PORT


@pytest.mark.parametrize(
    "location", ["http://127.0.0.9/", "http://[::1]:8080/", "//10.0.0.1/", "http://inside.test/"]
)
def test_a_redirect_to_a_private_address_is_refused(fetcher: Fetcher, serve: Serve, location: str) -> None:
    server = serve(redirect(location))
    fetcher.lookup = names(inside_test="169.254.169.254")
    error = fetcher.failure(server.url(), fetcher.client(allowed_networks=("127.0.0.1/32",)))
    assert (error.kind, error.hops) == (Failure.BLOCKED_ADDRESS, 1)


def test_a_redirect_to_a_refused_port_is_refused(fetcher: Fetcher, serve: Serve) -> None:
    error = fetcher.failure(serve(redirect("http://127.0.0.1:25/")).url())
    assert error.kind is Failure.BLOCKED_PORT


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "gopher://127.0.0.1/", "data:,x", "ftp://example.com/"]
)
def test_a_redirect_out_of_the_web_is_refused(fetcher: Fetcher, serve: Serve, location: str) -> None:
    assert fetcher.failure(serve(redirect(location)).url()).kind is Failure.BAD_SCHEME


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.com/", "http://u:p@127.0.0.1/", "http://"]
)
def test_a_bad_url_is_refused_before_anything_happens(fetcher: Fetcher, url: str) -> None:
    error = fetcher.failure(url)
    assert error.kind in (Failure.BAD_SCHEME, Failure.BAD_URL)
    assert error.url == url


def test_proxies_of_the_environment_are_ignored(
    fetcher: Fetcher, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, server = serve(answer(b"proxy")), serve(answer(b"direct"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url())
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert fetcher.get(server.url()).body == b"direct"
    assert proxy.connections == 0


def test_a_configured_proxy_is_used_at_whatever_address(fetcher: Fetcher, serve: Serve) -> None:
    proxy = serve(answer(b"via proxy"))
    configured = f"http://user:pa%40ss@127.0.0.1:{proxy.port}"
    client = fetcher.client(proxy=configured, allowed_networks=())
    assert fetcher.get("http://example.test/feed?x", client).body == b"via proxy"
    (request,) = proxy.requests
    assert request.target == "http://example.test/feed?x"
    assert request.headers["host"] == "example.test"
    assert request.headers["proxy-authorization"] == "Basic dXNlcjpwYUBzcw=="


def test_a_proxy_is_not_asked_for_private_literals_or_other_ports(fetcher: Fetcher, serve: Serve) -> None:
    proxy = serve(answer(b"x"))
    client = fetcher.client(proxy=f"http://127.0.0.1:{proxy.port}", allowed_networks=())
    assert fetcher.failure("http://169.254.169.254/", client).kind is Failure.BLOCKED_ADDRESS
    assert fetcher.failure("http://example.test:25/", client).kind is Failure.BLOCKED_PORT
    assert proxy.connections == 0


def test_https_goes_through_a_proxy_as_a_tunnel(fetcher: Fetcher, serve: Serve) -> None:
    proxy = serve(answer(status="403 Forbidden"))
    client = fetcher.client(proxy=f"http://u:p@127.0.0.1:{proxy.port}", allowed_networks=())
    assert fetcher.failure("https://example.test/secret", client).kind is Failure.PROXY
    assert proxy.requests[0].raw.startswith(b"CONNECT example.test:443 ")
    assert b"secret" not in proxy.requests[0].raw


def test_an_unreachable_proxy_is_our_failure(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(b"")
    server.stop()
    error = fetcher.failure("http://example.test/", fetcher.client(proxy=f"http://127.0.0.1:{server.port}"))
    assert error.kind is Failure.PROXY and error.kind.ours


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "127.0.0.1:3128", "http://proxy"])
def test_a_proxy_that_makes_no_sense_is_an_error_at_start(fetcher: Fetcher, proxy: str) -> None:
    with pytest.raises(ValueError, match="proxy"):
        fetcher.client(proxy=proxy)


@pytest.fixture
def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))
    return context


def test_https_works_with_the_name_of_the_url(fetcher: Fetcher, serve: Serve, tls: ssl.SSLContext) -> None:
    server = serve(answer(b"x" * 50_000), tls=tls)
    fetcher.lookup = names(secure_test="127.0.0.1")
    client = fetcher.client()
    for _ in range(2):
        response = fetcher.get(server.url(host="secure.test"), client)
        assert len(response.body) == 50_000 and response.wire_bytes > 50_000
    assert server.connections == 1


def test_https_through_a_tunnel_verifies_the_origin(
    fetcher: Fetcher, serve: Serve, tls: ssl.SSLContext
) -> None:
    def tunnel(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        inner = tls.wrap_socket(exchange.connection, server_side=True)
        inner.recv(4096)
        inner.sendall(answer(b"inner"))
        inner.close()

    proxy = serve(tunnel)
    client = fetcher.client(proxy=f"http://127.0.0.1:{proxy.port}")
    assert fetcher.get("https://secure.test/", client).body == b"inner"


@pytest.mark.parametrize(("host", "trusted"), [("secure.test", False), ("other.test", True)])
def test_a_certificate_must_be_trusted_and_for_the_name(
    fetcher: Fetcher, serve: Serve, tls: ssl.SSLContext, host: str, trusted: bool
) -> None:
    server = serve(answer(b"x"), tls=tls)
    fetcher.lookup = names(secure_test="127.0.0.1", other_test="127.0.0.1")
    client = fetcher.client() if trusted else fetcher.client(ca_file="")
    assert fetcher.failure(server.url(host=host), client).kind is Failure.TLS
    assert server.requests == []


def test_plain_text_where_tls_is_expected_is_a_tls_failure(fetcher: Fetcher, serve: Serve) -> None:
    def plain(exchange: Exchange) -> None:
        exchange.send(answer(b"x"))

    server = serve(plain)
    # the ClientHello is no request head, so the server only ever hangs up
    with Stopwatch() as watch:
        error = fetcher.failure(server.url().replace("http:", "https:"), fetcher.client(deadline=0.5))
    assert error.kind in (Failure.TLS, Failure.TIMEOUT, Failure.TOO_SLOW)
    assert watch.seconds < MAX_DELAY
