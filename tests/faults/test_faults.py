"""What goes wrong on a machine, done to a running Freshet: nothing is lost, and it goes on by itself."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.postgresql.postgresql import running_postmaster

pytestmark = pytest.mark.faults
ROOT = Path(__file__).parents[2]
MEGABYTE = 1024**2
DISK = 400 * MEGABYTE


class Feed:
    """A feed on a local server, with as many entries as it has been given."""

    def __init__(self) -> None:
        self.entries = 0

    def __str__(self) -> str:
        items = "".join(
            f"<item><title>news {number}</title><guid>{number}</guid></item>"
            for number in range(self.entries)
        )
        return f"<rss version='2.0'><channel><title>T</title>{items}</channel></rss>"


class Product:
    """A Freshet that runs on a disk of its own, and its feed."""

    def __init__(self, home: Path, feed: Feed, feed_address: str, **settings: str) -> None:
        self.home, self.feed, self.feed_address = home, feed, feed_address
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = int(listener.getsockname()[1])
        self.log = home.parent / "run.log"
        known = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = {
            **known, "DATA_DIR": str(home), "PORT": str(self.port), "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
            "FEED_TICK_SECONDS": "5", "FEED_MIN_GAP_SECONDS": "0", "FETCH_HOST_SPACING_SECONDS": "0",
            "CRAWL_LEASE_SLACK_SECONDS": "5", "FETCH_DEADLINE_SECONDS": "5",
            **settings,
        }  # fmt: skip
        self.token = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        earlier = self.log.read_text().count("ready:") if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run"], cwd=ROOT, env=self.environment, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        wait(lambda: self.log.read_text().count("ready:") > earlier, 120, self.log)
        self.token = self.command("api_token", "admin").split()[-1]
        self.command("add_feeds", self.feed_address, "--wait", "0")

    def command(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=self.environment, check=True,
            capture_output=True, text=True, timeout=60,
        ).stdout  # fmt: skip

    def get(self, path: str, *, post: bool = False) -> tuple[int, Any]:
        """Return status and JSON of an answer; 0 where none came."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=b"{}" if post else None,
            headers={"Authorization": f"Token {self.token}", "Content-Type": "application/json"},
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            content = error.read()
            return error.code, json.loads(content) if content.startswith(b"{") else {}
        except (OSError, ValueError):
            return 0, {}

    def brings_news(self) -> bool:
        """Ask for a visit of the feed, and return whether all that it ever gave is there, each once."""
        _, feeds = self.get("/api/feeds/")
        for row in feeds.get("results", []):
            self.get(f"/api/feeds/{row['id']}/retrieve-now/", post=True)
        _, articles = self.get("/api/articles/?page_size=100")
        titles = sorted(row["title"] for row in articles.get("results", []))
        return titles == sorted(f"news {number}" for number in range(self.feed.entries))

    def goes_on(self, seconds: float) -> None:
        """Publish an entry more, and wait until it and all others are there."""
        self.feed.entries += 1
        wait(self.brings_news, seconds, self.log)

    def tree(self) -> list[int]:
        """Return the processes, the parents first."""
        assert self.process is not None
        pids = [self.process.pid]
        for pid in pids:
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                pids += [int(child) for child in task.read_text().split()]
        return pids


def wait(is_done: Callable[[], bool], seconds: float, log: Path) -> None:
    ends = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < ends, log.read_text()[-4000:]
        time.sleep(0.5)


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    """A running Freshet on a small disk in memory, where this machine lets us make one."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-faults-"))
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=755", "tmpfs", str(home)]
    is_mounted = (
        os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )
    feed = Feed()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = str(feed).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/rss+xml")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made = Product(home, feed, f"http://127.0.0.1:{server.server_port}/feed.xml")
        try:
            made.start()
            made.goes_on(60)
            yield made
        finally:
            if made.process is not None:
                made.process.send_signal(signal.SIGINT)
                try:
                    made.process.wait(30)
                except subprocess.TimeoutExpired:
                    os.killpg(made.process.pid, signal.SIGKILL)
            server.shutdown()
            if is_mounted:
                subprocess.run(["umount", "-l", str(home)], check=False)
            shutil.rmtree(folder, ignore_errors=True)


def test_the_database_is_restarted(product: Product) -> None:
    postmaster = running_postmaster(product.home / "postgresql")
    assert postmaster is not None
    os.kill(postmaster, signal.SIGKILL)
    product.goes_on(90)
    wait(lambda: product.get("/healthz")[0] == 200, 90, product.log)


def test_every_process_stands_still_for_a_minute(product: Product) -> None:
    pids = product.tree()
    assert len(pids) > 10
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(65)  # a paused container: alarms of the processes went off meanwhile (issue 56)
    for pid in reversed(pids):
        os.kill(pid, signal.SIGCONT)
    product.goes_on(90)
    wait(lambda: product.get("/healthz")[0] == 200, 90, product.log)


def test_the_disk_is_full(product: Product) -> None:
    if not os.path.ismount(product.home):
        pytest.skip("no disk of its own can be made here: it takes root and mount")
    filler = product.home / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(MEGABYTE))
        except OSError:
            pass
    try:
        product.feed.entries += 1
        product.brings_news()  # asks for a visit, whose result may or may not find room
        time.sleep(20)
        doctor = subprocess.run(
            [sys.executable, "manage.py", "doctor"], cwd=ROOT, env=product.environment, check=False,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert doctor.returncode == 2
        assert "free space" in doctor.stdout or "No space left" in doctor.stdout
    finally:
        filler.unlink()
    product.goes_on(120)
    wait(lambda: product.get("/healthz")[0] == 200, 90, product.log)


def test_names_are_not_found_any_more(product: Product) -> None:
    """A feed whose name cannot be looked up fails by name; its neighbour goes on."""
    product.command("add_feeds", "http://nowhere.invalid/feed.xml", "--wait", "0")

    def is_named() -> bool:
        rows = product.get("/api/feeds/")[1].get("results", [])
        for row in rows:
            product.get(f"/api/feeds/{row['id']}/retrieve-now/", post=True)
        return any("invalid" in row["url"] and "dns" in json.dumps(row).lower() for row in rows)

    wait(is_named, 60, product.log)
    product.goes_on(60)


def test_a_read_only_disk_is_named_before_anything_starts(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root mounts")
    home = tmp_path / "home"
    home.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", str(home)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        known = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        ended = subprocess.run(
            [sys.executable, "manage.py", "run"], cwd=ROOT, env={**known, "DATA_DIR": str(home / "data")},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert ended.returncode == 1
        assert "Traceback" not in ended.stderr
        assert "read-only" in ended.stderr.lower() or "cannot be" in ended.stderr.lower()
    finally:
        subprocess.run(["umount", str(home)], check=True)
