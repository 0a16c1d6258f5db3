"""The supervisor: children that die come back, and none outlives the end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.operation.deployment.supervisor import MAX_PAUSE_SECONDS, Child, Stop, Supervisor, forked
from crawler.postgresql.credentials import EmbeddedError
from crawler.postgresql.postgresql import PostgreSQL
from tests.crawler.postgresql.test_postgresql import until_gone

READY = "from crawler.isolation import lifeline; import time; lifeline.tell_ready(); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {READY}"

# A supervisor of its own process, as `manage.py run` is one; prints the children's process ids when ready.
SUPERVISOR = f"""
import sys
from crawler.operation.deployment.supervisor import Child, Stop, Supervisor, forked, raise_stop_on_signals
children = [Child(name, forked(lambda: exec({READY!r}, {{}}))) for name in ("one", "two")]
supervisor = Supervisor(children, lambda line: print(line, flush=True))
raise_stop_on_signals()
try:
    supervisor.start(20, lambda child: None)
    print(*(child.process.pid for child in children), flush=True)
    supervisor.watch()
except Stop:
    supervisor.stop()
"""


def child(name: str, code: str = READY) -> Child:
    return Child(name, forked(lambda: exec(code, {})))


@contextlib.contextmanager
def timed(happened: Callable[[], bool], seconds: float = 15.0) -> Iterator[None]:
    """Raise Stop in the block once something happened; a test that waits in vain fails."""

    def stop(number: int, frame: object) -> None:
        if happened() or time.monotonic() > deadline:
            raise Stop

    deadline = time.monotonic() + seconds
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(Stop):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert happened()


def watch_until(supervisor: Supervisor, said: list[str], word: str, seconds: float = 15.0) -> None:
    """Watch until a line with this word was said."""
    with timed(lambda: any(word in line for line in said), seconds):
        supervisor.watch()


@pytest.fixture
def run() -> Callable[[], subprocess.Popen[str]]:
    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SUPERVISOR]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)

    return start


def test_a_killed_child_is_replaced_and_its_messages_released() -> None:
    said: list[str] = []
    released: list[tuple[str, ...]] = []

    def release(queues: tuple[str, ...]) -> int:
        released.append(queues)
        return 3

    worker = child("worker")
    worker.queues = ("fetch",)
    supervisor = Supervisor([worker], said.append, release=release)
    try:
        supervisor.start(20, lambda _: None)
        assert worker.process is not None
        first = worker.process.pid
        os.kill(first, signal.SIGKILL)
        watch_until(supervisor, said, "is back")
        assert worker.process.pid != first and worker.running
    finally:
        supervisor.stop()
    assert released == [("fetch",), ("fetch",)]
    assert any("killed by SIGKILL" in line for line in said)
    assert not worker.running


def test_a_child_that_keeps_failing_waits_longer_each_time() -> None:
    failing = child("failing")
    failing.started = 100.0
    pauses = [failing.plan_restart(now=100.1) for _ in range(10)]
    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert pauses[-1] == MAX_PAUSE_SECONDS
    assert failing.plan_restart(now=1_000.0) == 0.5


def test_a_child_that_ends_at_the_start_fails_the_start() -> None:
    supervisor = Supervisor([child("broken", "raise SystemExit(3)")], lambda line: None)
    with pytest.raises(EmbeddedError, match="broken ended at once"):
        supervisor.start(20, lambda _: None)
    supervisor.stop()


def working(seconds: float) -> str:
    """Code of a child that takes this long to come up, as on a slow machine: it works, some of the time."""
    return (
        "import time\n"
        f"until = time.monotonic() + {seconds}\n"
        "while time.monotonic() < until:\n"
        "    sum(range(200_000)); time.sleep(0.05)\n" + READY.replace("; ", "\n")
    )


def test_a_slow_child_is_waited_for_as_long_as_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.operation.deployment.supervisor.SAY_SECONDS", 1.0)
    said: list[str] = []
    slow, quick = child("slow", working(5.0)), child("quick")
    supervisor = Supervisor([slow, quick], said.append)
    try:
        supervisor.start(2.0, lambda _: None)  # by far not its 5 s
        assert slow.ready is not None
        assert any(line.startswith("still waiting for slow after") for line in said), said
    finally:
        supervisor.stop()


def test_a_child_that_does_nothing_fails_the_start() -> None:
    supervisor = Supervisor([child("hung", "import time; time.sleep(60)")], lambda line: None)
    try:
        with pytest.raises(EmbeddedError, match="hung has done nothing for 2 s"):
            supervisor.start(2.0, lambda _: None)
    finally:
        supervisor.stop()


WANTING = """
import os, time
from crawler.isolation import lifeline
lifeline.tell_ready()
while True:
    lifeline.tell_wanted("sleeper")
    time.sleep(0.05)
"""
"""A child that has another one started, over and over."""


def test_a_child_on_demand_starts_when_it_is_wanted_and_rests_when_it_ends(tmp_path: Path) -> None:
    """An orderly end is not told to anybody; the next wish starts it again."""
    starts = tmp_path / "starts"
    said: list[str] = []
    sleeper = child("sleeper", f"{READY.rpartition(';')[0]}; open({str(starts)!r}, 'a').write('.')")
    sleeper.on_demand = True
    supervisor = Supervisor([child("first"), sleeper], said.append)
    try:
        supervisor.start(20, lambda _: None)
        time.sleep(0.3)
        assert sleeper.process is None
        supervisor.children = [child("wanting", WANTING), sleeper]
        supervisor.start(20, lambda _: None)
        with timed(lambda: starts.exists() and len(starts.read_text()) >= 3):
            supervisor.watch()
        assert said == []
    finally:
        supervisor.stop()


def test_a_child_on_demand_that_fails_comes_back_and_ends_nothing() -> None:
    said: list[str] = []
    broken = child("broken", "raise SystemExit(3)")
    broken.on_demand = broken.wanted = True
    first = child("first")
    supervisor = Supervisor([broken, first], said.append)
    try:
        supervisor.start(20, lambda _: None)
        watch_until(supervisor, said, "in 2.0 s")
        assert first.running
    finally:
        supervisor.stop()


def test_tasks_that_an_ended_child_had_taken_bring_it_back() -> None:
    said: list[str] = []
    released = [0, 0, 1]
    sleeper = child("sleeper", READY.rpartition(";")[0])
    sleeper.on_demand, sleeper.queues, sleeper.wanted = True, ("graph",), True
    supervisor = Supervisor([sleeper], said.append, release=lambda _: released.pop(0) if released else 0)
    try:
        supervisor.start(20, lambda _: None)
        with timed(lambda: not released and sleeper.process is None and not sleeper.wanted):
            supervisor.watch()
        assert said == ["1 unfinished tasks of sleeper go back to their queues"]
    finally:
        supervisor.stop()


def test_a_child_that_dies_while_the_others_start_is_replaced() -> None:
    said: list[str] = []
    first, slow = child("first"), child("slow", working(4.0))
    supervisor = Supervisor([first, slow], said.append)

    def kill_it(ready: Child) -> None:
        if ready is first and not said:
            assert first.process is not None
            os.kill(first.process.pid, signal.SIGKILL)

    try:
        supervisor.start(20, kill_it)
        assert first.running
        assert any("first ended" in line for line in said)
    finally:
        supervisor.stop()


def test_a_child_that_ignores_the_request_is_killed() -> None:
    said: list[str] = []
    stubborn = child("stubborn", STUBBORN)
    supervisor = Supervisor([stubborn], said.append)
    supervisor.start(20, lambda _: None)
    supervisor.stop(patience=0.3)
    assert not stubborn.running
    assert said == ["stubborn does not end; killed"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_all(run: Callable[[], subprocess.Popen[str]], number: int) -> None:
    with run() as supervisor:
        assert supervisor.stdout is not None
        children = [int(pid) for pid in supervisor.stdout.readline().split()]
        supervisor.send_signal(number)
        assert supervisor.wait(10) == 0
    assert len(children) == 2
    assert all(until_gone(pid) for pid in children)


def test_no_child_survives_the_kill_of_its_supervisor(run: Callable[[], subprocess.Popen[str]]) -> None:
    with run() as supervisor:
        assert supervisor.stdout is not None
        children = [int(pid) for pid in supervisor.stdout.readline().split()]
        os.killpg(supervisor.pid, signal.SIGKILL)
    assert len(children) == 2
    assert all(until_gone(pid) for pid in children)


def test_the_server_is_revived_before_the_children_are_looked_after(data_dir: Path) -> None:
    said: list[str] = []
    server = PostgreSQL(data_dir, {"fsync": "off", "shared_buffers": "16MB"})
    server.start()
    supervisor = Supervisor([], said.append, server)
    try:
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        watch_until(supervisor, said, "PostgreSQL is back")
        server.connect().close()
    finally:
        supervisor.stop()
    assert not server.running


def test_a_child_that_ends_in_order_is_no_failure() -> None:
    large = Child("large", lambda words, ready: NotImplemented, started=100.0, ready=101.0, failures=6)
    assert large.plan_restart(now=110.0, code=0) == 0.5
    assert large.failures == 6
    assert large.plan_restart(now=111.0, code=-9) == 32.0
