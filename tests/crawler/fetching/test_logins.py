"""Logins are sent to their own addresses alone, and are no part of what is kept of a request."""

from __future__ import annotations

import pytest

from crawler.fetching.http.logins import Login, LoginError, basic, checked_header, headers_for, without_login
from tests.crawler.fetching.conftest import Exchange, Fetcher, Serve, answer, redirect

TOKEN = Login("http://a.example/paid", "X-Token", "s3cret")


@pytest.mark.parametrize(
    ("url", "is_covered"),
    [
        ("http://a.example/paid", True),
        ("http://a.example/paid/feed?x=1", True),
        ("http://a.example/paid?x=1", True),
        ("http://a.example/paid-not", False),
        ("http://a.example/", False),
        ("https://a.example/paid", False),
        ("http://a.example:8080/paid", False),
        ("http://a.example.evil.example/paid", False),
    ],
)
def test_a_login_is_for_its_address_and_what_is_below(url: str, is_covered: bool) -> None:
    assert TOKEN.covers(url) is is_covered


def test_the_nearest_login_wins() -> None:
    site = Login("http://a.example/", "x-token", "of the site")
    assert headers_for("http://a.example/paid/1", [site, TOKEN]) == {"X-Token": "s3cret"}
    assert headers_for("http://a.example/1", [site, TOKEN]) == {"x-token": "of the site"}


@pytest.mark.parametrize(
    ("text", "bare", "pair"),
    [
        ("https://me:p%3Aw%2F1@a.example/f", "https://a.example/f", ("me", "p:w/1")),
        ("https://user@host.com:pw@a.example/f", "https://a.example/f", ("user@host.com", "pw")),
        ("feed:https://me@a.example", "feed:https://a.example", ("me", "")),
        ("https://a.example/@me", "https://a.example/@me", None),
        ("https://a.example?x=a@b", "https://a.example?x=a@b", None),
        ("me@a.example", "me@a.example", None),
        ("mailto:me@a.example", "mailto:me@a.example", None),
    ],
)
def test_names_and_passwords_are_taken_out_of_addresses(
    text: str, bare: str, pair: tuple[str, str] | None
) -> None:
    assert without_login(text) == (bare, pair)


@pytest.mark.parametrize(
    ("name", "value"), [("Host", "a"), ("X Y", "a"), ("X", "a\r\nHost: b"), ("X", ""), ("X", "ü"), ("", "a")]
)
def test_headers_that_no_login_may_have_are_refused(name: str, value: str) -> None:
    with pytest.raises(LoginError):
        checked_header(name, value)


def test_a_login_does_not_show_itself() -> None:
    assert "s3cret" not in repr(TOKEN)
    assert basic("me", "ü") == ("Authorization", "Basic bWU6w7w=")


def test_a_redirect_to_another_host_takes_no_login_along(serve: Serve, fetcher: Fetcher) -> None:
    def elsewhere(exchange: Exchange) -> None:
        heads.append(exchange.request.headers)
        exchange.send(answer(b"elsewhere"))

    def first(exchange: Exchange) -> None:
        heads.append(exchange.request.headers)
        exchange.send(redirect(other.url("/b")))

    heads: list[dict[str, str]] = []
    other = serve(elsewhere, "127.0.0.2")
    server = serve(first)
    login = Login(server.url("/"), "Authorization", "Basic x")
    response = fetcher.get(server.url("/a"), fetcher.client().with_logins([login]))
    assert response.body == b"elsewhere"
    assert [head.get("authorization") for head in heads] == ["Basic x", None]


def test_what_is_kept_of_a_request_has_no_login(serve: Serve, fetcher: Fetcher) -> None:
    server = serve(answer(b"x"))
    login = Login(server.url("/"), "Cookie", "sid=s3cret")
    response = fetcher.get(server.url("/a"), fetcher.client().with_logins([login]))
    assert "s3cret" not in repr(response)
    assert server.requests[0].headers["cookie"] == "sid=s3cret"
