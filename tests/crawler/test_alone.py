"""Tasks in a worker's own process, where no parent watches over them, have their limits all the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from billiard.exceptions import SoftTimeLimitExceeded

from crawler import celery
from crawler.isolation import memory


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    conf = celery.app.conf
    monkeypatch.setattr(memory, "resident", lambda: 0)  # that of all tests before may be too much
    limits = {"task_soft_time_limit": conf.task_soft_time_limit, "task_time_limit": conf.task_time_limit}
    conf.update(task_soft_time_limit=1, task_time_limit=31)
    before = signal.getsignal(signal.SIGALRM)
    yield
    conf.update(limits)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_task_that_takes_too_long_gets_an_exception_and_then_the_process_its_end(limited: None) -> None:
    celery._limit_time()
    with pytest.raises(SoftTimeLimitExceeded):
        time.sleep(20)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert 25 <= signal.alarm(0) <= 30


def test_a_task_in_time_hears_nothing(limited: None) -> None:
    celery._limit_time()
    celery._limit_memory()
    time.sleep(1.2)


def test_a_process_that_has_grown_too_large_ends_after_its_task(
    limited: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *what: sent.append(what))
    celery._limit_memory()
    assert sent == []
    monkeypatch.setattr(memory, "resident", lambda: 10**12)
    celery._limit_memory()
    assert sent == [(os.getpid(), signal.SIGTERM)]


def test_the_memory_of_this_process_is_told() -> None:
    assert 10**7 < memory.resident() < memory.installed()
