"""The server that forks what handles hostile bytes: bounded, deaf to nonsense, and nobody outlives it."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator

import pytest

from crawler.process import fork_server
from crawler.process.fork_server import ForkServer, Served, started

PROGRAMS = "tests.crawler.terminals.programs"
SLOW = 60.0

Pair = tuple[ForkServer, "subprocess.Popen[bytes]"]


@pytest.fixture
def server() -> Iterator[Pair]:
    made, process = started([PROGRAMS], dict(os.environ))
    yield made, process
    made.close()
    process.kill()
    process.wait()


def said_by(server: ForkServer, program: str, **words: object) -> tuple[Served, str]:
    """A program that writes to its one descriptor, and what it wrote until it ended."""
    read, write = os.pipe()
    child = server.fork(program, words, [write])
    os.close(write)
    with os.fdopen(read) as pipe:
        return child, pipe.read()


def test_a_child_runs_with_what_it_was_given_and_its_end_is_told(server: Pair) -> None:
    child, said = said_by(server[0], "say", text="hello", code=3)
    assert (said, child.wait(SLOW)) == ("hello", 3)
    assert child.pid not in {0, os.getpid(), server[1].pid}


def test_how_a_child_was_ended_is_told(server: Pair) -> None:
    for number in (signal.SIGKILL, signal.SIGXCPU):
        read, write = os.pipe()
        child = server[0].fork("wait", {}, [write])
        os.close(write)
        assert child.begun(SLOW)
        os.kill(child.pid, number)
        assert child.wait(SLOW) == -number
        os.close(read)


def test_a_child_has_no_descriptor_that_it_was_not_given(server: Pair) -> None:
    _, first = said_by(server[0], "descriptors")
    other = server[0].fork("wait", {}, [os.open(os.devnull, os.O_RDONLY)])
    assert other.begun(SLOW)
    _, second = said_by(server[0], "descriptors")
    assert first == second == "4"  # the standard ones and its own
    other.kill()


def test_children_die_with_their_server(server: Pair) -> None:
    child = server[0].fork("wait", {}, [os.open(os.devnull, os.O_RDONLY)])
    assert child.begun(SLOW)
    server[1].kill()
    assert child.wait(SLOW) == -signal.SIGKILL
    until = time.monotonic() + SLOW
    while os.path.exists(f"/proc/{child.pid}") and time.monotonic() < until:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{child.pid}")
    server[1].wait(SLOW)
    with pytest.raises(OSError, match="Broken pipe"):
        server[0].fork("say", {}, [])


def test_a_server_ends_with_the_last_who_could_ask(server: Pair) -> None:
    server[0].close()
    assert server[1].wait(SLOW) == 0


def test_what_is_not_offered_is_not_forked(server: Pair) -> None:
    child, said = said_by(server[0], "no such program")
    assert (said, child.wait(SLOW)) == ("", -signal.SIGKILL)


def test_a_child_may_ask_for_what_its_program_names_and_for_nothing_else(server: Pair) -> None:
    _, said = said_by(server[0], "ask for others")
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


def test_there_are_never_more_children_than_so_many(server: Pair) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    children = [server[0].fork("wait", {}, [nothing]) for _ in range(fork_server.MOST_CHILDREN + 2)]
    assert [child.begun(SLOW) for child in children].count(True) == fork_server.MOST_CHILDREN
    for child in children:
        child.kill()
    for child in children:
        child.wait(SLOW)
    assert said_by(server[0], "say", text="again")[1] == "again"
    os.close(nothing)
