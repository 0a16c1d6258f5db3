"""What the running product costs while it has little to do: start, stop, memory, processes, idle CPU, writes.

    python benchmarks/footprint.py [--seconds 60] [--feeds 224] [--json]

Starts it twice as `make run` does, in a new directory with a PostgreSQL of its own: with nothing in it, then
with feeds that were read, enriched and taken into the graph and now wait for their next tick. The figures are
from /proc (Linux). Each stands beside its goal; quiet machines only, for the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

import psycopg  # noqa: E402

from benchmarks.feed_server import feed_url  # noqa: E402
from benchmarks.processes import family, is_postgresql, memory, processor_seconds, written  # noqa: E402
from benchmarks.refresh import feed_server, free_port  # noqa: E402
from crawler.postgresql.credentials import HOST, Credentials  # noqa: E402

ITEMS = 20
SETTLE_SECONDS = 150.0
"""After a start: caches fill, the first looks are over, and processes without work have ended."""
MAINTENANCE_SECONDS = 240.0
"""Then PostgreSQL has looked once over tables that were just filled, which it does once a minute."""
QUESTIONS = 20


@dataclass(frozen=True)
class Figure:
    """One measurement: what, how much, its unit, and at most how much it shall be (None: no goal)."""

    what: str
    value: float
    unit: str
    goal: float | None = None

    @property
    def reached(self) -> bool | None:
        return None if self.goal is None else self.value <= self.goal


class Product:
    """`manage.py run` in a directory of its own; `start` and `stop` give seconds."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.port = free_port()
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in _CONNECTIONS},
            "DATA_DIR": str(work / "data"),
            "PORT": str(self.port),
            "DJANGO_SETTINGS_MODULE": "crawler.settings",
            "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
            "FETCH_HOST_SPACING_SECONDS": "0",
            "FEED_ARTICLE_PAGES": "no",
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.group: Path | None = None
        """The control group to start in, if there is one."""

    def start(self) -> float:
        """Seconds until it says that all is ready."""
        log = self.work / "log"
        log.write_bytes(b"")
        began = time.monotonic()
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [*_in_group(self.group), sys.executable, str(ROOT / "manage.py"), "run"],
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self.environment,
            )
        wait_for(lambda: "ready:" in log.read_text(), 300, "it does not start", 0.02)
        return time.monotonic() - began

    def stop(self) -> float:
        """Seconds from the signal to the end of the last process."""
        if self.process is None:
            return 0.0
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.process = None
        return time.monotonic() - began

    def tree(self) -> set[int]:
        """Process ids of all that it started."""
        assert self.process is not None
        return family(self.process.pid)

    def sql(self, statement: str, database: str = "postgres") -> Any:
        """The first value that its PostgreSQL answers to the superuser, None if there is none."""
        known = Credentials.read(self.work / "data")
        assert known is not None
        with psycopg.connect(
            host=HOST,
            port=known.port,
            dbname=database,
            user="postgres",
            password=known.superuser,
            autocommit=True,
        ) as connection:
            cursor = connection.execute(statement)
            return (cursor.fetchone() or [None])[0] if cursor.description else None

    def manage(self, *arguments: str, given: str = "") -> str:
        """What a command of manage.py prints, run beside the product."""
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        run = subprocess.run(
            command, input=given, env=self.environment, capture_output=True, text=True, check=False
        )
        if run.returncode:
            raise SystemExit(f"{' '.join(arguments[:1])}: {run.stderr[-2000:]}")
        return run.stdout


_CONNECTIONS = ("DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY")


def wait_for(condition: Callable[[], bool], seconds: float, complaint: str, every: float) -> None:
    """Look again and again. Ends the program with the complaint after some seconds."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(complaint)
        time.sleep(every)


@dataclass(frozen=True)
class Idleness:
    """Processor time in % of a core and MB written per minute while nobody asks; both by process, too.

    The kernel counts a whole megabyte as written where PostgreSQL changed a page of it; `wal` has the MB per
    minute that its log grew by.
    """

    share: float
    writes: float
    wal: float
    shares: dict[str, float]
    writers: dict[str, float]


def idle(product: Product, seconds: float) -> Idleness:
    """Measure for so long.

    Time and writes of processes that ended meanwhile are in their parents' once these have waited for them.
    """
    # What was changed up to now is written: idleness is not to answer for it.
    product.sql("CHECKPOINT")
    time.sleep(5)
    log = product.sql("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
    before = {process: (processor_seconds({process}), written({process})) for process in product.tree()}
    began = time.monotonic()
    time.sleep(seconds)
    after = product.tree()
    used = {process: (processor_seconds({process}), written({process})) for process in after}
    minutes = (time.monotonic() - began) / 60
    wal = float(product.sql("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn") - log) / 2**20 / minutes
    shares: dict[str, float] = {}
    writers: dict[str, float] = {}
    for process, (time_used, bytes_written) in used.items():
        name, (time_before, bytes_before) = _name(process), before.get(process, (0.0, 0))
        shares[name] = shares.get(name, 0.0) + 100 * (time_used - time_before) / 60 / minutes
        writers[name] = writers.get(name, 0.0) + (bytes_written - bytes_before) / 2**20 / minutes
    # What one had used before it ended is in its parent's sum now, too.
    ended = [before[process] for process in before if process not in used]
    share = sum(shares.values()) - 100 * sum(time_used for time_used, _ in ended) / 60 / minutes
    writes = sum(writers.values()) - sum(bytes_written for _, bytes_written in ended) / 2**20 / minutes
    return Idleness(max(share, 0.0), max(writes, 0.0), wal, shares, writers)


def _name(process: int) -> str:
    try:
        line = Path(f"/proc/{process}/cmdline").read_bytes().replace(bytes(1), b" ")
    except OSError:
        return "ended"
    words = line.decode(errors="replace").split()
    if words and words[0].startswith("postgres:"):
        return " ".join(words[:4])
    return " ".join(Path(word).name for word in words if not word.startswith("-"))[:60]


def ask(product: Product) -> float:
    """Median milliseconds of `ASK {}` over SPARQL, as the administrator."""
    token = product.manage("api_token", "admin").split()[-1]
    address = f"http://127.0.0.1:{product.port}/graph/sparql?" + urllib.parse.urlencode({"query": "ASK {}"})
    request = urllib.request.Request(address, headers={"Authorization": f"Token {token}"})
    took = []
    for _ in range(QUESTIONS):
        began = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            answer.read()
        took.append(time.perf_counter() - began)
    return 1000 * sorted(took)[len(took) // 2]


def _in_group(group: Path | None) -> list[str]:
    """Return the words before a command that put it into a control group."""
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"] if group else []


COUNT = """
from articles.enrichment.models import Enrichment
from articles.models import Article
from crawler.pipeline.models import Document
waiting = Document.objects.exclude(state__in=["done", "dead"]).count()
print(Article.objects.count(), Enrichment.objects.exclude(state="waiting").count(), waiting)
"""


def read_all(product: Product, feeds: int, port: int) -> None:
    """Add the feeds, and wait until their articles are stored, enriched and in the graph."""
    product.manage("add_feeds", *(feed_url(number, port) for number in range(feeds)))

    def read() -> bool:
        articles, enriched, waiting = map(int, product.manage("shell", "-v", "0", "-c", COUNT).split()[-3:])
        return articles == enriched == feeds * ITEMS and not waiting

    wait_for(read, 900, "not all feeds were read and enriched", 10)


@contextmanager
def product_in(work: Path) -> Iterator[Product]:
    """Ended at the end, whatever happened; on an error its log is shown."""
    product = Product(work)
    try:
        yield product
    except BaseException:
        sys.stderr.write((work / "log").read_text(errors="replace")[-10_000:])
        raise
    finally:
        product.stop()


def measure(work: Path, seconds: float, feeds: int) -> tuple[list[Figure], dict[str, Idleness]]:
    """All figures, and by process what the idle times were spent on."""
    figures: list[Figure] = []
    small = bool(os.environ.get("FRESHET_SMALL"))
    parts: dict[str, Idleness] = {}
    port = free_port()
    with feed_server(feeds, ITEMS, port), product_in(work) as product:
        figures.append(Figure("ready, first start", product.start(), "s", 6))
        time.sleep(SETTLE_SECONDS)
        tree = product.tree()
        theirs = {process for process in tree if is_postgresql(process)}
        figures += [
            Figure("memory, idle, whole tree", memory(tree) / 2**20, "MB", 180 if small else 240),
            Figure("  of it ours", memory(tree - theirs) / 2**20, "MB"),
            Figure("  of it PostgreSQL's", memory(theirs) / 2**20, "MB"),
            Figure("processes", len(tree), "", 12),
            Figure("  of them ours", len(tree - theirs), ""),
            Figure("  of them PostgreSQL's", len(theirs), ""),
        ]
        time.sleep(MAINTENANCE_SECONDS)
        parts["no feeds"] = quiet = idle(product, seconds)
        figures.append(Figure("idle CPU, no feeds", quiet.share, "% of a core", 1))
        figures.append(Figure("disk writes, no feeds", quiet.writes, "MB/min", 1))
        figures.append(Figure("  PostgreSQL's log", quiet.wal, "MB/min"))
        figures.append(Figure("stop, idle", product.stop(), "s", 3))
        figures.append(Figure("ready, second start", product.start(), "s", 1.5))
        if feeds:
            read_all(product, feeds, port)
            time.sleep(MAINTENANCE_SECONDS)
            parts[f"{feeds} feeds"] = quiet = idle(product, seconds)
            figures.append(Figure(f"idle CPU, {feeds} feeds", quiet.share, "% of a core", 2))
            figures.append(Figure(f"disk writes, {feeds} feeds", quiet.writes, "MB/min", 1))
            figures.append(Figure("  PostgreSQL's log", quiet.wal, "MB/min"))
        figures.append(Figure("ASK {} over SPARQL, median", ask(product), "ms", 20))
        figures.append(Figure("stop, second time", product.stop(), "s", 3))
    return figures, parts


def table(figures: list[Figure]) -> str:
    """Every figure beside its goal."""
    marks = {None: "", True: "reached", False: "MISSED"}
    lines = [f"{'':32}{'is':>10}{'goal':>10}"]
    for one in figures:
        goal = "" if one.goal is None else f"<= {one.goal:g}"
        lines.append(f"{one.what:32}{one.value:10.1f}{goal:>10} {one.unit:12} {marks[one.reached]}".rstrip())
    return "\n".join(lines)


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="of idleness that are measured (60)")
    parser.add_argument("--feeds", type=int, default=224, help="0: only the rows without feeds")
    parser.add_argument("--parts", action="store_true", help="idle CPU and writes by process, too")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="freshet-footprint-"))
    work.chmod(0o711)
    try:
        figures, parts = measure(work, args.seconds, args.feeds)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if args.json:
        print(
            json.dumps(
                {
                    "figures": [{**asdict(one), "reached": one.reached} for one in figures],
                    "idle": {when: asdict(quiet) for when, quiet in parts.items()},
                }
            )
        )
        return
    print(table(figures))
    for when, quiet in parts.items() if args.parts else ():
        print(f"\n{when}: % of a core and MB/min, by process")
        for name, share in sorted(quiet.shares.items(), key=lambda part: -part[1]):
            if share >= 0.01 or quiet.writers[name] >= 0.01:
                print(f"{share:8.2f}{quiet.writers[name]:8.2f}  {name}")


if __name__ == "__main__":
    main()
