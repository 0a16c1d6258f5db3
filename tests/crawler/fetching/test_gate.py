"""One request at a time per host, spaced, across threads and processes, and never stuck after a kill."""

import itertools
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from crawler.failures import Failure, FetchError
from crawler.fetching.http.gate import HostGate

from .conftest import MAX_DELAY, Stopwatch


def soon(seconds: float = 20.0) -> float:
    return time.monotonic() + seconds


def test_starts_at_one_host_are_spaced(tmp_path: Path) -> None:
    gate = HostGate(tmp_path, spacing=0.2)
    starts = []
    for _ in range(3):
        with gate.turn("a.test", soon()):
            starts.append(time.monotonic())
    assert all(later - earlier >= 0.199 for earlier, later in itertools.pairwise(starts))


def test_different_hosts_do_not_wait_for_each_other(tmp_path: Path) -> None:
    gate = HostGate(tmp_path, spacing=15)
    with Stopwatch() as watch, gate.turn("a.test", soon()), gate.turn("b.test", soon()):
        pass
    assert watch.seconds < MAX_DELAY


def test_threads_take_turns(tmp_path: Path) -> None:
    gate = HostGate(tmp_path, spacing=0)
    inside, limit = [], []

    def work() -> None:
        with gate.turn("a.test", soon()):
            inside.append(1)
            limit.append(len(inside))
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert limit == [1] * 8


def test_a_turn_after_the_deadline_is_refused_at_once(tmp_path: Path) -> None:
    gate = HostGate(tmp_path, spacing=60)
    with gate.turn("a.test", soon()):
        pass
    with Stopwatch() as watch, pytest.raises(FetchError) as caught, gate.turn("a.test", soon()):
        pass
    assert caught.value.kind is Failure.BUSY
    assert watch.seconds < MAX_DELAY


def test_waiting_for_another_thread_ends_with_the_deadline(tmp_path: Path) -> None:
    gate = HostGate(tmp_path, spacing=0)

    def late() -> None:
        with pytest.raises(FetchError, match="busy"), gate.turn("a.test", soon(0.2)):
            pass

    with gate.turn("a.test", soon()), Stopwatch() as watch:
        thread = threading.Thread(target=late)
        thread.start()
        thread.join()
    assert 0.15 < watch.seconds < MAX_DELAY


def _hold(directory: Path, ready: "multiprocessing.synchronize.Event") -> None:
    with HostGate(directory, spacing=0).turn("a.test", soon()):
        ready.set()
        time.sleep(30)


def test_another_process_holds_the_host_until_it_is_killed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, ready))
    holder.start()
    assert ready.wait(5)
    gate = HostGate(tmp_path, spacing=0)
    with pytest.raises(FetchError, match="busy"), gate.turn("a.test", soon(0.3)):
        pass
    assert holder.pid
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    with Stopwatch() as watch, gate.turn("a.test", soon()):
        pass
    assert watch.seconds < MAX_DELAY


def test_the_spacing_holds_between_gates_of_one_directory(tmp_path: Path) -> None:
    with Stopwatch() as watch:
        for _ in range(2):
            with HostGate(tmp_path, spacing=0.3).turn("a.test", soon()):
                pass
    assert watch.seconds >= 0.299


def test_a_start_noted_before_a_reboot_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = HostGate(tmp_path, spacing=5)
    with gate.turn("a.test", soon()):
        pass
    before = time.monotonic()
    monkeypatch.setattr("crawler.fetching.http.gate.time.monotonic", lambda: before - 1000)
    with gate.turn("a.test", before - 999):
        pass


def test_a_damaged_note_is_survived(tmp_path: Path) -> None:
    gate = HostGate(tmp_path, spacing=0)
    with gate.turn("a.test", soon()):
        pass
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"\xff" * 21)
    with gate.turn("a.test", soon()):
        pass


def test_the_directory_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.fetching.http.gate.SLOTS", 4)
    gate = HostGate(tmp_path, spacing=0)
    for number in range(300):
        with gate.turn(f"{number}.test", soon()):
            pass
    assert sorted(file.name for file in tmp_path.iterdir()) == ["000", "001", "002", "003"]
    assert max(file.stat().st_size for file in tmp_path.iterdir()) <= 32 * 16
