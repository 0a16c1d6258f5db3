"""Look-ups of names: slow name servers of one zone hold up nobody else, and failures are kept for a while."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from crawler.failures import Failure, FetchError
from crawler.fetching.http import names
from crawler.fetching.http.names import BUSY_PAUSE_SECONDS, MAX_LOOKUPS_OF_DOMAIN, Resolver

from .conftest import MAX_DELAY, Fetcher, Serve, Stopwatch, answer


class NameServers:
    """Name servers that hang for `*.slow.test` until `go_on` is set, and have no `*.none.test`."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.asked: list[str] = []
        self.code = socket.EAI_NONAME

    def __call__(self, host: bytes, port: int, *_: int) -> list[tuple[Any, ...]]:
        name = host.decode()
        self.asked.append(name)
        if name.endswith(".slow.test"):
            self.go_on.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if name.endswith(".none.test"):
            raise socket.gaierror(self.code, "Name or service not known")
        return socket.getaddrinfo("127.0.0.1", port, 0, socket.SOCK_STREAM)


@pytest.fixture
def servers() -> Iterator[NameServers]:
    made = NameServers()
    yield made
    made.go_on.set()


def outcome(resolver: Resolver, host: str, timeout: float = 0.3) -> FetchError | None:
    try:
        resolver.resolve(host, 80, timeout)
    except FetchError as error:
        return error
    return None


def test_slow_name_servers_of_one_zone_make_no_other_name_fail(servers: NameServers) -> None:
    """A hundred and fifty hosts with look-ups of 40 s held all slots, and healthy feeds failed as unknown."""
    resolver = Resolver(servers)
    hosts = [f"h{number}.slow.test" for number in range(150)]
    good = [f"www.good{number}.test" for number in range(33)]
    with ThreadPoolExecutor(len(hosts)) as slow_threads, ThreadPoolExecutor(len(good)) as good_threads:
        slow = [slow_threads.submit(outcome, resolver, host, 1.0) for host in hosts]
        with Stopwatch() as watch:
            healthy = list(good_threads.map(lambda host: outcome(resolver, host, MAX_DELAY), good))
        failures = [error.kind for error in (one.result() for one in slow) if error]
    assert healthy == [None] * len(good)
    assert watch.seconds < MAX_DELAY
    assert failures.count(Failure.DNS) == MAX_LOOKUPS_OF_DOMAIN
    assert failures.count(Failure.BUSY) == len(hosts) - MAX_LOOKUPS_OF_DOMAIN
    assert len(servers.asked) == MAX_LOOKUPS_OF_DOMAIN + len(good)


def test_who_gets_no_slot_of_a_slow_zone_does_not_wait_for_one(
    servers: NameServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that waits serves nobody; the work is given back and comes again after a pause."""
    monkeypatch.setattr(names, "SLOW_SECONDS", 0.1)
    resolver = Resolver(servers)
    for number in range(MAX_LOOKUPS_OF_DOMAIN):
        error = outcome(resolver, f"h{number}.slow.test")
        assert error and error.kind is Failure.DNS
    with Stopwatch() as watch:
        error = outcome(resolver, "one.more.slow.test", timeout=60)
    assert error
    assert (error.kind, error.retry_after) == (Failure.BUSY, BUSY_PAUSE_SECONDS)
    assert watch.seconds < MAX_DELAY


def test_a_zone_that_answers_again_gives_its_slots_back(servers: NameServers) -> None:
    resolver = Resolver(servers)
    for number in range(MAX_LOOKUPS_OF_DOMAIN):
        outcome(resolver, f"h{number}.slow.test", timeout=0.01)
    servers.go_on.set()
    error = outcome(resolver, "last.slow.test", timeout=MAX_DELAY)
    assert error and error.kind is Failure.DNS
    assert servers.asked[-1] == "last.slow.test"


def test_all_look_ups_together_are_bounded(servers: NameServers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MAX_LOOKUPS", 2)
    resolver = Resolver(servers)
    assert [outcome(resolver, f"h{number}.slow.test").kind for number in range(2)] == [Failure.DNS] * 2  # type: ignore[union-attr]
    error = outcome(resolver, "good.test")
    assert error and error.kind is Failure.BUSY


def test_a_look_up_that_hangs_is_shared_and_not_waited_for_twice(servers: NameServers) -> None:
    resolver = Resolver(servers)
    assert outcome(resolver, "a.slow.test", timeout=1.0)
    with Stopwatch() as watch:
        errors = [outcome(resolver, "a.slow.test", timeout=1.0) for _ in range(100)]
    assert {error.kind for error in errors if error} == {Failure.DNS}
    assert len(errors) == 100
    assert watch.seconds < MAX_DELAY
    assert servers.asked == ["a.slow.test"]


@pytest.mark.parametrize(("code", "seconds"), [(socket.EAI_NONAME, 120.0), (socket.EAI_AGAIN, 60.0)])
def test_a_failure_is_kept_for_a_while(servers: NameServers, code: int, seconds: float) -> None:
    now = 1000.0
    servers.code = code
    resolver = Resolver(servers, clock=lambda: now)
    for later in (0.0, seconds - 1.0):
        now = 1000.0 + later
        error = outcome(resolver, "a.none.test", timeout=MAX_DELAY)
        assert error and error.kind is Failure.DNS
        assert "not known" in error.detail
    assert servers.asked == ["a.none.test"]
    now = 1000.0 + seconds
    assert outcome(resolver, "a.none.test", timeout=MAX_DELAY)
    assert servers.asked == ["a.none.test"] * 2


def test_a_failure_of_this_machine_is_not_kept(servers: NameServers) -> None:
    servers.code = socket.EAI_MEMORY
    resolver = Resolver(servers)
    assert outcome(resolver, "a.none.test", MAX_DELAY) and outcome(resolver, "a.none.test", MAX_DELAY)
    assert len(servers.asked) == 2


def test_few_failures_are_kept(servers: NameServers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MAX_KEPT", 2)
    resolver = Resolver(servers)
    for host in ("a.none.test", "b.none.test", "c.none.test", "c.none.test", "a.none.test"):
        outcome(resolver, host, MAX_DELAY)
    assert servers.asked == ["a.none.test", "b.none.test", "c.none.test", "a.none.test"]


def test_an_address_that_was_found_is_not_kept(servers: NameServers) -> None:
    """The guard checks the address that is dialled; an old one may belong to somebody else by now."""
    resolver = Resolver(servers)
    assert [outcome(resolver, "good.test", MAX_DELAY) for _ in range(3)] == [None] * 3
    assert len(servers.asked) == 3


def test_a_thread_that_cannot_be_started_is_busy_and_keeps_no_slot(
    servers: NameServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = Resolver(servers)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(names.MAX_LOOKUPS + 1):
            error = outcome(resolver, "good.test")
            assert error and error.kind is Failure.BUSY
    assert outcome(resolver, "good.test", MAX_DELAY) is None


def test_a_proxy_whose_name_gets_no_slot_is_busy_and_not_broken(
    fetcher: Fetcher, serve: Serve, servers: NameServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "MAX_LOOKUPS", 0)
    fetcher.lookup = servers
    proxy = serve(answer(b"via proxy"))
    client = fetcher.client(proxy=f"http://proxy.test:{proxy.port}", connect_timeout=0.1)
    assert fetcher.failure("http://example.test/", client).kind is Failure.BUSY
