"""`manage.py run` as people use it: everything comes up, does work, and one signal ends it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from crawler.postgresql.credentials import Credentials
from crawler.postgresql.postgresql import running_postmaster
from tests.servers import Reply, WebServer

DAC_OVERRIDE = 1 << 1
FEED = b"<rss version='2.0'><channel><title>T</title><item><title>news</title></item></channel></rss>"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(home: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The command, ready, with the lines it wrote until then; its whole group is killed at the end."""
    given = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    known = {
        **given,
        "DATA_DIR": str(home),
        "FEED_TICK_SECONDS": "1234",
        "PYTHONUNBUFFERED": "1",
        **variables,
    }
    command = [sys.executable, "manage.py", "run", "--no-tick"]
    with subprocess.Popen(
        command,
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []
        try:
            for line in process.stdout:
                lines.append(line)
                if line.startswith("ready:"):
                    break
            yield process, lines
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def by_name(pid: int) -> dict[str, int]:
    """The process's children and theirs, but for those of PostgreSQL."""
    found = {name_of(child): child for child in children(pid)}
    server = next(child for child in children(pid) if b"fork_server" in cmdline(child))
    return {**found, **{name_of(child): child for child in children(server)}, "server": server}


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def remembers(pid: int, secret: bytes) -> bool:
    """Whether the secret is anywhere in the process's memory."""
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            area, rights, *_ = line.split()
            start, end = (int(number, 16) for number in area.split("-"))
            if rights.startswith("rw") and "[v" not in line:
                memory.seek(start)
                if secret in memory.read(end - start):
                    return True
    return False


def ticks(home: Path) -> list[tuple[str, int]]:
    known = Credentials.read(home)
    assert known is not None
    query = (
        "SELECT task.name, interval.every FROM django_celery_beat_periodictask AS task"
        " JOIN django_celery_beat_intervalschedule AS interval ON interval.id = task.interval_id"
    )
    with psycopg.connect(known.database_url) as connection:
        return connection.execute(query).fetchall()


def test_it_comes_up_tells_each_step_and_ends_at_one_signal(home: Path) -> None:
    port = free_port()
    with running(home, PORT=str(port)) as (process, lines):
        said = "".join(lines)
        steps = [m[2] for line in lines if (m := re.match(r"(\d+)\. (.+?): .*\(\d+\.\d s\)", line))]
        assert steps[:5] == ["PostgreSQL", "broker", "migrations", "administrator", "static files"], said
        assert set(steps[5:]) == {"web", "controller", "terminal"}
        assert "user admin, password " in said
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/static/hello.txt", timeout=5) as answer:
            assert answer.read() == b"hello"
        assert until(lambda: sorted(ticks(home)) == [("tend", 5), ("tick", 1234)])
        assert not {"transformer", "graph"} & by_name(process.pid).keys(), "which have no work"
        send_tasks(home)
        assert until(lambda: "transformer" in by_name(process.pid) and (home / "sparql").exists())
        time.sleep(2.0)  # they know what they will know

        found = by_name(process.pid)
        known = Credentials.read(home)
        assert known is not None
        for hostile in ("terminal", "transformer", "server"):
            environment = Path(f"/proc/{found[hostile]}/environ").read_bytes().split(b"\0")
            assert b"DATABASE_URL=none" in environment
            for secret in (own_secret(home), known.freshet.encode(), known.superuser.encode()):
                assert secret not in b"".join(environment)
                assert not remembers(found[hostile], secret), hostile
            assert capabilities(found[hostile]) in {0, DAC_OVERRIDE}
        assert remembers(found["terminal"], known.broker.encode())
        assert not remembers(found["server"], known.broker.encode()), "of which readers are forked"
        assert remembers(found["controller"], known.freshet.encode())
        for private in ("sparql", "hosts", "scratch"):
            assert (home / private).stat().st_mode & 0o077 == 0, private
        assert (home / "postgresql.log").stat().st_mode & 0o777 == 0o600

        time.sleep(3.0)  # idle: the first tasks are done
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[0]
        assert process.returncode == 0, rest
        assert "does not end" not in rest
    assert running_postmaster(home / "postgresql") is None


def until(happened: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether something happens in time."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def send_tasks(home: Path) -> None:
    """Send a task without any work to the transformer and to the graph."""
    environment = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    code = "from crawler.pipeline.tasks import detect, index; detect.delay(''); index.delay('0' * 32)"
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", code]
    subprocess.run(command, env={**environment, "DATA_DIR": str(home)}, check=True)


def own_secret(home: Path) -> bytes:
    return (home / "secret_key").read_bytes().strip()


def capabilities(pid: int) -> int:
    """Rights of root that a process has, or may get."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^CapPrm:\s*(\w+)", status, re.M)[1], 16) if status else 0  # type: ignore[index]


def cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def descendants(pid: int) -> set[int]:
    """The process ids of all that a process has started, directly or not."""
    try:
        found = set(children(pid))
    except OSError:
        return set()
    return found.union(*(descendants(child) for child in found))


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_of_two_starts_at_the_same_moment_one_runs_and_the_other_says_so(home: Path) -> None:
    """Issue 56: on a fresh data directory both ended."""
    environment = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    starts = [
        subprocess.Popen(
            [sys.executable, "manage.py", "run", "--no-tick"],
            env={**environment, "DATA_DIR": str(home), "PORT": str(free_port())},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        for _ in range(2)
    ]
    try:
        ended: list[str] = []
        ready = 0
        for start in starts:
            assert start.stdout is not None
            said: list[str] = []
            for line in start.stdout:
                said.append(line)
                if line.startswith("ready:"):
                    ready += 1
                    break
            else:
                ended.append("".join(said))
        assert ready == 1, ended
        assert [text for text in ended if "another Freshet is running" in text and "Traceback" not in text]
    finally:
        for start in starts:
            start.send_signal(signal.SIGINT)
        for start in starts:
            start.communicate(timeout=30)


def test_folders_that_are_deleted_are_made_again_and_health_tells(migrated_home: Path) -> None:
    """Issue 56: without the folder of locks nothing was fetched, and each feed was told it was malformed."""
    home = migrated_home
    port = free_port()
    with WebServer({"/feed.xml": Reply(FEED, headers={"Content-Type": "application/rss+xml"})}) as site:
        settings = {"FETCH_ALLOWED_NETWORKS": "127.0.0.0/8", "FETCH_HOST_SPACING_SECONDS": "0"}
        with running(home, PORT=str(port), **settings):
            assert health(port)["folder"] == "ok"
            for name in ("hosts", "scratch"):
                shutil.rmtree(home / name)
            assert "is gone" in health(port)["folder"]
            known = {**os.environ, "DATA_DIR": str(home), **settings}
            for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
                known.pop(name, None)
            command = [sys.executable, "manage.py", "add_feeds", site.origin + "/feed.xml", "--wait", "0"]
            subprocess.run(command, env=known, capture_output=True, check=True, timeout=90)
            ends = time.monotonic() + 60
            while "/feed.xml" not in site.paths:
                assert time.monotonic() < ends, "not visited"
                time.sleep(0.2)
            assert (home / "hosts").is_dir()
            assert health(port)["folder"] == "ok"


def health(port: int) -> dict[str, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
            return json.load(answer)  # type: ignore[no-any-return]
    except urllib.error.HTTPError as error:
        return json.load(error)  # type: ignore[no-any-return]


def test_no_process_outlives_a_supervisor_that_was_killed(migrated_home: Path) -> None:
    for _ in range(2):
        with running(migrated_home, PORT=str(free_port())) as (process, _):
            started = descendants(process.pid)
            assert len(started) > 8
            process.kill()
            deadline = time.monotonic() + 5
            while (left := {pid for pid in started if alive(pid)}) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert not left, [cmdline(pid) for pid in left]
    with running(migrated_home, PORT=str(free_port())) as (process, lines):
        assert lines[-1].startswith("ready:")


def test_a_taken_port_is_told_before_anything_starts(home: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with running(home, PORT=str(other.getsockname()[1])) as (process, lines):
            assert process.wait(20) == 1
    assert "is taken: end what uses it, or set PORT" in "".join(lines)
    assert not (home / "postgresql").exists()
