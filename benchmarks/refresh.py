"""Feeds per second of the whole way (fetch, parse, diff, store), beside lemon24/reader, newsboat and curl.

    python benchmarks/refresh.py --feeds 1000 --items 20 [--stored 100000] [--workers 16] [--json]

Freshet runs as `make run` runs it (article pages and host spacing off) on an embedded PostgreSQL of its own;
each peer reads the same feeds from the same server in the same run: first cold, then with every answer a 304.
Between the two Freshet's articles are enriched and taken into the graph, which is timed by itself. With
`--stored` all is done a second time with so many articles of other feeds read, enriched and taken into the
graph before, while a person reads a page a second; it may be a fifth slower. 100,000 take ten minutes.
reader comes from PyPI into a virtual environment kept in var/benchmarks; newsboat is used where installed.
curl only fetches: first the documents, then the 304s. Freshet's figures stand beside their goals.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from benchmarks.database import mark_disposable, product_database_url  # noqa: E402
from benchmarks.feed_server import feed_url  # noqa: E402
from benchmarks.goals import Goal  # noqa: E402
from benchmarks.people import Readers, readers_of  # noqa: E402
from benchmarks.processes import PeakMemory, family, processor_seconds  # noqa: E402

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


Beside = Callable[[], Callable[[], object]]
"""Begins something, and returns a function that ends it."""


@dataclass(frozen=True)
class Result:
    """Seconds for all feeds, cold and with 304s; articles stored; peak memory of all processes in bytes.

    `settled` is how many seconds after the cold run all was enriched and in the graph, None for peers;
    `processors` the processor seconds of all processes for the 304s, 0 for peers; `quads` what the graph held
    before the cold run.
    """

    name: str
    feeds: int
    cold: float
    unchanged: float
    articles: int
    memory: int
    settled: float | None = None
    processors: float = 0.0
    quads: int = 0


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def feed_server(feeds: int, items: int, port: int) -> Iterator[None]:
    """The web of feeds in a separate process."""
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


def freshet(
    urls: list[str], stored: list[str], work: Path, beside: Beside | None = None, *, only_cold: bool = False
) -> Result:
    """Freshet as `manage.py run` runs it.

    `beside` begins what shall go on beside the visits, and returns a function that ends it. With `only_cold`
    nothing but the first visit of all feeds is measured.
    """
    settings = {
        "DATA_DIR": str(work / "freshet"),
        "PORT": str(free_port()),
        "DJANGO_SETTINGS_MODULE": "crawler.settings",
        "FEED_ARTICLE_PAGES": "no",
        "FEED_TICK_SECONDS": "86400",
        "FEED_MIN_GAP_SECONDS": "0",
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
                mark_disposable(product_database_url(work / "freshet"))
                cold, settled, unchanged, articles, processors, quads = measure(
                    process.pid, urls, stored, beside, only_cold=only_cold
                )
        except SystemExit:
            sys.stderr.write((work / "freshet.log").read_text()[-20_000:])
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
    return Result("freshet", len(urls), cold, unchanged, articles, memory.peak, settled, processors, quads)


def measure(
    product: int,
    urls: list[str],
    stored: list[str],
    beside: Beside | None = None,
    *,
    only_cold: bool = False,
) -> tuple[float, float, float, int, float, int]:
    """Seconds from message to last check-in for the first and the second visit of all feeds; articles.

    Between the two, the seconds after the first until all is enriched and in the graph; at the end the
    processor seconds of the second visit, and the quads before the first. Feeds of `stored` are read before
    all that.
    """
    import django  # the settings, and with them all imports below, need the running server's address

    django.setup()
    from django.db import connections

    from articles.models import Article
    from crawler.engine.models import Host
    from crawler.engine.tasks import dispatch
    from crawler.fetching.http.urls import canonical_url, host_key
    from feeds.models import Feed, Retrieval
    from feeds.visiting.selection import retrieve_now

    def add(some: list[str]) -> list[int]:
        hosts = Host.objects.named({host_key(url) for url in some})
        rows = [Feed(url=url, canonical_url=canonical_url(url), host_id=hosts[host_key(url)]) for url in some]
        return [feed.pk for feed in Feed.objects.bulk_create(rows)]

    def visit_all(feeds: list[int], outcome: str, patience: float = 120) -> float:
        with Arrivals() as arrivals:
            started = time.perf_counter()
            retrieve_now(Feed.objects.filter(pk__in=feeds), "benchmark")
            dispatch.delay()
            if not arrivals.come(len(feeds), patience):
                raise SystemExit("not all feeds came back")
            seconds = time.perf_counter() - started
        came = Retrieval.objects.filter(feed__in=feeds, outcome=outcome).count()
        if came != len(feeds):
            raise SystemExit(f"{came} of {len(feeds)} feeds ended as {outcome}")
        return seconds

    if stored:
        visit_all(add(stored), "new", 1800)
        settle(7200)
    before, quads = Article.objects.count(), quads_stored()
    feeds = add(urls)
    end = beside() if beside else do_nothing
    cold = visit_all(feeds, "new", 600)
    articles = Article.objects.count() - before
    if only_cold:
        end()
        return cold, 0.0, 0.0, articles, 0.0, quads
    settled = settle(1800)
    time.sleep(5)
    processors = processor_seconds(family(product))
    unchanged = visit_all(feeds, "not-modified")
    processors = processor_seconds(family(product)) - processors
    end()
    connections.close_all()
    return cold, settled, unchanged, articles, processors, quads


def settle(patience: float) -> float:
    """Wait until every article is enriched and in the graph. Returns the seconds."""
    from articles.enrichment.models import Enrichment
    from articles.models import Article
    from crawler.pipeline.documents import WAITING_FOR
    from crawler.pipeline.models import Document

    articles = Article.objects.count()

    def through() -> bool:
        return (
            Enrichment.objects.exclude(state=Enrichment.State.WAITING).count() >= articles
            and not Document.objects.filter(state__in=WAITING_FOR.values()).exists()
        )

    started = time.perf_counter()
    wait_for(through, patience, "not all was enriched and in the graph", every=1.0)
    return time.perf_counter() - started


def quads_stored() -> int:
    """Return the number of quads in the graph."""
    from django.db.models import Sum

    from crawler.pipeline.models import Document

    return Document.objects.aggregate(quads=Sum("quads"))["quads"] or 0


def do_nothing() -> None:
    """End what was not begun."""


class Arrivals:
    """Hears of retrievals as they are stored: a trigger says how many, so nobody has to count them."""

    def __init__(self) -> None:
        import psycopg
        from django.conf import settings

        self._connection = psycopg.connect(settings.DATABASE_URL, autocommit=True)
        self._connection.execute("""
            CREATE OR REPLACE FUNCTION benchmark_arrived() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              -- Equal words of one transaction are said once: the smallest id makes each its own.
              PERFORM pg_notify('benchmark_arrived', format('%s %s', count(*), min(id))) FROM arrived;
              RETURN NULL;
            END $$
        """)
        self._connection.execute("""
            CREATE OR REPLACE TRIGGER benchmark_arrived AFTER INSERT ON feeds_retrieval
            REFERENCING NEW TABLE AS arrived FOR EACH STATEMENT EXECUTE FUNCTION benchmark_arrived()
        """)
        self._connection.execute("LISTEN benchmark_arrived")

    def __enter__(self) -> Arrivals:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def come(self, number: int, seconds: float) -> bool:
        """Whether so many were stored within so many seconds."""
        came, until = 0, time.monotonic() + seconds
        while came < number and time.monotonic() < until:
            for word in self._connection.notifies(timeout=until - time.monotonic(), stop_after=1):
                came += int(word.payload.split()[0])
        return came >= number


def wait_for(condition: Callable[[], bool], seconds: float, complaint: str, every: float = 0.1) -> None:
    """Look again and again. Ends the program with the complaint after some seconds."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(complaint)
        time.sleep(every)


def in_own_process(work: Callable[..., Any], *arguments: object) -> Any:
    """Call a function in a separate process: Django knows one database."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(work, *arguments).result()


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


def curl(urls: list[str], work: Path, workers: int) -> Result | None:
    """curl with so many transfers at once, first without and then with the validator of each feed."""
    program = shutil.which("curl")
    if program is None:
        return None
    seconds, headers = [], ["" for _ in urls]
    for _ in range(2):
        requests = [
            f'url = "{url}"\n{header}dump-header = "{work}/head{number}"\noutput = "/dev/null"\n'
            for number, (url, header) in enumerate(zip(urls, headers, strict=True))
        ]
        (work / "curl").write_text("next\n".join(requests))
        command = [program, "--silent", "--parallel", "--parallel-max", str(workers)]
        command += ["--config", str(work / "curl")]
        started = time.perf_counter()
        subprocess.run(command, check=True)
        seconds.append(time.perf_counter() - started)
        heads = [(work / f"head{number}").read_text() for number in range(len(urls))]
        tags = [re.search(r'^ETag: (".*?")', head, re.MULTILINE | re.IGNORECASE) for head in heads]
        words = [tag[1].replace('"', '\\"') if tag else "" for tag in tags]
        headers = [f'header = "If-None-Match: {word}"\n' for word in words]
    if not all(" 304 " in head.partition("\n")[0] for head in heads):
        raise SystemExit("curl did not get a 304 of every feed")
    return Result("curl", len(urls), seconds[0], seconds[1], 0, 0)


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
    lines.append(f"x: time needed, as a multiple of {first.name}'s")
    return "\n".join(lines)


def compare_with_much_stored(urls: list[str], stored: list[str], work: Path, empty: Result) -> list[Goal]:
    """Read all feeds with much stored and a person reading, and compare with the run with nothing stored."""
    person: list[Readers] = []

    def begin() -> Callable[[], None]:
        person.append(readers_of(work / "freshet.log", 1))
        person[0].start()
        return person[0].stop

    result = freshet(urls, stored, work, begin)
    (reader,) = person
    rows = [
        Goal("cold, as fast as with nothing stored", empty.cold / result.cold, 0.8, "x"),
        Goal("304s, as fast as with nothing stored", empty.unchanged / result.unchanged, 0.8, "x"),
        Goal("processor time of a 304, of that", result.processors / empty.processors, 1.2, "x", most=True),
        Goal("a page of the person, p95", reader.percentile(0.95), 100, "ms", most=True),
    ]
    if reader.failures:
        raise SystemExit("\n".join(reader.failures[:5]))
    return [Goal("quads stored before", result.quads, 1_000_000), *rows]


def goals(results: list[Result]) -> list[Goal]:
    """What the first result shall be, beside the others of the same run."""
    first = results[0]
    faster = {"newsboat": (2.5, None), "lemon24/reader": (3.5, None), "curl": (None, 0.8)}
    rows = []
    for peer in results[1:]:
        cold, unchanged = faster[peer.name]
        if cold:
            rows.append(Goal(f"cold, as fast as {peer.name}", peer.cold / first.cold, cold, "x"))
        if unchanged:
            ratio = peer.unchanged / first.unchanged
            rows.append(Goal(f"304s, as fast as {peer.name}", ratio, unchanged, "x"))
    if first.processors:
        milliseconds = 1000 * first.processors / first.feeds
        rows.append(Goal("processor time of a 304", milliseconds, 1.0, "ms", most=True))
    if first.settled is not None:
        rows.append(Goal("enriched and in the graph after the cold run", first.settled, 60, "s", most=True))
    return [*rows, Goal("peak memory", first.memory / 2**20, 500, "MB", most=True)]


def main() -> None:
    """Run all and print a table or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--stored", type=int, default=0, help="articles of other feeds, read before (0)")
    parser.add_argument("--workers", type=int, default=16, help="threads of the peers (default 16)")
    parser.add_argument("--no-peers", action="store_true", help="measure Freshet alone")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    port = free_port()
    others = -(-args.stored // args.items)
    urls = [feed_url(number, port) for number in range(args.feeds)]
    stored = [feed_url(args.feeds + number, port) for number in range(others)]
    work = Path(tempfile.mkdtemp(prefix="freshet-benchmark-"))
    work.chmod(0o711)
    rows: list[Goal] = []
    try:
        with feed_server(args.feeds + others, args.items, port):
            peers = (
                []
                if args.no_peers
                else [peer(urls, work, args.workers) for peer in (lemon24_reader, newsboat, curl)]
            )
            results = [in_own_process(freshet, urls, [], work), *(peer for peer in peers if peer)]
            if stored:
                (work / "stored").mkdir(mode=0o711)
                rows = in_own_process(compare_with_much_stored, urls, stored, work / "stored", results[0])
    finally:
        shutil.rmtree(work, ignore_errors=True)
    rows = [*goals(results), *rows]
    if args.json:
        reached = [{**asdict(one), "reached": one.reached} for one in rows]
        print(json.dumps({"results": [asdict(one) for one in results], "goals": reached}, indent=1))
    else:
        print(table(results))
        print(*rows, sep="\n")


if __name__ == "__main__":
    main()
