"""The supervisor: children that die come back, and none outlives the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
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


def watch_until(supervisor: Supervisor, said: list[str], word: str, seconds: float = 15.0) -> None:
    """Watch until a line with this word was said; a test that waits in vain fails by its own Stop."""

    def stop(number: int, frame: object) -> None:
        if any(word in line for line in said) or time.monotonic() > deadline:
            raise Stop

    deadline = time.monotonic() + seconds
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(Stop):
            supervisor.watch()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert any(word in line for line in said), said


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


def test_what_comes_later_ends_nothing_when_it_fails(tmp_path: Path) -> None:
    """It is started when the others serve, and started again; the others go on."""
    said: list[str] = []
    broken, good = child("broken", "raise SystemExit(3)"), child("good")
    broken.later = good.later = True
    first = child("first")
    supervisor = Supervisor([broken, first, good], said.append)
    try:
        supervisor.start(20, lambda _: None)
        assert first.running and broken.process is None and good.process is None
        supervisor.start(20, lambda _: None, later=True)
        assert first.running and good.ready is not None
        assert any("broken ended" in line and "starting it again" in line for line in said), said
    finally:
        supervisor.stop()


def test_a_first_child_that_dies_while_the_others_start_is_replaced() -> None:
    said: list[str] = []
    first, slow = child("first"), child("slow", working(4.0))
    slow.later = True
    supervisor = Supervisor([first, slow], said.append)
    try:
        supervisor.start(20, lambda _: None)
        assert first.process is not None
        os.kill(first.process.pid, signal.SIGKILL)
        supervisor.start(20, lambda _: None, later=True)
        assert first.running
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
