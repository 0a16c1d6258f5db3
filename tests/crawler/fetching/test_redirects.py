"""Redirects: followed with a limit, permanent ones reported, nothing leaked on the way."""

import time

import pytest

from crawler.failures import Failure

from .conftest import Exchange, Fetcher, Serve, answer, names, redirect

VALIDATORS = {"etag": '"v"', "last_modified": "Tue, 14 Nov 2023 22:13:20 GMT"}


def chain(*replies: bytes) -> object:
    def script(exchange: Exchange) -> None:
        exchange.send(replies[exchange.number - 1])

    return script


@pytest.mark.parametrize(
    ("statuses", "permanent"),
    [
        (["301 Moved"], True),
        (["308 Permanent"], True),
        (["301 Moved", "308 Permanent"], True),
        (["302 Found"], False),
        (["307 Temporary"], False),
        (["303 See Other"], False),
        (["301 Moved", "302 Found"], False),
        (["302 Found", "301 Moved"], False),
    ],
)
def test_moved_to_is_set_only_when_every_redirect_is_permanent(
    fetcher: Fetcher, serve: Serve, statuses: list[str], permanent: bool
) -> None:
    hops = [redirect(f"/{index}", status) for index, status in enumerate(statuses)]
    server = serve(chain(*hops, answer(b"there")))
    response = fetcher.get(server.url("/feed"))
    assert response.url == server.url(f"/{len(statuses) - 1}")
    assert response.moved_to == (response.url if permanent else "")
    assert (response.hops, response.body) == (len(statuses), b"there")


def test_without_redirects_nothing_has_moved(fetcher: Fetcher, serve: Serve) -> None:
    response = fetcher.get(serve(answer(b"x")).url())
    assert (response.moved_to, response.hops) == ("", 0)


@pytest.mark.parametrize(("count", "fails"), [(5, False), (6, True), (31, True)])
def test_five_redirects_are_followed_and_no_more(
    fetcher: Fetcher, serve: Serve, count: int, fails: bool
) -> None:
    server = serve(chain(*(redirect(f"/{n}") for n in range(count)), answer(b"end")))
    if fails:
        error = fetcher.failure(server.url("/start"))
        assert (error.kind, error.hops, len(server.requests)) == (Failure.REDIRECT, 5, 6)
    else:
        assert fetcher.get(server.url("/start")).body == b"end"


def test_a_circle_is_left_at_once(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(chain(redirect("/b"), redirect("/a")))
    assert fetcher.failure(server.url("/a")).kind is Failure.REDIRECT
    assert len(server.requests) == 2


def test_a_redirect_to_itself_is_a_circle(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(redirect("/a#again"))
    assert fetcher.failure(server.url("/a")).kind is Failure.REDIRECT
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", [redirect(""), redirect("  "), answer(status="301 Moved")])
def test_an_empty_location_is_a_redirect_failure(fetcher: Fetcher, serve: Serve, reply: bytes) -> None:
    error = fetcher.failure(serve(reply).url())
    assert (error.kind, error.status in (301, 302)) == (Failure.REDIRECT, True)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("next", "/dir/next"),
        ("?q=1", "/dir/start?q=1"),
        ("/a/../b", "/b"),
        ("/gr\xfcn", "/gr%C3%BCn"),
        ("/grün".encode().decode("latin-1"), "/gr%C3%BCn"),
        ("/a b\\c", "/a%20b/c"),
        ("/x#fragment", "/x"),
    ],
)
def test_locations_are_resolved_as_browsers_do(
    fetcher: Fetcher, serve: Serve, location: str, target: str
) -> None:
    server = serve(chain(redirect(location), answer(b"x")))
    fetcher.get(server.url("/dir/start"))
    assert server.requests[1].target == target


def test_a_location_cannot_smuggle_a_header(fetcher: Fetcher, serve: Serve) -> None:
    server = serve(chain(redirect("/a%0d%0aX-Evil:%201\tb"), answer(b"x")))
    fetcher.get(server.url())
    assert "x-evil" not in server.requests[1].headers


def test_credentials_in_a_location_are_refused(fetcher: Fetcher, serve: Serve) -> None:
    assert fetcher.failure(serve(redirect("http://user:pw@127.0.0.1/")).url()).kind is Failure.BAD_URL


def test_validators_go_to_the_first_host_only(fetcher: Fetcher, serve: Serve) -> None:
    other = serve(answer(b"x"))
    server = serve(chain(redirect("/same"), redirect(other.url(host="other.test"))))
    fetcher.lookup = names(first_test="127.0.0.1", other_test="127.0.0.1")
    response = fetcher.get(server.url(host="first.test"), **VALIDATORS)
    assert ["if-none-match" in request.headers for request in server.requests] == [True, True]
    assert not {"if-none-match", "if-modified-since"} & set(other.requests[0].headers)
    assert not response.conditional


def test_nothing_follows_to_another_host(fetcher: Fetcher, serve: Serve) -> None:
    other = serve(answer(b"x"))
    server = serve(
        answer(
            status="302 Found", Location=other.url(host="other.test"), Set_Cookie="id=1; Domain=test; Path=/"
        )
    )
    fetcher.lookup = names(first_test="127.0.0.1", other_test="127.0.0.1")
    fetcher.get(server.url("/secret", host="first.test"))
    assert set(other.requests[0].headers) == {"host", "user-agent", "accept", "accept-encoding"}
    assert b"secret" not in other.requests[0].raw


def test_each_hop_takes_the_turn_of_its_own_host(fetcher: Fetcher, serve: Serve) -> None:
    """A redirect to the same host would wait for itself if it kept the first turn."""
    server = serve(chain(redirect("/b"), answer(b"x")))
    started = time.monotonic()
    elapsed = fetcher.get(server.url("/a"), spacing=1.0).elapsed
    assert time.monotonic() - started >= 1.0
    assert elapsed < 1.0, "the wait is ours, not the host's"
