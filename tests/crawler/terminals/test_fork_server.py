"""The server that forks what handles hostile bytes: bounded, deaf to nonsense, and nobody outlives it."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.isolation import fork_server
from crawler.isolation.fork_server import ForkServer, ServedChild, start_server

PROGRAMS = "tests.crawler.terminals.programs"
SLOW = 60.0


@pytest.fixture
def server() -> Iterator[ForkServer]:
    made = start_server([PROGRAMS], dict(os.environ))
    yield made
    if made.alive:
        os.kill(made.pid, signal.SIGKILL)
    made.close()


def said_by(server: ForkServer, program: str, **words: object) -> tuple[ServedChild, str]:
    """A program that writes to its one descriptor, and what it wrote until it ended."""
    read, write = os.pipe()
    child = server.fork(program, words, [write])
    os.close(write)
    with os.fdopen(read) as pipe:
        return child, pipe.read()


def children_of(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


def test_a_child_runs_with_what_it_was_given_and_its_end_is_told(server: ForkServer) -> None:
    child, said = said_by(server, "say", text="hello", code=3)
    assert (said, child.wait(SLOW)) == ("hello", 3)
    assert child.pid not in {0, os.getpid(), server.pid}


def test_how_a_child_was_ended_is_told(server: ForkServer) -> None:
    for number in (signal.SIGKILL, signal.SIGXCPU):
        read, write = os.pipe()
        child = server.fork("wait", {}, [write])
        os.close(write)
        assert child.begun(SLOW)
        os.kill(child.pid, number)
        assert child.wait(SLOW) == -number
        os.close(read)


def test_a_child_has_no_descriptor_that_it_was_not_given(server: ForkServer) -> None:
    _, first = said_by(server, "descriptors")
    other = server.fork("wait", {}, [os.open(os.devnull, os.O_RDONLY)])
    assert other.begun(SLOW)
    _, second = said_by(server, "descriptors")
    assert first == second == "4"  # the standard ones and its own
    other.kill()


def test_children_die_with_their_server(server: ForkServer) -> None:
    child = server.fork("wait", {}, [os.open(os.devnull, os.O_RDONLY)])
    assert child.begun(SLOW)
    os.kill(server.pid, signal.SIGKILL)
    assert child.wait(SLOW) == -signal.SIGKILL
    until = time.monotonic() + SLOW
    while os.path.exists(f"/proc/{child.pid}") and time.monotonic() < until:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{child.pid}")
    server.wait(SLOW)
    with pytest.raises(OSError, match="Broken pipe"):
        server.fork("say", {}, [])


def test_a_server_ends_with_the_last_who_could_ask(server: ForkServer) -> None:
    assert said_by(server, "say", text="here")[1] == "here"
    assert server.close() == 0


def test_a_server_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "_PATIENCE_SECONDS", 0.2)
    hangs = start_server([PROGRAMS], dict(os.environ), lambda command: ["sleep", "600"])
    assert hangs.close() == -signal.SIGKILL


def test_a_server_that_nobody_asks_ends_when_it_may_be_idle_so_long() -> None:
    server = start_server([PROGRAMS], dict(os.environ), idle_seconds=0.2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    child = server.fork("wait", {}, [nothing])
    assert child.begun(SLOW)
    time.sleep(0.5)
    assert server.alive, "it has a child"
    child.kill()
    assert (child.wait(SLOW), child.lost) == (-signal.SIGKILL, False)
    assert server.wait(SLOW) == 0
    os.close(nothing)


def test_a_child_that_is_not_wanted_any_more_before_it_begins_is_killed(server: ForkServer) -> None:
    os.kill(server.pid, signal.SIGSTOP)
    nothing = os.open(os.devnull, os.O_RDONLY)
    heard, unheard = (server.fork("wait", {}, [nothing]) for _ in range(2))
    heard.kill()
    unheard.close()
    os.kill(server.pid, signal.SIGCONT)
    assert (heard.wait(SLOW), heard.lost) == (-signal.SIGKILL, False)
    assert said_by(server, "say", text="again")[1] == "again"
    until = time.monotonic() + SLOW
    while children_of(server.pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert children_of(server.pid) == ""
    os.close(nothing)


def test_descriptors_beyond_those_of_select_are_fine(server: ForkServer) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("this system allows no more")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert said_by(server, "say", text="high")[1] == "high"
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_is_not_offered_is_not_forked(server: ForkServer) -> None:
    child, said = said_by(server, "no such program")
    assert (said, child.wait(SLOW)) == ("", -signal.SIGKILL)


def test_a_child_may_ask_for_what_its_program_names_and_for_nothing_else(server: ForkServer) -> None:
    _, said = said_by(server, "ask for others")
    assert said == "say: 0, wait: -9"


@pytest.mark.parametrize(
    "nonsense",
    [
        b"x", struct.pack("<I", 5) + b"no js", struct.pack("<I", 2) + b"{}",
        struct.pack("<I", 2**32 - 1) + b"x" * 70_000,
    ],
    ids=["short", "no JSON", "no request", "endless"],
)  # fmt: skip
def test_nonsense_costs_its_sender_the_connection(nonsense: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    running = fork_server._Server(theirs, {})
    try:
        read, write = os.pipe()
        socket.send_fds(ours, [nonsense], [write])
        os.close(write)
        ours.shutdown(socket.SHUT_WR)
        running.serve()  # ends, for nobody is left who could ask
        assert os.read(read, 1) == b"", "what came with it is closed"
        os.close(read)
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ours.close()


def test_there_are_never_more_children_than_so_many(server: ForkServer) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    children = [server.fork("wait", {}, [nothing]) for _ in range(fork_server.MAX_CHILDREN + 2)]
    assert [child.begun(SLOW) for child in children].count(True) == fork_server.MAX_CHILDREN
    for child in children:
        child.kill()
    for child in children:
        child.wait(SLOW)
    assert said_by(server, "say", text="again")[1] == "again"
    os.close(nothing)
