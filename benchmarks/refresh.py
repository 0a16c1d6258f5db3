"""Feeds per second of the whole way (fetch, parse, diff, store), beside lemon24/reader and newsboat.

    python benchmarks/refresh.py --feeds 1000 --items 20 [--workers 16] [--json]

Freshet runs as `make run` runs it (article pages and host spacing off) on an embedded PostgreSQL of its own;
each peer reads the same feeds from the same server in the same run: first cold, then with every answer a 304.
reader comes from PyPI into a virtual environment kept in var/benchmarks; newsboat is used where installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from benchmarks.feed_server import feed_url  # noqa: E402
from benchmarks.processes import PeakMemory  # noqa: E402

READER = """
import sys, time
from reader import make_reader
database, urls, workers = sys.argv[1], open(sys.argv[2]).read().split(), int(sys.argv[3])
reader = make_reader(database)
for url in urls:
    reader.add_feed(url, exist_ok=True)
started = time.perf_counter()
reader.update_feeds(workers=workers, scheduled=False)
seconds = time.perf_counter() - started
print(seconds, reader.get_entry_counts().total)
"""


@dataclass(frozen=True)
class Result:
    """Seconds for all feeds, cold and with 304s; articles stored; peak memory of all processes in bytes."""

    name: str
    feeds: int
    cold: float
    unchanged: float
    articles: int
    memory: int


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def feed_server(feeds: int, items: int, port: int) -> Iterator[None]:
    """The web of feeds in a process of its own."""
    command = [sys.executable, str(HERE / "feed_server.py")]
    command += [f"--feeds={feeds}", f"--items={items}", f"--port={port}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.terminate()
        process.wait()


def freshet(urls: list[str], work: Path) -> Result:
    """Freshet as `manage.py run` runs it."""
    settings = {
        "DATA_DIR": str(work / "freshet"),
        "PORT": str(free_port()),
        "DJANGO_SETTINGS_MODULE": "crawler.settings",
        "CRAWL_ARTICLE_PAGES": "no",
        "CRAWL_TICK_SECONDS": "86400",
        "CRAWL_MIN_GAP_SECONDS": "0",
        "CRAWL_HOSTS_IN_FLIGHT": "512",
        "FETCH_HOST_SPACING_SECONDS": "0",
        "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
        "LOG_LEVEL": "WARNING",
    }
    os.environ.update(settings)
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        os.environ.pop(name, None)
    command = [sys.executable, str(ROOT / "manage.py"), "run", "--no-tick"]
    with (work / "freshet.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=os.environ)
        try:
            with PeakMemory(process.pid) as memory:
                wait_for(
                    lambda: "ready:" in (work / "freshet.log").read_text(), 120, "Freshet does not start"
                )
                cold, unchanged, articles = measure(urls)
        except SystemExit:
            sys.stderr.write((work / "freshet.log").read_text()[-20_000:])
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
    return Result("freshet", len(urls), cold, unchanged, articles, memory.peak)


def measure(urls: list[str]) -> tuple[float, float, int]:
    """Seconds from message to last check-in for the first and the second visit of all feeds; articles."""
    import django  # the settings, and with them all imports below, need the running server's address

    django.setup()
    from django.db import connections

    from articles.models import Article
    from crawler.engine.models import Host
    from crawler.engine.tasks import dispatch
    from crawler.http.urls import canonical_url, host_key
    from feeds.models import Feed, Retrieval
    from feeds.selection import retrieve_now

    hosts = Host.objects.named({host_key(url) for url in urls})
    Feed.objects.bulk_create(
        [Feed(url=url, canonical_url=canonical_url(url), host_id=hosts[host_key(url)]) for url in urls]
    )

    def visit_all(outcome: str) -> float:
        before = Retrieval.objects.count()
        started = time.perf_counter()
        retrieve_now(Feed.objects.all(), "benchmark")
        dispatch.delay()
        wait_for(lambda: Retrieval.objects.count() >= before + len(urls), 120, "not all feeds came back")
        seconds = time.perf_counter() - started
        came = Retrieval.objects.filter(outcome=outcome).count()
        if came != len(urls):
            raise SystemExit(f"{came} of {len(urls)} feeds ended as {outcome}")
        return seconds

    cold, unchanged = visit_all("new"), visit_all("not-modified")
    articles = Article.objects.count()
    connections.close_all()
    return cold, unchanged, articles


def wait_for(condition: Callable[[], bool], seconds: float, complaint: str) -> None:
    """Poll ten times a second. Ends the program with the complaint after some seconds."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(complaint)
        time.sleep(0.1)


def lemon24_reader(urls: list[str], work: Path, workers: int) -> Result | None:
    """lemon24/reader, in its own virtual environment, with as many workers."""
    python = ROOT / "var" / "benchmarks" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", "--require-hashes", "-r"]
        subprocess.run([*install, str(ROOT / "requirements" / "benchmarks.txt")], check=True)
    (work / "urls").write_text("\n".join(urls))
    command = [str(python), "-c", READER, str(work / "reader.sqlite"), str(work / "urls"), str(workers)]
    (cold, articles), cold_memory = timed_child(command)
    (unchanged, _), memory = timed_child(command)
    return Result("lemon24/reader", len(urls), cold, unchanged, int(articles), max(memory, cold_memory))


def timed_child(command: list[str]) -> tuple[tuple[float, float], int]:
    """The two numbers a child prints (seconds, articles), and its peak memory."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with PeakMemory(process.pid) as memory:
        out, err = process.communicate()
    if process.returncode:
        raise SystemExit(err[-2000:])
    seconds, articles = out.split()[-2:]
    return (float(seconds), float(articles)), memory.peak


def newsboat(urls: list[str], work: Path, workers: int) -> Result | None:
    """newsboat's reload, where it is installed."""
    program = shutil.which("newsboat")
    if program is None:
        return None
    home = work / "newsboat"
    home.mkdir()
    (home / "urls").write_text("\n".join(urls) + "\n")
    (home / "config").write_text(f"reload-threads {workers}\nmax-items 0\n")
    command = [program, "-u", str(home / "urls"), "-C", str(home / "config"), "-c", str(home / "cache.db")]
    seconds, peaks = [], []
    for _ in range(2):
        started = time.perf_counter()
        process = subprocess.Popen([*command, "-x", "reload"], stdout=subprocess.DEVNULL)
        with PeakMemory(process.pid) as memory:
            process.wait()
        seconds.append(time.perf_counter() - started)
        peaks.append(memory.peak)
    with sqlite3.connect(home / "cache.db") as cache:
        articles = cache.execute("SELECT count(*) FROM rss_item").fetchone()[0]
    return Result("newsboat", len(urls), seconds[0], seconds[1], articles, max(peaks))


def table(results: list[Result]) -> str:
    """Results with the ratio to the first."""
    first = results[0]
    lines = [f"{'':16}{'cold':>22}{'304s':>22}{'articles':>10}{'peak memory':>13}"]
    for result in results:
        cold, unchanged = result.feeds / result.cold, result.feeds / result.unchanged
        lines.append(
            f"{result.name:16}{cold:8.1f} feeds/s{result.cold / first.cold:5.1f} x"
            f"{unchanged:8.1f} feeds/s{result.unchanged / first.unchanged:5.1f} x"
            f"{result.articles:10d}{result.memory / 2**20:10.0f} MB"
        )
    return "\n".join([*lines, f"x: time needed, as a multiple of {first.name}'s"])


def main() -> None:
    """Run all and print a table or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--workers", type=int, default=16, help="threads of the peers (default 16)")
    parser.add_argument("--no-peers", action="store_true", help="measure Freshet alone")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    port = free_port()
    urls = [feed_url(number, port) for number in range(args.feeds)]
    work = Path(tempfile.mkdtemp(prefix="freshet-benchmark-"))
    work.chmod(0o711)
    try:
        with feed_server(args.feeds, args.items, port):
            peers = (
                []
                if args.no_peers
                else [lemon24_reader(urls, work, args.workers), newsboat(urls, work, args.workers)]
            )
            results = [freshet(urls, work), *(peer for peer in peers if peer)]
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(json.dumps([asdict(result) for result in results], indent=1) if args.json else table(results))


if __name__ == "__main__":
    main()
