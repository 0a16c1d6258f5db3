"""Documents are read in other processes: what hangs, crashes or bloats there is one document's failure."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.reading.documents import FeedDocument, FeedLink
from crawler.reading.errors import ReadingError
from crawler.terminals import readers as module
from crawler.terminals.readers import Readers

SLOW = 60.0


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    made = Readers(cpu_seconds=1, wall_seconds=20.0)
    yield made
    made.close()


def answer(text: str) -> str:
    return text


def spin() -> None:
    while True:
        pass


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def bloat() -> int:
    return len(bytearray(3_000_000_000))


def refuse() -> None:
    raise ReadingError("too-deep", "nested")


def refuse_oddly() -> None:
    raise _OddError


def break_it(text: str) -> None:
    raise RecursionError(text)


def document() -> tuple[FeedDocument, tuple[FeedLink, ...]]:
    return FeedDocument("rss20", "A feed"), (FeedLink("http://a/"),)


def path() -> Path:
    return Path("/")


def told() -> dict[str, str]:
    return dict(os.environ)


def listen(port: int) -> int:
    socket.create_server(("127.0.0.1", port)).close()
    return 0


def chatter() -> str:
    print("words that are no answer", flush=True)
    return "answer"


class _OddError(Exception):
    kind, detail = "of-another-time", "words"


def test_records_come_back(readers: Readers) -> None:
    assert readers.read(document) == (FeedDocument("rss20", "A feed"), (FeedLink("http://a/"),))
    text = "NUL \0 and \ud800 " + "x" * 3_000_000
    assert readers.read(answer, text) == text


def test_what_a_library_prints_is_no_answer(readers: Readers) -> None:
    assert readers.read(chatter) == "answer"


@pytest.mark.parametrize(
    ("function", "arguments", "kind", "detail"),
    [
        (refuse, (), "too-deep", "nested"),
        (refuse_oddly, (), "malformed", "words"),
        (break_it, ("deep",), "malformed", "the analysis failed: RecursionError: deep"),
        (spin, (), "too-costly", "more than 1 s of processor time"),
        (crash, (), "too-costly", "the process that read it ended"),
        (bloat, (), "too-costly", "memory"),
        (path, (), "malformed", "may not hold pathlib"),
    ],
)
def test_what_goes_wrong_is_a_named_failure_and_the_next_is_read(
    readers: Readers, function: object, arguments: tuple[str, ...], kind: str, detail: str
) -> None:
    with pytest.raises(ReadingError, match=detail) as refused:
        readers.read(function, *arguments)  # type: ignore[arg-type]
    assert refused.value.kind == kind
    assert readers.read(answer, "next") == "next"


def test_a_slow_document_gets_out_of_the_way(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as may be aside, and one more: the others are read meanwhile."""
    monkeypatch.setattr(module, "MAX_TURN_SECONDS", 0.1)
    slow = Readers(cpu_seconds=4, wall_seconds=120.0)
    failures: list[str] = []

    def hang() -> None:
        with pytest.raises(ReadingError) as refused:
            slow.read(spin)
        failures.append(refused.value.kind)

    threads = [threading.Thread(target=hang) for _ in range(module.MAX_SLOW)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + SLOW
    while slow._slow._value and time.monotonic() < until:  # those aside
        time.sleep(0.05)
    assert slow.read(answer, "quick") == "quick"
    assert failures == []
    for thread in threads:
        thread.join(SLOW)
    assert failures == ["too-costly"] * module.MAX_SLOW
    slow.close()


def test_a_reader_by_the_clock(readers: Readers) -> None:
    short = Readers(cpu_seconds=60, wall_seconds=0.5)
    with pytest.raises(ReadingError, match=r"not read within 0\.5 s"):
        short.read(time.sleep, 60)
    short.close()


def test_a_killed_reader_is_replaced(readers: Readers) -> None:
    assert readers.read(answer, "a") == "a"
    os.kill(readers.read(os.getpid), signal.SIGKILL)
    assert readers.read(answer, "b") == "b"


def test_a_reader_knows_no_secret(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://user:password@127.0.0.1/")
    other = Readers()
    try:
        known = other.read(told)
        assert "CELERY_BROKER_URL" not in known
        assert "password" not in str(known)
    finally:
        other.close()


def test_a_reader_opens_no_socket_and_starts_no_program(readers: Readers) -> None:
    for reach_out, argument in ((listen, 0), (os.system, "true")):
        try:
            assert readers.read(reach_out, argument) != 0
        except ReadingError as refused:
            assert "PermissionError" in refused.detail


def test_a_large_reader_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1)
    large = Readers()
    assert large.read(os.getpid) != large.read(os.getpid)
    large.close()


@pytest.mark.parametrize("name", ["annotations", "__builtins__", "Payload", "missing"])
def test_an_answer_makes_nothing_but_records(name: str) -> None:
    with pytest.raises(ReadingError, match="may not hold"):
        module._result(f"ccrawler.reading.documents\n{name}\n.".encode())
