"""Freshet as README.md starts it on many machines: one controller and two terminals, each a process.

Every process has a data directory of its own, as on a machine of its own: nothing but the broker and the
database holds them together.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from celery import Celery

ROOT = Path(__file__).resolve().parents[2]
TERMINALS = ("one", "two")
SETTINGS = {
    "SECRET_KEY": "services",
    "FEED_TICK_SECONDS": "1",
    "FEED_MIN_GAP_SECONDS": "1",
    "FETCH_HOST_SPACING_SECONDS": "0",
    "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
}


class Deployment:
    """The processes of one crawler; `directory` takes their data and what they write to stderr."""

    def __init__(self, database_url: str, broker_url: str, directory: Path, **changes: str) -> None:
        self.database_url = database_url
        self._broker_url = broker_url
        self._directory = directory
        self._settings = {**SETTINGS, **changes}
        self._workers: dict[str, subprocess.Popen[bytes]] = {}

    def manage(self, *command: str) -> str:
        """Run a command of manage.py to its end, as an administrator would; what it printed."""
        return manage(self._environment("administrator"), *command)

    @contextmanager
    def running(self) -> Iterator[None]:
        """All three workers, ready; they are killed at the end."""
        try:
            self._start("controller", "tick,store,enrich")
            for name in TERMINALS:
                self._start(name, "fetch", "--pool", "threads", "-c", "2", DATABASE_URL="none")
            for name in self._workers:
                wait_for(f"{name} to be ready", partial(self._is_ready, name), self.tell)
            yield
        finally:
            for worker in self._workers.values():
                worker.kill()
            for worker in self._workers.values():
                worker.wait(10)

    def kill(self, terminal: str) -> None:
        """SIGKILL, as the kernel does when memory is short."""
        self._workers[terminal].send_signal(signal.SIGKILL)
        self._workers[terminal].wait(10)

    def tick(self) -> None:
        """What beat sends."""
        with Celery("beat", broker=self._broker_url, set_as_current=False) as app:
            app.send_task("feeds.tasks.tick", queue="tick", expires=1, ignore_result=True)

    def tick_until(self, what: str, promise: Callable[[], bool], seconds: float = 90.0) -> None:
        """Send ticks as beat would until the promise holds."""
        last = 0.0

        def step() -> bool:
            nonlocal last
            if time.monotonic() - last >= 1.0:
                last = time.monotonic()
                self.tick()
            return promise()

        wait_for(what, step, self.tell, seconds)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database answers."""
        with psycopg.connect(self.database_url) as connection:
            return connection.execute(query.encode()).fetchall()

    def tell(self) -> str:
        """The last words of all processes, for whoever reads a failing test."""
        return "\n".join(f"--- {name}\n{self._written(name)[-2000:]}" for name in self._workers)

    def _start(self, name: str, queues: str, *options: str, **changes: str) -> None:
        command = [sys.executable, "-m", "celery", "-A", "crawler", "worker", "-l", "INFO", "-Q", queues]
        with self._log(name).open("wb") as log:
            self._workers[name] = subprocess.Popen(
                [*command, *options, "-n", f"{name}@%h"],
                cwd=ROOT,
                env=self._environment(name) | changes,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def _environment(self, name: str) -> dict[str, str]:
        mine = {
            "DATABASE_URL": self.database_url,
            "CELERY_BROKER_URL": self._broker_url,
            "DATA_DIR": str(self._directory / name),
            "FETCH_USER_AGENT": f"Freshet/{name}",
        }
        return environment(self._settings | mine)

    def _is_ready(self, name: str) -> bool:
        return " ready." in self._written(name)

    def _log(self, name: str) -> Path:
        return self._directory / f"{name}.log"

    def _written(self, name: str) -> str:
        return self._log(name).read_text(errors="replace")


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what it says of the crawler, and with these settings."""
    ours = ("DATABASE_", "CELERY_", "CRAWL_", "FETCH_", "RETENTION_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, **settings}


def manage(environment: Mapping[str, str], *command: str) -> str:
    """Run a command of manage.py to its end; what it printed."""
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wait_for(what: str, promise: Callable[[], bool], tell: Callable[[], str], seconds: float = 90.0) -> None:
    """Look ten times a second until the promise holds."""
    deadline = time.monotonic() + seconds
    while not promise():
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}\n{tell()}"
        time.sleep(0.1)


def sorted_column(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The first column, sorted."""
    return sorted(row[0] for row in rows)
