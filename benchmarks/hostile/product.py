"""The whole product under `manage.py run` in a data directory of its own, watched from outside."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from benchmarks.hostile.api import Api

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "FEED_TICK_SECONDS": "30",
    "FEED_MIN_GAP_SECONDS": "90",
    "FRONTIER_TEND_SECONDS": "1",
    "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
    "FETCH_DEADLINE_SECONDS": "5",
    "FETCH_HOST_SPACING_SECONDS": "0.05",
    "LOG_LEVEL": "INFO",
}
_OURS = (
    "DATABASE_", "CELERY_", "CRAWL_", "FETCH_", "FRONTIER_", "PIPELINE_", "RETENTION_", "DATA_DIR", "PORT",
    "ALLOWED_HOSTS", "SECRET_KEY", "PUBLIC_URL", "BEHIND_", "DJANGO_",
)  # fmt: skip
_ADDRESS = re.compile(r"127\.\d+\.\d+\.7\b")
START_SECONDS = 300.0


class ProductError(RuntimeError):
    """The product did not come up."""


@dataclass
class Product:
    """`manage.py run`; `api` is an administrator's. Use it as a context manager."""

    keep: bool = False
    directory: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="freshet-hostile-")))
    api: Api = field(default_factory=lambda: Api(""))
    unwell: list[str] = field(default_factory=list)

    def __enter__(self) -> Product:
        self.directory.chmod(0o711)  # under root PostgreSQL runs as another user and must reach its directory
        self._port = free_port()
        self._log = self.directory / "log"
        self._stop = threading.Event()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "run"],
                cwd=ROOT, env=self._environment(), stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        try:
            self._wait_until_ready()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self._began = self._children()
        self._watch = threading.Thread(target=self._watch_health, daemon=True)
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
        if not self.keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def log(self) -> str:
        """All that it wrote."""
        return self._log.read_text(errors="replace")

    def ended(self) -> list[str]:
        """Processes that ended by themselves, in the supervisor's words."""
        found = re.findall(r"^.*\bended(?: \(|; starting).*$", self.log(), re.MULTILINE)
        gone = self._began - self._children()
        if gone and not found:
            found.append(f"{len(gone)} of {len(self._began)} processes are not there any more")
        if self._process.poll() is not None:
            found.append(f"manage.py run ended with {self._process.returncode}")
        return found

    def manage(self, *command: str) -> str:
        """Run another command of manage.py; what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT, env=self._environment(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        own = {
            "DATA_DIR": str(self.directory / "data"),
            "PORT": str(self._port),
            "PUBLIC_URL": f"http://127.0.0.1:{self._port}",
            "PYTHONUNBUFFERED": "1",
        }
        return {**kept, **SETTINGS, **own}

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while "\nready: " not in self.log():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise ProductError(f"the product does not come up:\n{self.log()[-3000:]}")
            time.sleep(0.2)
        found = re.search(r"user admin, password (\S+)", self.log())
        self.api = Api(f"http://127.0.0.1:{self._port}", self.manage("api_token", "admin").strip())
        self.api.sign_in("admin", found[1] if found else "")
        while self._health() and time.monotonic() < deadline:
            time.sleep(0.5)

    def _children(self) -> set[int]:
        pid = self._process.pid
        try:
            return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
        except OSError:
            return set()

    def _health(self) -> str:
        """Empty while `/healthz` says ok, else its words."""
        try:
            reply = self.api.request("GET", "/healthz")
        except OSError as error:
            return f"/healthz does not answer: {error}"
        return "" if reply.status == 200 else reply.body.decode("utf-8", "replace")

    def _watch_health(self) -> None:
        while not self._stop.wait(2):
            words = self._health()
            if words and not self._stop.is_set() and (not self.unwell or self.unwell[-1] != words):
                self.unwell.append(words)


def tracebacks(log: str) -> Iterator[tuple[str, set[str]]]:
    """Each traceback of a log in a line, and the hosts that it or the line before it names."""
    lines = log.splitlines()
    place = 0
    while place < len(lines):
        if "Traceback (most recent call last)" not in lines[place]:
            place += 1
            continue
        begin = place
        while place < len(lines) and not re.match(r"^\d\d:\d\d:\d\d ", lines[place]):
            place += 1
        place = max(place, begin + 1)
        block = lines[max(begin - 1, 0) : place]
        names = [
            line for line in block if re.match(r"^[\w.]+(Error|Exception|Violation|Character)?\b.*:", line)
        ]
        yield (names[-1] if names else block[-1])[:300], set(_ADDRESS.findall("\n".join(block)))


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
