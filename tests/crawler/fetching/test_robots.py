"""robots.txt: RFC 9309 for what it allows, and nothing in it that costs memory or time."""

import time

import pytest

from crawler.fetching.http.robots import MAX_BYTES, MAX_CRAWL_DELAY, allowed, crawl_delay, read_robots
from crawler.fetching.http.site_lines import Robots

from .conftest import AGENT, Exchange, Fetcher, Serve, answer, redirect

RULES = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n"
OPEN = "http://site.test/a"
PRIVATE = "http://site.test/private/a"


def read(fetcher: Fetcher, serve: Serve, reply: object) -> Robots:
    server = serve(reply)
    robots = read_robots(fetcher.client(deadline=1.0), server.url("").rstrip("/"), now=5.0)
    if server.requests:
        assert server.requests[0].target == "/robots.txt"
    return robots


def test_rules_are_read_and_kept_with_their_time(fetcher: Fetcher, serve: Serve) -> None:
    robots = read(fetcher, serve, answer(RULES))
    assert (robots.status, robots.at, robots.origin.startswith("http://127.0.0.1:")) == (200, 5.0, True)
    assert allowed(robots, OPEN, AGENT)
    assert not allowed(robots, PRIVATE, AGENT)
    assert allowed(robots, "http://site.test/private/open/a", AGENT)


@pytest.mark.parametrize(
    "status", ["404 Not Found", "403 Forbidden", "401 Unauthorized", "410 Gone", "400 Bad"]
)
def test_no_robots_means_all_is_allowed(fetcher: Fetcher, serve: Serve, status: str) -> None:
    robots = read(fetcher, serve, answer(b"Disallow: /", status=status))
    assert robots.status == 404
    assert allowed(robots, PRIVATE, AGENT)


@pytest.mark.parametrize(
    "reply",
    [
        answer(status="500 Oops"),
        answer(status="503 Unavailable"),
        answer(status="429 Too Many Requests"),
        answer(status="403 Forbidden", **{"cf-mitigated": "challenge"}),
        Exchange.reset,
        Exchange.hang,
        redirect("http://10.0.0.1/robots.txt"),
    ],
)
def test_unreadable_robots_means_nothing_is_allowed(fetcher: Fetcher, serve: Serve, reply: object) -> None:
    robots = read(fetcher, serve, reply)
    assert robots.status == 500
    assert not allowed(robots, OPEN, AGENT)


def test_redirects_are_followed(fetcher: Fetcher, serve: Serve) -> None:
    other = serve(answer(RULES))
    assert not allowed(read(fetcher, serve, redirect(other.url("/r"))), PRIVATE, AGENT)


def test_redirects_without_end_mean_there_is_none(fetcher: Fetcher, serve: Serve) -> None:
    def forever(exchange: Exchange) -> None:
        exchange.send(redirect(f"/{exchange.number}"))

    assert read(fetcher, serve, forever).status == 404


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + RULES,
        RULES.replace(b"\n", b"\r\n"),
        RULES.replace(b"\n", b"\r"),
        RULES.replace(b"\n", b" # comment\n\n"),
        b"\0\0\n" + RULES,
        b"\xff\xfe\xfd bytes\n" + RULES,
        b"User-agent: other\nDisallow: /a\n\n" + RULES,
        RULES + b"\nUser-agent: other\nDisallow: /a\n",
        b"User-agent: Freshet\nSitemap: http://site.test/s.xml\n" + RULES,
        b"User-agent: *\nDisallow: /\n\n" + RULES.replace(b"*", b"FRESHET/2.0"),
        b"user agent: *\nDISALLOW : /private\n",
    ],
)
def test_the_rules_survive_what_surrounds_them(fetcher: Fetcher, serve: Serve, text: bytes) -> None:
    robots = read(fetcher, serve, answer(text))
    assert allowed(robots, OPEN, AGENT)
    assert not allowed(robots, PRIVATE, AGENT)


def test_an_html_page_is_no_rule(fetcher: Fetcher, serve: Serve) -> None:
    robots = read(fetcher, serve, answer(b"<html><body>User-agent: *<br>Disallow: /</body></html>"))
    assert allowed(robots, PRIVATE, AGENT)


def test_only_the_first_half_megabyte_counts(fetcher: Fetcher, serve: Serve) -> None:
    filler = b"# filler\n" * (5_000_000 // 9)
    late = read(fetcher, serve, answer(filler + RULES))
    early = read(fetcher, serve, answer(RULES + filler))
    assert allowed(late, PRIVATE, AGENT)
    assert not allowed(early, PRIVATE, AGENT)
    assert len(early.text) < 200


def test_a_group_of_our_own_replaces_that_for_all(fetcher: Fetcher, serve: Serve) -> None:
    robots = read(fetcher, serve, answer(b"User-agent: *\nDisallow: /\n\nUser-agent: freshet\nDisallow:\n"))
    assert allowed(robots, PRIVATE, AGENT)
    assert not allowed(robots, PRIVATE, "Other/1.0")


def stars(count: int) -> bytes:
    return b"User-agent: *\n" + b"Disallow: /" + b"*a" * count + b"$\n"


@pytest.mark.parametrize(
    "text",
    [
        stars(40) * 500,
        stars(2000),
        b"User-agent: *\n" + b"Disallow: /*a*b*c*d*e$\n" * 20_000,
        b"".join(b"User-agent: bot%d\n" % n for n in range(15_000)) + b"Disallow: /x\n" * 15_000,
        b"User-agent: *\n" * 30_000 + b"Disallow: /x\n",
        (b"User-agent: *\nDisallow: /x\n" * MAX_BYTES)[:MAX_BYTES],
    ],
    ids=["stars", "more stars", "many stars", "many agents", "one agent often", "many groups"],
)
def test_rules_made_to_be_slow_are_not(fetcher: Fetcher, serve: Serve, text: bytes) -> None:
    robots = read(fetcher, serve, answer(text))
    began = time.thread_time()
    assert allowed(robots, "http://site.test/" + "a" * 1900 + "b", AGENT)
    assert time.thread_time() - began < 1.5


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("1e9", MAX_CRAWL_DELAY),
        ("-1", 0.0),
        ("NaN", 0.0),
        ("inf", 0.0),
        ("soon", 0.0),
    ],
)
def test_the_crawl_delay_is_bounded(fetcher: Fetcher, serve: Serve, value: str, seconds: float) -> None:
    robots = read(fetcher, serve, answer(f"User-agent: *\nCrawl-delay: {value}\n".encode()))
    assert crawl_delay(robots, AGENT) == seconds


def test_without_robots_there_is_no_delay() -> None:
    assert crawl_delay(Robots(404, "", 0.0), AGENT) == 0.0
    assert crawl_delay(Robots(500, "", 0.0), AGENT) == 0.0
