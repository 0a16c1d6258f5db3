"""Batches: one request at a time to a host, hosts side by side, nothing begun that cannot be finished."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.fetching.http import names
from crawler.fetching.http.client import Client, ClientConfig
from crawler.fetching.http.gate import HostGate
from crawler.messages import Assignment, Batch, Harvest, Report, decode
from crawler.reading.documents import PageDocument
from crawler.terminals import serve as terminal
from crawler.terminals.serve import StuckError, packed, serve, serve_host, slowed
from tests.crawler.terminals.conftest import AGENT, batch, feed, page
from tests.servers import Reply, WebServer, article, rss


@pytest.fixture
def sites() -> Iterator[list[WebServer]]:
    """Three sites that take a moment for each answer."""
    with ExitStack() as stack:
        servers = [stack.enter_context(WebServer(host=f"127.0.8.{number}")) for number in (1, 2, 3)]
        for web in servers:
            web.replies["/feed"] = Reply(rss(web.origin, range(2)), seconds=0.2)
        yield servers


def batch_of(web: WebServer, *assignments: Assignment, seconds: float = 60.0) -> Batch:
    return batch(*assignments, seconds=seconds, host=web.origin.rsplit(":", 1)[0].removeprefix("http://"))


@pytest.mark.parametrize(
    ("spacing", "elapsed", "pause"), [(2, 0.1, 2), (2, 5, 5), (2, 500, 60), (90, 5, 90), (0, 5, 0)]
)
def test_a_slow_host_is_asked_more_slowly(spacing: float, elapsed: float, pause: float) -> None:
    assert slowed(spacing, elapsed) == pause


def test_hosts_are_served_side_by_side_and_each_one_request_at_a_time(
    sites: list[WebServer], client: Client, executor: ThreadPoolExecutor
) -> None:
    batches = [batch_of(web, *(feed(web, id=number) for number in range(3))) for web in sites]
    reports = list(itertools.chain.from_iterable(serve(client, batches, executor)))
    # Every host was begun before any had its last request.
    assert max(web.requests[0].at for web in sites) < min(web.requests[-1].at for web in sites)
    assert {report.lease for report in reports} == {given.lease for given in batches}
    for report in reports:
        assert [(harvest.id, harvest.status) for harvest in report.harvests] == [(0, 200), (1, 200), (2, 200)]
    assert [web.most_at_once for web in sites] == [1, 1, 1]


def test_a_report_does_not_wait_for_a_slow_host(
    sites: list[WebServer], client: Client, executor: ThreadPoolExecutor
) -> None:
    slow, *others = sites
    slow.replies["/feed"] = Reply(rss(slow.origin, range(2)), seconds=1.5)
    groups = list(serve(client, [batch_of(web, feed(web)) for web in sites], executor))
    assert [len(group) for group in groups] == [len(others), 1]


def test_nothing_is_begun_that_the_lease_does_not_cover(web: WebServer, client: Client) -> None:
    """A request may take its whole deadline of 3 s."""
    web.replies["/feed"] = Reply(rss(web.origin, range(2)))
    assert serve_host(client, batch(feed(web), seconds=client.config.deadline - 0.1)).harvests == ()
    assert web.paths == []


def test_a_lease_that_runs_out_leaves_the_rest_to_the_next(web: WebServer, client: Client) -> None:
    web.replies["/feed"] = Reply(rss(web.origin, range(2)), seconds=0.3)
    report = serve_host(client, batch(*[feed(web)] * 20, seconds=client.config.deadline + 0.5))
    assert 1 <= len(report.harvests) <= 3
    assert len(web.paths) == len(report.harvests)


def test_a_slow_host_gives_its_rest_back_after_its_turn(
    web: WebServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "TURN_SECONDS", 0.5)
    web.replies["/feed"] = Reply(rss(web.origin, range(2)), seconds=0.3)
    assert 1 <= len(serve_host(client, batch(*[feed(web)] * 20)).harvests) <= 3


def test_a_slow_answer_leaves_the_host_alone_and_ends_nobody_as_busy(web: WebServer, client: Client) -> None:
    """To wait as long again would take the next request's own deadline."""
    web.replies |= {
        "/slow": Reply(rss(web.origin, range(2)), seconds=1.7),
        "/feed": Reply(rss(web.origin, range(2))),
    }
    given = replace(batch(feed(web, "/slow"), feed(web)), spacing=0.1)
    report = serve_host(client, given)
    assert [(harvest.url[-5:], harvest.failure) for harvest in report.harvests] == [("/slow", "")]
    assert report.pause >= 1.7
    assert serve_host(client, replace(given, assignments=given.assignments[1:])).pause == 0


@pytest.mark.parametrize("assigned", [feed, page], ids=["feed", "robots.txt"])
def test_a_host_whose_name_gets_no_slot_is_given_back_with_a_pause(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assigned: Callable[..., Assignment]
) -> None:
    """Slow name servers of one zone were counted as failures of feeds that were never asked."""
    monkeypatch.setattr(names, "MAX_LOOKUPS", 0)
    config = ClientConfig(AGENT, deadline=0.3)
    given = replace(assigned(web), url="http://www.slow.test/feed")
    with Client(config, HostGate(tmp_path / "gate", 0.0)) as client:
        report = serve_host(client, batch(given, host="www.slow.test"))
    assert (report.harvests, report.robots, report.pause) == ((), None, names.BUSY_PAUSE_SECONDS)


def test_a_long_crawl_delay_is_kept_between_batches(web: WebServer, client: Client) -> None:
    web.replies["/robots.txt"] = Reply(
        b"User-agent: *\nCrawl-delay: 20", headers={"Content-Type": "text/plain"}
    )
    web.replies |= {f"/page{n}": Reply(article(n), headers={"Content-Type": "text/html"}) for n in (1, 2)}
    given = batch(page(web, "/page1"), page(web, "/page2"))
    first = serve_host(client, given)
    assert (first.harvests, first.pause) == ((), 20), "robots.txt was a request, too"
    web.replies["/robots.txt"] = Reply(b"", headers={"Content-Type": "text/plain"})
    assert len(serve_host(client, given).harvests) == 2


def test_a_terminal_that_is_asked_to_end_begins_nothing_more(
    web: WebServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(_: object) -> Reply:
        terminal.ending.set()
        return Reply(rss(web.origin, range(2)))

    monkeypatch.setattr(terminal.ending, "_flag", False)  # and is put back so
    web.replies["/feed"] = answer
    report = serve_host(client, batch(feed(web), feed(web)))
    assert [harvest.status for harvest in report.harvests] == [200]


def test_the_spacing_is_kept(web: WebServer, client: Client) -> None:
    web.replies["/feed"] = Reply(rss(web.origin, range(2)))
    serve_host(client, batch(feed(web), feed(web), feed(web), spacing=0.3))
    pauses = [later.at - earlier.at for earlier, later in itertools.pairwise(web.requests)]
    assert all(pause >= 0.3 for pause in pauses)


def broken(*_: object) -> None:
    raise RecursionError("too deep")


def test_a_document_that_breaks_the_analysis_is_a_failure_and_breaks_no_batch(
    web: WebServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.replies["/feed"] = Reply(rss(web.origin, range(2)))
    with monkeypatch.context() as patch:
        patch.setattr("feeds.terminal_reading.read_feed", broken)
        report = serve_host(client, batch(feed(web, id=1), feed(web, id=2)))
    assert [(harvest.id, harvest.failure) for harvest in report.harvests] == [
        (1, "malformed"),
        (2, "malformed"),
    ]
    assert report.harvests[0].detail == "the analysis failed: RecursionError: too deep"
    assert serve_host(client, batch(feed(web))).harvests[0].failure == ""


def test_a_document_that_never_ends_is_told(
    client: Client, executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: object) -> Report:
        time.sleep(1.0)
        return Report("news.example", "lease")

    monkeypatch.setattr(terminal, "STUCK_SECONDS", 0.0)
    monkeypatch.setattr(terminal, "serve_host", hang)
    with pytest.raises(StuckError, match=r"1 of news\.example do not end"):
        list(serve(client, [batch(seconds=0.2, host="news.example")], executor))


def test_a_batch_that_comes_after_its_lease_is_dropped_and_the_terminal_lives(
    web: WebServer, client: Client, executor: ThreadPoolExecutor
) -> None:
    """After a power cut the queue holds messages whose leases ended minutes ago."""
    web.replies["/feed"] = Reply(rss(web.origin, range(2)))
    late, good = batch(feed(web), seconds=-120.0, host="late.example"), batch(feed(web))
    reports = [report for group in serve(client, [late, good], executor) for report in group]
    assert [report.lease for report in reports] == [good.lease]
    assert len(web.requests) == 1
    assert list(serve(client, [late], executor)) == []


def test_a_turn_ends_before_its_report_grows_too_long(
    web: WebServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.replies["/feed"] = Reply(rss(web.origin, range(2)))
    monkeypatch.setattr(terminal, "MAX_BYTES", 100)
    report = serve_host(client, batch(feed(web, id=1), feed(web, id=2)))
    assert [harvest.id for harvest in report.harvests] == [1]


def test_a_report_that_no_message_may_carry_names_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.messages.MAX_BYTES", 1000)
    page = PageDocument(text="long " * 1000)
    long = Report("a", "7", (Harvest("page", 1, 0.0, "http://a/", status=200, payload=page),))
    (harvest,) = decode(Report, packed(long)).harvests
    assert (harvest.kind, harvest.id, harvest.failure) == ("page", 1, "too-large")
