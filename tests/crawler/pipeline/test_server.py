"""The process that queries are children of: started when asked, gone when idle or alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyoxigraph
import pytest

from crawler.isolation import walls
from crawler.pipeline.sparql import client, run
from crawler.pipeline.sparql.client import QueryServer
from crawler.pipeline.sparql.run import QueryError, QueryTooLong, QueryTurnedAway, ask

ROOT = Path(__file__).resolve().parents[3]
COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"
THINGS = 2_000


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("store")
    store = pyoxigraph.Store(str(home / "store"))
    thing = pyoxigraph.NamedNode("http://s.example/")
    for part in range(4):  # each a file of its own
        numbers = range(part, THINGS, 4)
        store.extend(pyoxigraph.Quad(thing, thing, pyoxigraph.Literal(str(n)), thing) for n in numbers)
        store.flush()
    store.backup(str(home / "snapshot"))
    return home / "snapshot"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[QueryServer]:
    """One for this test alone."""
    own = QueryServer()
    monkeypatch.setattr(client, "server", lambda: own)
    yield own
    own.close()


def counted(snapshot: Path) -> str:
    """How many triples there are; the child that told it has been waited for."""
    answer = ask(snapshot, COUNT, ["text/csv"]).body.decode().split()[1]
    while client.server().pid and children(client.server().pid):
        time.sleep(0.005)
    return answer


def ended(pid: int, seconds: float = 10) -> bool:
    """Whether the process goes within this time, and nothing of it stays."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.02)
    return False


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def test_one_process_is_the_parent_of_all_queries(snapshot: Path, server: QueryServer) -> None:
    assert counted(snapshot) == str(THINGS)
    first = server.pid
    assert counted(snapshot) == str(THINGS)
    assert server.pid == first


def test_many_at_once_get_each_their_own_answer(snapshot: Path, server: QueryServer) -> None:
    def one(number: int) -> tuple[int, str]:
        wanted = f'SELECT ?o {{ ?s ?p ?o FILTER(?o = "{number}") }}'
        return number, ask(snapshot, wanted, ["text/csv"]).body.decode().split()[1]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(one, range(100)))
    assert found == [(number, str(number)) for number in range(100)]


def test_one_more_than_may_run_waits_a_little_and_is_turned_away(
    snapshot: Path, server: QueryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE_SECONDS", 0.1)
    counted(snapshot)

    def endless(_: int) -> None:
        with pytest.raises(QueryTooLong):
            ask(snapshot, ENDLESS, ["text/csv"], seconds=3)

    with ThreadPoolExecutor(client.MAX_AT_ONCE) as pool:
        busy = pool.map(endless, range(client.MAX_AT_ONCE))
        while len(children(server.pid)) < client.MAX_AT_ONCE:
            time.sleep(0.01)
        with pytest.raises(QueryTurnedAway, match="ask again"):
            counted(snapshot)
        list(busy)
    assert counted(snapshot) == str(THINGS)


def test_a_query_that_is_ended_costs_no_other(snapshot: Path, server: QueryServer) -> None:
    counted(snapshot)
    first = server.pid
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(ask, snapshot, ENDLESS, "text/csv", seconds=1)
        for _ in range(5):
            assert ask(snapshot, "ASK {}", ["text/csv"]).body == b"true"
        with pytest.raises(QueryTooLong):
            slow.result()
    assert server.pid == first


def test_a_child_that_is_killed_is_a_query_that_took_too_much(snapshot: Path, server: QueryServer) -> None:
    counted(snapshot)

    def kill() -> None:
        while not (found := children(server.pid)):
            time.sleep(0.01)
        os.kill(found[0], signal.SIGKILL)

    threading.Thread(target=kill).start()
    with pytest.raises(QueryTooLong, match="too much memory"):
        ask(snapshot, ENDLESS, ["text/csv"])


def test_a_server_that_was_killed_is_started_again(snapshot: Path, server: QueryServer) -> None:
    counted(snapshot)
    first = server.pid
    os.kill(first, signal.SIGKILL)
    assert counted(snapshot) == str(THINGS)
    assert server.pid != first
    assert ended(first), "no zombie stays"


def test_a_server_killed_in_the_midst_of_a_query_is_asked_once_more_and_not_again(
    snapshot: Path, server: QueryServer
) -> None:
    counted(snapshot)
    killed: list[int] = []

    def kill() -> None:
        while len(killed) < 2:
            pid = server.pid
            if pid not in killed and Path(f"/proc/{pid}").exists() and children(pid):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(QueryTurnedAway, match="twice"):
        ask(snapshot, ENDLESS, ["text/csv"])
    killer.join()
    assert all(ended(pid) for pid in killed)
    assert counted(snapshot) == str(THINGS)


def test_it_ends_when_nobody_asks_and_is_there_for_who_asks_then(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = QueryServer(idle_seconds=0.2)
    monkeypatch.setattr(client, "server", lambda: own)
    assert counted(snapshot) == str(THINGS)
    first = own.pid
    assert ended(first)
    assert counted(snapshot) == str(THINGS)
    assert own.pid != first
    own.close()


def test_queries_outlive_the_idle_time(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = QueryServer(idle_seconds=0.1)
    monkeypatch.setattr(client, "server", lambda: own)
    with pytest.raises(QueryTooLong):
        ask(snapshot, ENDLESS, ["text/csv"], seconds=1)
    own.close()


ASKS = """
import sys, threading, time
from pathlib import Path
from crawler.pipeline.sparql import client
from crawler.pipeline.sparql.run import ask
ask(Path(sys.argv[1]), "ASK {}", ["text/csv"])
threading.Thread(target=ask, args=(Path(sys.argv[1]), sys.argv[2], "text/csv")).start()
time.sleep(1)
print(client.server().pid, flush=True)
time.sleep(60)
"""


def test_it_and_its_children_end_with_the_process_that_asks(snapshot: Path) -> None:
    command = [sys.executable, "-c", ASKS, str(snapshot), ENDLESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as asker:
        assert asker.stdout is not None
        pid = int(asker.stdout.readline())
        (child,) = children(pid)
        asker.kill()
    assert ended(pid)
    assert ended(child)


def test_a_forked_process_starts_its_own(snapshot: Path) -> None:
    counted(snapshot)
    parents = client.server().pid
    reader, writer = os.pipe()
    if not os.fork():
        try:
            told = [counted(snapshot), client.server().pid]
            os.write(writer, json.dumps(told).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        count, forked = json.load(said)
    os.wait()
    assert count == str(THINGS)
    assert forked != parents
    assert ended(forked), "with the process that asked it"
    assert counted(snapshot) == str(THINGS)
    assert client.server().pid == parents


def test_it_knows_no_secret_and_loads_neither_django_nor_the_task_queue(
    snapshot: Path, server: QueryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:hidden@h/n")
    counted(snapshot)
    assert b"hidden" not in Path(f"/proc/{server.pid}/environ").read_bytes()
    code = "import sys, crawler.pipeline.sparql.child; print({'django', 'celery'} & sys.modules.keys())"
    own = walls.environment()
    done = subprocess.run([sys.executable, "-c", code], env=own, cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


def test_a_child_has_no_socket_and_its_filter_of_calls(snapshot: Path, server: QueryServer) -> None:
    counted(snapshot)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(ask, snapshot, ENDLESS, "text/csv", seconds=2)
        while not (found := children(server.pid)):
            time.sleep(0.01)
        time.sleep(0.2)
        status = Path(f"/proc/{found[0]}/status").read_text()
        names = [os.readlink(one) for one in Path(f"/proc/{found[0]}/fd").iterdir()]
        with pytest.raises(QueryTooLong):
            slow.result()
    assert "Seccomp:\t2" in status
    assert not [name for name in names if name.startswith("socket:")]


def test_a_snapshot_that_is_not_there_is_told(tmp_path: Path, server: QueryServer) -> None:
    with pytest.raises(QueryError, match="Error"):
        ask(tmp_path / "none", "ASK {}", ["text/csv"])


def test_a_server_that_cannot_start_is_told(
    snapshot: Path, server: QueryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(QueryTurnedAway, match="could not be started"):
        run.ask(snapshot, "ASK {}", ["text/csv"])
