"""Everything is fetched by a session of `requests`, which adds nothing of its own to what goes out."""

from __future__ import annotations

import os

import pytest
import requests

from crawler.failures import Failure, FetchError
from crawler.fetching.http.session import Exchange as Sent
from crawler.fetching.http.session import GuardedRequest, GuardedSession
from crawler.fetching.http.transfer import TransferLimits
from crawler.fetching.http.urls import canonical_url
from crawler.fetching.http.wire import Allowance

from .conftest import Exchange, Fetcher, Serve, answer, redirect


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[requests.PreparedRequest]:
    """The requests that sessions have sent."""
    found: list[requests.PreparedRequest] = []
    send = requests.Session.send

    def noted(
        self: requests.Session, request: requests.PreparedRequest, **options: object
    ) -> requests.Response:
        found.append(request)
        return send(self, request, **options)

    monkeypatch.setattr(requests.Session, "send", noted)
    return found


def test_each_hop_is_one_request_of_the_session(
    fetcher: Fetcher, serve: Serve, sent: list[requests.PreparedRequest]
) -> None:
    replies = [redirect("/b", "301 Moved"), redirect("/c", "302 Found"), answer(b"there")]

    def script(exchange: Exchange) -> None:
        exchange.send(replies[exchange.number - 1])

    server = serve(script)
    assert fetcher.get(server.url("/a")).body == b"there"
    assert [request.url for request in sent] == [server.url(path) for path in ("/a", "/b", "/c")]


def test_an_address_goes_out_as_it_was_checked(fetcher: Fetcher, serve: Serve) -> None:
    """`requests` would write an unfinished `%4` as `%254`, and a bar as `%7C`."""
    targets: list[str] = []

    def script(exchange: Exchange) -> None:
        targets.append(exchange.request.target)
        exchange.send(answer(b"x"))

    server = serve(script)
    addresses = [canonical_url(server.url(path)) for path in ("/100%?q=%4", "/a|b?c='d'")]
    assert [requests.Request("GET", address).prepare().url for address in addresses] != addresses
    for address in addresses:
        fetcher.get(address)
    assert targets == [address.removeprefix(server.url("")) for address in addresses]


@pytest.mark.parametrize("location", ["http://[::1", "//", "http://a b/", "\xff\xfe", "javascript:1"])
def test_a_location_that_requests_cannot_read_is_a_named_failure(
    fetcher: Fetcher, serve: Serve, location: str
) -> None:
    server = serve(lambda exchange: exchange.send(redirect(location, "302 Found")))
    with pytest.raises(FetchError) as raised:
        fetcher.get(server.url("/"))
    assert isinstance(raised.value.kind, Failure)


def test_the_environment_and_cookies_play_no_part(
    fetcher: Fetcher, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "http_proxy", "http://127.0.0.1:9")
    monkeypatch.setitem(os.environ, "NETRC", "/nowhere")
    cookies: list[str] = []

    def script(exchange: Exchange) -> None:
        cookies.append(exchange.request.headers.get("cookie", ""))
        exchange.send(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 1\r\n\r\nx")

    server = serve(script)
    first = fetcher.get(server.url("/"))
    fetcher.get(server.url("/"))
    assert cookies == ["", ""]
    assert first.headers["set-cookie"] == "a=1, b=2"


def test_what_a_failure_is_called_does_not_change_on_its_way() -> None:
    class Broken:
        def close(self) -> None:
            pass

        def idle(self, *_: object) -> None:
            raise FetchError(Failure.TLS, "as it was")

    session = GuardedSession(Broken())  # type: ignore[arg-type]
    exchange = Sent(("http", "h", 80), "/", Allowance(1e12, 1.0), TransferLimits(1))
    with pytest.raises(FetchError, match="as it was"):
        session.exchange(GuardedRequest("http://h/", {}, None, exchange))
