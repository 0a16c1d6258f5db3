"""Time, size and form of answers: whatever a server sends or withholds ends in a named failure in time."""

import contextlib
import gzip
import itertools
import os
import random
import resource
import signal
import socket
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest

from crawler.failures import Failure

from .conftest import MAX_DELAY, Exchange, Fetcher, Serve, Stopwatch, answer, redirect

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n"


def drip_head(exchange: Exchange) -> None:
    exchange.drip(OK + b"X-Slow: " + b"a" * 1000, 0.05)


def drip_body(exchange: Exchange) -> None:
    exchange.send(OK + b"Content-Length: 1000\r\n\r\n")
    exchange.drip(b"a" * 1000, 0.05)


def drip_chunks(exchange: Exchange) -> None:
    exchange.send(CHUNKED + b"\r\n")
    for _ in range(1000):
        exchange.drip(b"1\r\na\r\n", 0.01)


def drip_trailers(exchange: Exchange) -> None:
    exchange.send(CHUNKED + b"\r\n0\r\n")
    for _ in range(1000):
        exchange.drip(b"X-Trailer: 1\r\n", 0.02)


def drip_gzip(exchange: Exchange) -> None:
    exchange.send(OK + b"Content-Encoding: gzip\r\n\r\n")
    exchange.drip(gzip.compress(os.urandom(1000)), 0.05)


def continue_slowly(exchange: Exchange) -> None:
    for _ in range(1000):
        exchange.drip(b"HTTP/1.1 100 Continue\r\n\r\n", 0.02)


@pytest.mark.parametrize(
    "script", [drip_head, drip_body, drip_chunks, drip_trailers, drip_gzip, continue_slowly, Exchange.hang]
)
def test_a_server_that_takes_its_time_is_left_at_the_deadline(
    fetcher: Fetcher, serve: Serve, script: Callable[[Exchange], None]
) -> None:
    with Stopwatch() as watch:
        error = fetcher.failure(serve(script).url(), fetcher.client(deadline=0.5))
    assert error.kind is Failure.TOO_SLOW
    assert 0.4 < watch.seconds < MAX_DELAY


def test_silence_ends_before_the_deadline(fetcher: Fetcher, serve: Serve) -> None:
    with Stopwatch() as watch:
        error = fetcher.failure(serve(Exchange.hang).url(), fetcher.client(silence=0.2))
    assert error.kind is Failure.TIMEOUT
    assert watch.seconds < MAX_DELAY


def test_redirects_share_one_deadline(fetcher: Fetcher, serve: Serve) -> None:
    def slow_redirect(exchange: Exchange) -> None:
        exchange.stopping.wait(0.2)
        exchange.send(redirect(f"/{exchange.number}"))

    with Stopwatch() as watch:
        error = fetcher.failure(serve(slow_redirect).url(), fetcher.client(deadline=0.5))
    assert error.kind is Failure.TOO_SLOW  # with a deadline for each, the redirects would run out first
    assert watch.seconds < MAX_DELAY


def test_waiting_for_the_turn_counts_too(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(answer(b"x"))
    client = fetcher.client(deadline=0.5)
    fetcher.get(server.url(), client)
    error = fetcher.failure(server.url(), client, spacing=60)
    assert error.kind is Failure.BUSY


def test_a_tls_handshake_that_hangs_is_left(fetcher: Fetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, Stopwatch() as watch:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        error = fetcher.failure(url, fetcher.client(deadline=0.4))
    assert error.kind in (Failure.TOO_SLOW, Failure.TIMEOUT)
    assert watch.seconds < MAX_DELAY


def test_a_connection_that_nobody_accepts_is_left(fetcher: Fetcher) -> None:
    with socket.socket() as listener, contextlib.ExitStack() as stack, Stopwatch() as watch:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):  # fill the queue, so that the kernel drops what follows
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        error = fetcher.failure(url, fetcher.client(connect_timeout=0.3))
    assert error.kind is Failure.TIMEOUT
    assert watch.seconds < MAX_DELAY


def test_a_closed_port_refuses(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(b"")
    server.stop()
    error = fetcher.failure(server.url())
    assert error.kind is Failure.REFUSED
    assert (error.hops, error.bytes, error.status) == (0, 0, 0)


def test_a_reset_is_a_reset(fetcher: Fetcher, serve: Serve) -> None:
    assert fetcher.failure(serve(Exchange.reset).url()).kind is Failure.RESET


def test_a_reset_in_the_body_is_a_reset(fetcher: Fetcher, serve: Serve) -> None:
    def half(exchange: Exchange) -> None:
        exchange.send(OK + b"Content-Length: 1000\r\n\r\nhalf")
        exchange.stopping.wait(0.1)
        exchange.reset()

    assert fetcher.failure(serve(half).url()).kind is Failure.RESET


def test_a_server_that_closes_new_connections_too_gets_each_request_once(
    fetcher: Fetcher, serve: Serve
) -> None:
    def script(exchange: Exchange) -> None:
        if exchange.request.target == "/":
            exchange.send(answer(b"x"))
        else:
            exchange.reset()

    server, client = serve(script), fetcher.client()
    for _ in range(3):
        fetcher.get(server.url(), client)
        assert fetcher.failure(server.url("/closes"), client).kind is Failure.RESET
    assert [request.target for request in server.requests].count("/closes") == 3 + 1


def test_a_kept_connection_that_the_server_closed_is_replaced_once(fetcher: Fetcher, serve: Serve) -> None:
    def once(exchange: Exchange) -> None:
        if exchange.number == 2:
            exchange.connection.close()
        else:
            exchange.send(answer(b"x"))

    server, client = serve(once), fetcher.client()
    assert [fetcher.get(server.url(), client).body for _ in range(2)] == [b"x", b"x"]
    assert (server.connections, len(server.requests)) == (2, 3)


PAGE = b"<html>" + b"a" * 100_000
DEFLATE = zlib.compressobj(wbits=-15)
RAW_DEFLATE = DEFLATE.compress(PAGE) + DEFLATE.flush()


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("identity", PAGE),
        ("", PAGE),
        ("gzip", gzip.compress(PAGE)),
        ("X-GZIP", gzip.compress(PAGE)),
        ("gzip", gzip.compress(PAGE[:50_000]) + gzip.compress(PAGE[50_000:])),
        ("gzip", gzip.compress(PAGE) + b"\0\0 trailing"),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", RAW_DEFLATE),
        ("br", brotli.compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE))),
        # httrack 515: announced as packed, and sent as it is
        ("gzip", PAGE),
        ("deflate", PAGE),
        ("br", PAGE),
        ("gzip, br", brotli.compress(PAGE)),
    ],
)
@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
def test_it_decodes_what_servers_send(
    fetcher: Fetcher, serve: Serve, coding: str, body: bytes, framing: str
) -> None:
    head = OK + f"Content-Encoding: {coding}\r\n".encode()
    framed = {
        "length": head + b"Content-Length: %d\r\n\r\n" % len(body) + body,
        "chunked": head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
        "close": head + b"\r\n" + body,
    }
    assert fetcher.get(serve(framed[framing]).url()).body == PAGE


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_an_empty_body_needs_no_compression(fetcher: Fetcher, serve: Serve, coding: str) -> None:
    assert fetcher.get(serve(answer(b"", Content_Encoding=coding)).url()).body == b""


@pytest.mark.parametrize(
    ("coding", "body", "kind"),
    [
        ("gzip", b"\xff" * 100, Failure.DECODING),
        ("gzip", b"<" + bytes(100), Failure.DECODING),
        ("br", b"\xff" * 100, Failure.DECODING),
        ("deflate", b"\xff" * 100, Failure.DECODING),
        ("zstd", PAGE, Failure.DECODING),
        ("gzip, gzip, gzip", PAGE, Failure.DECODING),
        (", ".join(["gzip"] * 30), PAGE, Failure.DECODING),
        ("gzip", gzip.compress(PAGE)[:-20], Failure.TRUNCATED),
        ("deflate", zlib.compress(PAGE)[:-20], Failure.TRUNCATED),
        ("br", brotli.compress(random.Random(1).randbytes(1000))[:-20], Failure.TRUNCATED),
    ],
)
def test_damaged_compression_has_its_name(
    fetcher: Fetcher, serve: Serve, coding: str, body: bytes, kind: Failure
) -> None:
    assert fetcher.failure(serve(answer(body, Content_Encoding=coding)).url()).kind is kind


def zeros(size: int, wbits: int = 31) -> bytes:
    stream = zlib.compressobj(1, wbits=wbits)
    return b"".join(stream.compress(bytes(1 << 20)) for _ in range(size >> 20)) + stream.flush()


def bombs() -> dict[str, bytes]:
    gzipped = zeros(200 << 20)
    stream = brotli.Compressor(quality=1)
    brotlied = b"".join(stream.process(bytes(1 << 20)) for _ in range(200)) + stream.finish()
    return {
        "gzip": gzipped,
        "deflate": zeros(200 << 20, 15),
        "br": brotlied,
        "gzip, gzip": gzip.compress(gzipped),
        "gzip, br": brotli.compress(gzipped),
    }


def test_bombs_cost_neither_memory_nor_time(fetcher: Fetcher, serve: Serve) -> None:
    """Measured as the growth of the largest resident size of a process of its own."""
    servers = [serve(answer(body, Content_Encoding=coding)) for coding, body in bombs().items()]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(20)
            client = fetcher.client(max_bytes=2 << 20)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            kinds = [fetcher.failure(server.url(), client).kind.value for server in servers]
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            os.write(writer, f"{grown} {' '.join(kinds)}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    grown, *kinds = os.read(reader, 1000).decode().split()
    os.waitpid(child, 0)
    os.close(reader)
    assert kinds == ["too-large"] * len(servers)
    assert int(grown) < 30 * 1024  # KiB


def test_a_layer_that_vanishes_in_the_next_is_bounded_too(fetcher: Fetcher, serve: Serve) -> None:
    empties = gzip.compress(b"") * 50_000  # a megabyte that decompresses to nothing
    body = gzip.compress(empties)
    server = serve(answer(body, Content_Encoding="gzip, gzip"))
    assert fetcher.failure(server.url(), fetcher.client(max_bytes=100_000)).kind is Failure.TOO_LARGE


def endless(exchange: Exchange) -> None:
    exchange.send(OK + b"\r\n")
    while True:
        exchange.send(b"a" * 65536)


def endless_chunks(exchange: Exchange) -> None:
    exchange.send(CHUNKED + b"\r\n")
    while True:
        exchange.send(b"1\r\na\r\n" * 10_000)


def endless_trailers(exchange: Exchange) -> None:
    exchange.send(CHUNKED + b"\r\n0\r\n")
    while True:
        exchange.send(b"X: 1\r\n" * 10_000)


@pytest.mark.parametrize("script", [endless, endless_chunks, endless_trailers, answer(b"a" * 100_001)])
def test_more_than_the_allowed_size_is_too_large(
    fetcher: Fetcher, serve: Serve, script: Callable[[Exchange], None] | bytes
) -> None:
    error = fetcher.failure(serve(script).url(), max_bytes=100_000)
    assert error.kind is Failure.TOO_LARGE
    assert error.bytes < 400_000


def test_the_allowed_size_itself_is_allowed_and_can_be_cut(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(answer(b"a" * 100_000))
    assert len(fetcher.get(server.url(), max_bytes=100_000).body) == 100_000
    assert len(fetcher.get(server.url(), max_bytes=5_000, cut=True).body) == 5_000


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (OK + b"Content-Length: 10\r\n\r\nabc", Failure.TRUNCATED),
        (CHUNKED + b"\r\n5\r\nab", Failure.TRUNCATED),
        (CHUNKED + b"\r\n5\r\nabcde\r\n", Failure.TRUNCATED),
        (CHUNKED + b"\r\nzz\r\nabcde\r\n", Failure.TRUNCATED),
        (OK + b"Content-Length: -5\r\n\r\nabcde", Failure.PROTOCOL),
        (OK + b"Content-Length: 1_0\r\n\r\nabcde", Failure.PROTOCOL),
        (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", Failure.PROTOCOL),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", Failure.PROTOCOL),
        (OK + b"X: " + b"a" * 70_000 + b"\r\n\r\n", Failure.PROTOCOL),
        (OK + b"X: a\r\n" * 101 + b"\r\n", Failure.PROTOCOL),
        (OK + (b"X: " + b"a" * 60_000 + b"\r\n") * 90 + b"\r\n", Failure.PROTOCOL),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000 + answer(b"x"), Failure.PROTOCOL),
        (b"<html>this is HTTP/0.9", Failure.PROTOCOL),
        (b"HTTP/1.1 abc OK\r\n\r\n", Failure.PROTOCOL),
        (b"HTTP/7.0 200 OK\r\nContent-Length: 0\r\n\r\n", Failure.PROTOCOL),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Failure.PROTOCOL),
        (b"\0" * 1000, Failure.PROTOCOL),
        (b"", Failure.RESET),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", Failure.RESET),
        (b"HTTP/1.1 204 No Content\r\n\r\n", Failure.HTTP_OTHER),
        (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 1\r\n\r\na", Failure.HTTP_OTHER),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", Failure.PROTOCOL),
    ],
)
def test_what_is_not_proper_http_has_its_name(
    fetcher: Fetcher, serve: Serve, raw: bytes, kind: Failure
) -> None:
    def send_and_close(exchange: Exchange) -> None:
        exchange.send(raw)
        exchange.connection.shutdown(socket.SHUT_WR)

    with Stopwatch() as watch:
        error = fetcher.failure(serve(send_and_close).url())
    assert error.kind is kind
    assert watch.seconds < MAX_DELAY


@pytest.mark.parametrize(
    "raw",
    [
        OK + b"Content-Length: 5, 5\r\n\r\nabcde",
        OK + b"Content-Length: 5\r\n\r\nabcde and more",
        CHUNKED + b"Content-Length: 99\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
        OK + b"X-Folded: a\r\n b\r\nX-Nul: a\0b\r\nno colon here\r\n\r\nabcde",
        b"HTTP/1.0 200\r\n\r\nabcde",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"\r\nabcde",
        OK + b"X-Crlf: a\r\r\n\r\nabcde",
    ],
)
def test_harmless_oddities_are_forgiven(fetcher: Fetcher, serve: Serve, raw: bytes) -> None:
    assert fetcher.get(serve(raw).url()).body == b"abcde"


def test_bytes_after_an_answer_never_become_the_next_one(fetcher: Fetcher, serve: Serve) -> None:
    counter = itertools.count()

    def smuggle(exchange: Exchange) -> None:
        exchange.send(answer(b"%d" % next(counter)) + answer(b"smuggled"))

    server, client = serve(smuggle), fetcher.client()
    assert [fetcher.get(server.url(), client).body for _ in range(3)] == [b"0", b"1", b"2"]


def test_a_failure_says_what_it_cost(fetcher: Fetcher, serve: Serve, tmp_path: Path) -> None:
    server = serve(answer(b"no", status="404 Not Found"))
    error = fetcher.failure(server.url("/x#y"))
    assert (error.label, error.status, error.url) == ("http-404", 404, server.url("/x"))
    assert error.bytes > 0 and 0 < error.elapsed < MAX_DELAY
    assert str(error) == f"{server.url('/x')}: http-404"
