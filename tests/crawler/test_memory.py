"""How much memory there is, and which process the kernel ends first when it runs out."""

from __future__ import annotations

import os
import queue
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.isolation import forks, memory
from crawler.reading.pages import language

MB = memory.MEGABYTE


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    memory.installed.cache_clear()
    yield
    memory.installed.cache_clear()


def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, limits: dict[str, str]) -> None:
    """Let this process be in these control groups, which have these limits."""
    for name, limit in limits.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(limit)
    (tmp_path / "own").write_text(own)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(
        memory, "Path", lambda *parts: tmp_path / "own" if parts == ("/proc/self/cgroup",) else Path(*parts)
    )


@pytest.mark.parametrize(
    ("own", "limits", "megabytes"),
    [
        ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": str(300 * MB)}, 300),
        ("0::/a", {"a/memory.max": str(400 * MB), "memory.max": str(200 * MB)}, 200),
        ("4:memory:/box", {"memory/box/memory.limit_in_bytes": str(600 * MB)}, 600),
        ("4:cpu,memory:/box", {"memory/memory.limit_in_bytes": str(500 * MB)}, 500),
    ],
)
def test_control_groups_and_those_around_them_limit_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, limits: dict[str, str], megabytes: int
) -> None:
    groups(tmp_path, monkeypatch, own, limits)
    assert memory.installed() == megabytes * MB
    assert memory.is_small()
    assert memory.share(1 / 2, 1, 10_000) == megabytes * MB // 2
    assert memory.share(1 / 100, 50, 60) == 50 * MB
    assert memory.share(1.0, 50, 60) == 60 * MB


@pytest.mark.parametrize(("asked", "is_small"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_a_large_machine_works_as_a_small_one_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, is_small: bool
) -> None:
    groups(tmp_path, monkeypatch, "", {"x": ""})
    monkeypatch.setattr(os, "sysconf", lambda name: 2**40 // resource.getpagesize())
    monkeypatch.setenv("FRESHET_SMALL", asked)
    assert memory.installed() == (512 * MB if is_small else 2**40)
    assert memory.is_small() == is_small


@pytest.mark.parametrize("own", ["", "nonsense:x:/", "0::/../../etc"])
def test_without_limits_there_is_what_the_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    groups(tmp_path, monkeypatch, own, {"x": ""})
    assert memory.installed() > 100 * MB


def test_an_idle_process_empties_its_caches_each_time_it_has_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_caches", [])
    emptied: queue.Queue[float] = queue.Queue()
    memory.empty_when_idle(lambda: emptied.put(time.monotonic()))
    tidier = memory.Tidier(idle_seconds=0.3)
    for _ in range(2):
        for _ in range(5):
            tidier.note_task()
            time.sleep(0.05)
        last_task = time.monotonic()
        tidier.note_task()
        while (moment := emptied.get(timeout=10)) < last_task:  # a busy machine made a pause before
            pass
        assert moment - last_task >= 0.3
        assert emptied.empty()


def test_the_model_of_languages_is_loaded_again_after_it_was_dropped() -> None:
    text = "Der Fluss trat am Dienstag über die Ufer, und viele verließen ihre Häuser."
    assert language.language_of(text) == "de"
    assert language._identifier.cache_clear in memory._caches
    language._identifier.cache_clear()
    assert language.language_of(text) == "de"


def test_the_kernel_ends_readers_first_and_the_supervisor_last() -> None:
    order = sorted(memory.OOM_SCORES, key=lambda name: memory.OOM_SCORES[name])
    assert order[:2] == ["supervisor", "fork server"]
    assert set(order[-2:]) == {"reader", "query"}


@pytest.mark.parametrize(("name", "score"), [("reader", 900), ("a process of another name", 300)])
def test_a_forked_process_says_how_soon_it_may_go(tmp_path: Path, name: str, score: int) -> None:
    def tell() -> None:
        (tmp_path / "score").write_text(Path("/proc/self/oom_score_adj").read_text())

    assert forks.fork(tell, name).wait(10) == 0
    assert int((tmp_path / "score").read_text()) == score
