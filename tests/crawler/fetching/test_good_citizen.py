"""What publishers ask of feed fetchers, as seen in the requests that arrive."""

import threading
import time

import pytest

from crawler.failures import Failure
from crawler.fetching.http.client import ACCEPT_FEED, Client, ClientConfig
from crawler.fetching.http.gate import HostGate
from crawler.reading.charset import decode

from .conftest import AGENT, CONFIG, Exchange, Fetcher, Serve, answer

NOT_MODIFIED = "304 Not Modified"


@pytest.mark.parametrize(
    ("etag", "last_modified"),
    [
        ('"abc"', "Tue, 14 Nov 2023 22:13:20 GMT"),
        ('W/"abc"', ""),
        ("abc-without-quotes", "2023-11-14T22:13:20Z"),
        ('"a b  c,d"', "yesterday"),
        ('"gr\xfc\xdfe \xff"', "Tue, 14 Nov 2023 22:13:20 +0000"),
        ('"\\"-gzip', "0"),
        ("", "Tue, 14 Nov 2023 22:13:20 GMT"),
    ],
)
def test_validators_come_back_byte_for_byte(
    fetcher: Fetcher, serve: Serve, etag: str, last_modified: str
) -> None:
    given = {"ETag": etag, "Last-Modified": last_modified}
    server = serve(answer(b"x", **{name: value for name, value in given.items() if value}))
    first = fetcher.get(server.url())
    assert (first.etag, first.last_modified, first.conditional) == (etag, last_modified, False)
    second = fetcher.get(server.url(), etag=first.etag, last_modified=first.last_modified)
    sent = server.requests[1].headers
    assert (sent.get("if-none-match", ""), sent.get("if-modified-since", "")) == (etag, last_modified)
    assert second.conditional


def test_without_validators_none_are_invented(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(answer(b"x"))
    fetcher.get(server.url())
    assert not {"if-none-match", "if-modified-since", "range"} & set(server.requests[0].headers)


@pytest.mark.parametrize("etag", ['"a\0b"', '"a\tb"', '"' + "x" * 5000 + '"'])
def test_validators_that_cannot_be_kept_are_dropped(fetcher: Fetcher, serve: Serve, etag: str) -> None:
    assert fetcher.get(serve(answer(b"x", ETag=etag)).url()).etag == ""


@pytest.mark.parametrize("etag", ['"a\r\nX-Evil: 1"', '"a\0"', '"\u20ac"'])
def test_a_stored_validator_that_no_header_can_carry_is_not_sent(
    fetcher: Fetcher, serve: Serve, etag: str
) -> None:
    server = serve(answer(b"x"))
    assert not fetcher.get(server.url(), etag=etag).conditional
    assert "x-evil" not in server.requests[0].headers


def test_a_304_brings_new_validators_and_keeps_what_it_does_not_say(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(answer(status=NOT_MODIFIED, ETag='"new"', Cache_Control="max-age=60"))
    response = fetcher.get(server.url(), etag='"old"', last_modified="Tue, 14 Nov 2023 22:13:20 GMT")
    assert (response.status, response.etag, response.body) == (304, '"new"', b"")
    assert response.last_modified == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert response.max_age == 60


def test_a_200_without_validators_leaves_none(fetcher: Fetcher, serve: Serve) -> None:
    response = fetcher.get(serve(answer(b"x")).url(), etag='"old"', last_modified="x")
    assert (response.etag, response.last_modified) == ("", "")


def test_a_304_keeps_the_connection(fetcher: Fetcher, serve: Serve) -> None:
    server, client = serve(answer(status=NOT_MODIFIED)), fetcher.client()
    for _ in range(3):
        assert fetcher.get(server.url(), client, etag='"x"').status == 304
    assert server.connections == 1


def test_nothing_but_the_needed_headers_is_sent(fetcher: Fetcher, serve: Serve) -> None:
    def with_cookie(exchange: Exchange) -> None:
        exchange.send(answer(b"x", Set_Cookie="id=1"))

    server, client = serve(with_cookie), fetcher.client()
    for _ in range(2):
        fetcher.get(server.url("/feed?a=1"), client, accept=ACCEPT_FEED)
    for request in server.requests:
        assert request.target == "/feed?a=1"
        assert request.headers == {
            "host": f"127.0.0.1:{server.port}",
            "user-agent": AGENT,
            "accept": ACCEPT_FEED,
            "accept-encoding": "gzip, br",
        }


def test_the_accept_header_lists_the_feed_types() -> None:
    for kind in ("application/atom+xml", "application/rss+xml", "application/feed+json", "text/xml"):
        assert kind in ACCEPT_FEED


@pytest.mark.parametrize(
    ("product", "subscribers", "sent"),
    [
        (AGENT, 0, AGENT),
        (AGENT, 12, "Freshet/1.0 (+https://freshet.test/bot; 12 subscribers)"),
        ("Freshet/1.0", 1, "Freshet/1.0 (1 subscribers)"),
    ],
)
def test_the_user_agent_counts_subscribers(
    fetcher: Fetcher, serve: Serve, product: str, subscribers: int, sent: str
) -> None:
    server = serve(answer(b"x"))
    fetcher.get(server.url(), fetcher.client(user_agent=product), subscribers=subscribers)
    assert server.requests[0].headers["user-agent"] == sent


@pytest.mark.parametrize("agent", ["", "Fre\r\nX: 1", "Frésh"])
def test_a_user_agent_that_no_header_can_carry_is_an_error_at_start(agent: str) -> None:
    with pytest.raises(ValueError, match="user agent"):
        ClientConfig(user_agent=agent)


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
@pytest.mark.parametrize(("header", "seconds"), [("7200", 7200), ("604800", 604800)])
def test_retry_after_is_reported_in_full(
    fetcher: Fetcher, serve: Serve, status: str, header: str, seconds: float
) -> None:
    error = fetcher.failure(serve(answer(status=status, Retry_After=header)).url())
    assert (error.kind, error.retry_after) == (Failure.THROTTLED, seconds)


def test_retry_after_may_be_a_date(fetcher: Fetcher, serve: Serve) -> None:
    dates = {"Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Retry_After": "Tue, 14 Nov 2023 23:13:20 GMT"}
    error = fetcher.failure(serve(answer(status="429 Too Many", **dates)).url())
    assert (error.kind, error.retry_after) == (Failure.THROTTLED, 3600)


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        ("429 Too Many Requests", {}, Failure.THROTTLED),
        ("503 Service Unavailable", {}, Failure.HTTP_5XX),
        ("403 Forbidden", {}, Failure.HTTP_4XX),
        ("403 Forbidden", {"cf-mitigated": "challenge"}, Failure.THROTTLED),
        ("410 Gone", {}, Failure.GONE),
        ("404 Not Found", {}, Failure.HTTP_4XX),
        ("500 Oops", {}, Failure.HTTP_5XX),
        ("522 Origin", {}, Failure.HTTP_5XX),
    ],
)
def test_error_statuses_have_their_names_and_are_not_repeated(
    fetcher: Fetcher, serve: Serve, status: str, headers: dict[str, str], kind: Failure
) -> None:
    server = serve(answer(b"sorry", status=status, **headers))
    error = fetcher.failure(server.url())
    assert (error.kind, error.status) == (kind, int(status[:3]))
    assert len(server.requests) == 1


def test_freshness_is_reported_on_200(fetcher: Fetcher, serve: Serve) -> None:
    response = fetcher.get(serve(answer(b"x", Cache_Control="max-age=600", Age="100")).url())
    assert response.max_age == 500


def test_the_text_is_decoded_by_header(fetcher: Fetcher, serve: Serve) -> None:
    response = fetcher.get(serve(answer(b"gr\xfcn", Content_Type="text/html; charset=latin1")).url())
    assert decode(response.body, response.content_type) == "grün"
    assert response.content_type == "text/html; charset=latin1"


def test_one_host_sees_one_request_at_a_time_and_spaced(fetcher: Fetcher, serve: Serve) -> None:
    running, limit, starts = [], [], []

    def script(exchange: Exchange) -> None:
        starts.append(time.monotonic())
        running.append(1)
        limit.append(len(running))
        time.sleep(0.02)
        running.pop()
        exchange.send(answer(b"x"))

    server = serve(script)
    client = Client(CONFIG, HostGate(fetcher.directory, spacing=0.1))
    fetcher.clients.append(client)
    threads = [
        threading.Thread(target=client.get, args=(server.url(),), kwargs={"accept": "*/*"}) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert limit == [1] * 5
    assert starts[-1] - starts[0] >= 0.38


def test_many_threads_share_a_client(fetcher: Fetcher, serve: Serve) -> None:
    servers = [serve(answer(b"%d" % number), host=f"127.0.0.{number}") for number in range(1, 9)]
    client = fetcher.client()
    bodies: list[bytes] = []

    def work(offset: int) -> None:
        for step in range(8):
            server = servers[(offset + step) % 8]
            assert client.get(server.url(), accept="*/*").body == server.host.rpartition(".")[2].encode()
            bodies.append(b"")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bodies) == 24 * 8
    assert [len(server.requests) for server in servers] == [24] * 8
