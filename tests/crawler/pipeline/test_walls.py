"""Children that work on what strangers gave reach nobody, whatever they are talked into."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyoxigraph
import pytest

from crawler.isolation import walls
from crawler.pipeline.sparql import run
from crawler.pipeline.sparql.run import QueryError, ask, wall

ROOT = Path(__file__).resolve().parents[3]


class Listener:
    """Counts who comes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.came = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            self.came += 1
            visitor.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.close()


def child(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False
    )


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    store = pyoxigraph.Store(str(tmp_path / "store"))
    thing = pyoxigraph.NamedNode("http://s.example/")
    store.add(pyoxigraph.Quad(thing, thing, pyoxigraph.Literal("1"), thing))
    store.backup(str(tmp_path / "snapshot"))
    return tmp_path / "snapshot"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * {{ SERVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
        "SELECT * {{ FILTER(1<2)SERVICE#>\n<http://127.0.0.1:{port}/>{{ ?s ?p ?o }} }}",
        "ASK {{ SERVICE SILENT <http://localhost:{port}/> {{ ?s ?p ?o }} }}",
        "CONSTRUCT WHERE {{ ?s ?p ?o . }}".replace(
            "WHERE", "{{ ?s ?p ?o }} WHERE {{ SERVICE <http://127.0.0.1:{port}/>"
        )
        + " }}",
    ],
)
def test_a_query_that_gets_past_the_lexer_reaches_nobody(
    snapshot: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    text = query.format(port=listener.port)
    with pytest.raises(QueryError, match="SERVICE"):
        ask(snapshot, text, ["text/csv"])
    monkeypatch.setattr(run, "refusal", lambda _: "")
    try:
        ask(snapshot, text, ["text/csv"])
    except QueryError as error:
        assert "not permitted" in str(error) or "unreachable" in str(error)
    assert listener.came == 0
    found = pyoxigraph.Store.read_only(str(snapshot))
    with suppress(OSError, TypeError):
        list(found.query(text))  # type: ignore[arg-type]
    assert listener.came == 1, "the very same query, without the wall"


@pytest.mark.parametrize("clause", ["FROM <http://127.0.0.1:{port}/x>", "FROM NAMED <file:///etc/passwd>"])
def test_from_names_graphs_that_are_there_and_fetches_nothing(
    snapshot: Path, listener: Listener, clause: str
) -> None:
    clause = clause.format(port=listener.port)
    query = f"SELECT * {clause} {{ {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"
    assert b"root" not in ask(snapshot, query, ["text/csv"]).body
    assert listener.came == 0


TRIED = """
import socket
from crawler.isolation.limits import forbid_new_descriptors
from crawler.isolation.walls import shut
stands = {call}
for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)):
    try:
        with socket.socket(family, kind) as one:
            one.connect(("127.0.0.1", {port}))
            one.send(b"x")
            print("connected")
    except OSError as error:
        print(type(error).__name__)
print(stands)
"""


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("shut", "shut()"),
        ("shut", "shut(['network namespace'])"),
        ("forbid_new_descriptors", "forbid_new_descriptors() or True"),
    ],
)
def test_every_wall_that_says_it_stands_does(listener: Listener, function: str, call: str) -> None:
    done = child(TRIED.format(call=call, port=listener.port))
    assert done.returncode == 0, done.stderr
    *tries, stands = done.stdout.split("\n")[:-1]
    if stands:
        assert "connected" not in tries
        assert listener.came == 0
    else:
        assert call == "shut(['network namespace'])", "kernels may forbid these, the others are everywhere"


def test_threads_that_run_already_are_behind_the_wall_too(listener: Listener) -> None:
    code = f"""
import socket, threading
from crawler.isolation.walls import shut
go = threading.Event()
def reach():
    go.wait()
    try:
        socket.create_connection(("127.0.0.1", {listener.port}), 2)
    except OSError:
        print("refused")
thread = threading.Thread(target=reach)
thread.start()
assert shut() == "seccomp"
go.set()
thread.join()
"""
    assert child(code).stdout == "refused\n"
    assert listener.came == 0


def test_no_program_is_started_behind_the_wall() -> None:
    code = "import os\nfrom crawler.isolation.walls import shut\nshut()\nos.execv('/bin/true', ['true'])"
    assert "PermissionError" in child(code).stderr


def answer(machine: walls.Machine, abi: int, number: int) -> bool:
    """Whether the filter refuses a call, by the rules of classic BPF."""
    lines = [struct.unpack("=HBBI", program) for program in _lines(machine)]
    at, accumulator = 0, 0
    while True:
        code, jump, other, value = lines[at]
        at += 1
        if code == 0x20:
            accumulator = {0: number, 4: abi}[value]
        elif code == 0x15:
            at += jump if accumulator == value else other
        elif code == 0x35:
            at += jump if accumulator >= value else other
        else:
            assert code == 0x06
            return bool(value == 0x00050001)


def _lines(machine: walls.Machine) -> list[bytes]:
    whole = walls.program(machine)
    return [whole[start : start + 8] for start in range(0, len(whole), 8)]


@pytest.mark.parametrize("name", sorted(walls.MACHINES))
def test_the_filter_refuses_the_list_other_abis_and_nothing_else(name: str) -> None:
    machine = walls.MACHINES[name]
    refused = {number for number in range(600) if answer(machine, machine.abi, number)}
    assert refused == set(machine.refused)
    sockets = {"x86_64": {41, 42, 44, 46}, "aarch64": {198, 203, 206, 211}}[name]
    assert sockets <= refused, "socket, connect, sendto, sendmsg"
    assert all(answer(machine, 0x40000003, number) for number in (0, 102, 359)), (
        "32 bits: socketcall and socket"
    )
    assert answer(machine, machine.abi, 0x40000000 + 41), "x32"


def test_children_get_no_secrets_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:hidden@h/")
    assert "hidden" not in " ".join(walls.environment().values())


def test_this_kernel_has_a_wall() -> None:
    assert wall() in {walls.SECCOMP, walls.NAMESPACE}
