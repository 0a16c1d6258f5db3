"""README says how to run on many machines: its commands as they are written, with Redis and with RabbitMQ."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import WebServer
from tests.services.conftest import ENTRIES
from tests.services.deployment import ROOT, SETTINGS, environment, wait_for

pytestmark = pytest.mark.services
PARTS = 10


def commands() -> tuple[list[str], list[str]]:
    """The two blocks of "On many machines": what is done once, and what then runs for ever."""
    section = (ROOT / "README.md").read_text().split("## On many machines")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^    .+\n)+", section, re.MULTILINE)
    once, running = ([line.partition("#")[0].strip() for line in block.splitlines()] for block in blocks)
    return once, running


class Readme:
    """The parts as they were started, each in a shell of its own, with what they wrote."""

    def __init__(self, directory: Path, settings: dict[str, str]) -> None:
        self.directory = directory
        venv = str(ROOT / ".venv" / "bin")
        self.known = environment(settings) | {"PATH": f"{venv}:{os.environ['PATH']}"}
        self.parts: dict[str, subprocess.Popen[bytes]] = {}

    def do(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, env=self.known, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, command: str) -> None:
        with (self.directory / f"{len(self.parts)}.log").open("wb") as log:
            self.parts[command] = subprocess.Popen(
                ["bash", "-c", f"exec env {command}"],
                cwd=ROOT,
                env=self.known,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def ended(self) -> list[str]:
        return [command for command, part in self.parts.items() if part.poll() is not None]

    def said(self) -> str:
        logs = sorted(self.directory.glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)

    def answers(self) -> bool:
        url = f"http://127.0.0.1:{self.known['PORT']}/accounts/login/"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def end(self) -> None:
        for part in self.parts.values():
            with_its_own(part, signal.SIGTERM)
        deadline = time.monotonic() + 20
        for part in self.parts.values():
            try:
                part.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                with_its_own(part, signal.SIGKILL)
                part.wait()


def with_its_own(part: subprocess.Popen[bytes], number: int) -> None:
    """A signal for a part; the last one for its children, too."""
    if part.poll() is None:
        os.killpg(part.pid, number) if number == signal.SIGKILL else part.send_signal(number)


@contextmanager
def running(readme: Readme, lines: list[str]) -> Iterator[None]:
    try:
        for line in lines:
            readme.start(line)
        yield
    finally:
        readme.end()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_what_readme_says_works_as_it_is_written(
    empty_database: str, broker_url: str, rows: Callable[[str, str], list[tuple[object, ...]]],
    sites: list[WebServer], tmp_path: Path,
) -> None:  # fmt: skip
    once, lines = commands()
    assert len(lines) == PARTS
    settings = SETTINGS | {
        "DATABASE_URL": empty_database,
        "CELERY_BROKER_URL": broker_url,
        "PORT": str(free_port()),
        "DATA_DIR": str(tmp_path / "data"),
        # createsuperuser asks for these, or takes them from here.
        "DJANGO_SUPERUSER_USERNAME": "admin",
        "DJANGO_SUPERUSER_PASSWORD": "a password of the test",
        "DJANGO_SUPERUSER_EMAIL": "admin@example.org",
    }
    readme = Readme(tmp_path, settings)
    for command in once:
        readme.do(f"{command} --noinput" if command.endswith("createsuperuser") else command)
    with running(readme, lines):
        wait_for("the web page", readme.answers, readme.said, 90)
        readme.do(f"python manage.py add_feeds --wait 0 {sites[0].origin}/feed")
        stored = "SELECT count(*) FROM articles_article WHERE text <> ''"
        wait_for("its articles", lambda: rows(empty_database, stored) == [(ENTRIES,)], readme.said, 90)
        enriched = "SELECT count(*) FROM enrichment_enrichment WHERE state = 'done'"
        wait_for("keywords", lambda: rows(empty_database, enriched) == [(ENTRIES,)], readme.said, 60)
        graph = "SELECT count(*) > 0 FROM pipeline_document WHERE state = 'done'"
        wait_for("the graph", lambda: rows(empty_database, graph) == [(True,)], readme.said, 60)
        assert readme.ended() == [], readme.said()
    assert "RESOURCE_LOCKED" not in readme.said()
    assert "DuplicateNodename" not in readme.said()
