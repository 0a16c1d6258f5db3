"""Interim answers (1xx) are skipped, and no page ever comes under another page's address."""

from __future__ import annotations

import pytest

from crawler.failures import Failure, FetchError
from tests.crawler.fetching.conftest import Exchange, Fetcher, Serve, answer

PATHS = ("/a", "/b", "/c", "/d")
HEADS = {
    "100": b"HTTP/1.1 100 Continue\r\n\r\n",
    "102": b"HTTP/1.1 102 Processing\r\n\r\n",
    "103": b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n",
    "199": b"HTTP/1.1 199 Odd\r\n\r\n",
    "several": b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
}
BODIES = {
    "text": b"hello",
    "an answer": answer(b"of nobody"),
    "two answers": answer(b"of nobody") + answer(b"of nobody"),
    "part of an answer": answer(b"of nobody")[:-3],
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("in_one_piece", [True, False])
def test_an_interim_answer_hides_no_page(
    fetcher: Fetcher, serve: Serve, head: bytes, in_one_piece: bool
) -> None:
    def hint_first(exchange: Exchange) -> None:
        final = answer(exchange.request.target.encode())
        if in_one_piece:
            exchange.send(head + final)
            return
        exchange.send(head)
        exchange.stopping.wait(0.05)
        exchange.send(final)

    server, client = serve(hint_first), fetcher.client()
    assert [fetcher.get(server.url(path), client).body for path in PATHS] == [p.encode() for p in PATHS]


@pytest.mark.parametrize("status", [100, 102, 103, 199])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_an_interim_answer_with_a_body_swaps_no_pages(
    fetcher: Fetcher, serve: Serve, status: int, body: bytes, pause: float
) -> None:
    """It is a failure by name, or at worst its own body: never the page of another address."""

    def hint_with_body(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 %d Odd\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)
        exchange.stopping.wait(pause)
        exchange.send(answer(exchange.request.target.encode()))

    server, client = serve(hint_with_body), fetcher.client()
    for path in PATHS:
        try:
            content = fetcher.get(server.url(path), client).body
        except FetchError as error:
            assert error.kind in {Failure.PROTOCOL, Failure.TRUNCATED, Failure.RESET}
            continue
        assert not any(other.encode() in content for other in set(PATHS) - {path})


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n" + answer(b"x"),
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 17 + answer(b"x"),
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
    ],
)
def test_what_never_comes_to_an_answer_fails(fetcher: Fetcher, serve: Serve, raw: bytes) -> None:
    def send_and_close(exchange: Exchange) -> None:
        exchange.send(raw)
        exchange.connection.close()

    error = fetcher.failure(serve(send_and_close).url())
    assert error.kind in {Failure.PROTOCOL, Failure.RESET}
