"""A day in an hour: does anything creep, bloat or fall behind while feeds publish and people read?

    python -m benchmarks.day [--feeds 10000] [--pages 1000] [--readers 200] [--minutes 60] [--speed 24]
        [--faults 0.2] [--load plain|news|quiet|storm|outage] [--trace TRACE.csv.gz] [--megabytes 512]
        [--to DIRECTORY]

Feeds publish on loopback by the habits of a recorded trace (columns feed, published; without one, by invented
habits), a day and its settings pressed together by `--speed`; pages that change are watched, and readers open
a page a minute each. Compares what was stored with what the server had sent, the delays with those of the
same policy replayed on the same times, and after ten minutes with the end: memory, dead rows, what waits.
The load of invented habits is plain, that of a day of news (three times as much) or of a quiet Sunday (a
third), a storm (ten times as much for a tenth of the time), or an outage (no answer for two hours amid the
day). Writes a table of samples and pictures (SVG) into the directory. Figures stand beside their goals. With
`--megabytes` the product runs in a control group of this size (which needs root), with FRESHET_SMALL=1.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import psycopg

from benchmarks.database import mark_disposable, product_database_url
from benchmarks.day_server import CONTROL, page_host
from benchmarks.feed_server import feed_host
from benchmarks.footprint import ROOT, Product, product_in
from benchmarks.goals import Goal
from benchmarks.hostile.api import Api
from benchmarks.processes import is_postgresql, memory, processor_seconds
from benchmarks.refresh import free_port
from benchmarks.small_memory import control_group, killed_for_memory, peak_of
from benchmarks.writing import READ_WRITTEN, disk_bytes

DAY = 86_400.0
HISTORY_DAYS = 7.0
TICK_SECONDS, BUDGET, VISITS_A_DAY = 600.0, 0.5, 4.0
"""Settings of the day at its own pace: a tick, retrievals per feed and hour, looks at a watched page."""

LOADS = {"plain": 1.0, "news": 3.0, "quiet": 0.3, "storm": 1.0, "outage": 1.0}
"""Loads, and how much more is published than on a usual day."""
STORM, STORM_SHARE = 10.0, 0.1
OUTAGE_SECONDS = 7200.0
WARM_MINUTES = 10.0
PAGES = (
    "/read/",
    "/read/",
    "/articles/{}/",
    "/articles/{}/",
    "/articles/{}/",
    "/search/?q=river+{}",
    "/feeds/",
)


@dataclass(frozen=True)
class Sample:
    """One look at the product: memory and bytes in all, rows, and what waits.

    `written` is what PostgreSQL has written since the beginning, its log and its data files; `disk` what the
    whole disk has, with the replica and with whatever else the machine does. The bytes that the kernel counts
    for each process are neither: it counts all pages that it keeps together where one was changed, and said
    13.3 GB in five minutes in which PostgreSQL wrote 0.4.
    """

    written: float
    disk: float
    minute: float
    memory: float
    postgresql: float
    database: float
    articles: int
    dead_share: float
    feeds_waiting: int
    to_enrich: int
    to_index: int


@dataclass
class Readers:
    """People who open a page a minute each, with the milliseconds and failures of their requests."""

    base: str
    cookies: dict[str, str]
    count: int
    milliseconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin, one after the other within a minute."""
        for number in range(self.count):
            threading.Thread(target=self._read, args=(number,), daemon=True).start()

    def _read(self, number: int) -> None:
        dice, api = random.Random(number), Api(self.base, cookies=dict(self.cookies))
        self.stop.wait(60 * dice.random())
        while not self.stop.is_set():
            target = dice.choice(PAGES).format(dice.randrange(1, 5000))
            began = time.monotonic()
            try:
                reply = api.page(target)
                if reply.status >= 500:
                    self.failures.append(f"{target}: {reply.status}")
            except OSError as error:
                self.failures.append(f"{target}: {error}")
            self.milliseconds.append(1000 * (time.monotonic() - began))
            self.stop.wait(60.0)


def main() -> int:
    """Run the day and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--speed", type=float, default=24.0)
    parser.add_argument("--faults", type=float, default=0.0, help="share of the requests that go wrong")
    parser.add_argument("--load", choices=LOADS, default="plain")
    parser.add_argument("--trace", type=Path)
    parser.add_argument("--megabytes", type=int, default=0)
    parser.add_argument("--to", type=Path, default=ROOT / "var" / "day")
    options = parser.parse_args()
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    options.to.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="freshet-day-"))
    work.chmod(0o711)
    try:
        with ExitStack() as stack:
            group = stack.enter_context(control_group(options.megabytes)) if options.megabytes else None
            product = stack.enter_context(product_in(work))
            if group:
                product.group = group
                product.environment["FRESHET_SMALL"] = "1"
            missed = day(product, options)
            if group:
                killed = killed_for_memory(group)
                print(f"most memory {peak_of(group) / 2**20:.0f} MB, killed for want of it: {killed}, goal 0")
                missed |= killed > 0
            return int(missed)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def day(product: Product, options: argparse.Namespace) -> bool:
    """Run the product beside its web and readers. Returns whether a goal was missed."""
    speed = options.speed
    product.environment |= {
        "FEED_TICK_SECONDS": str(max(round(TICK_SECONDS / speed), 1)),
        "FEED_MIN_GAP_SECONDS": str(max(round(TICK_SECONDS / speed), 1)),
        "FEED_BUDGET": str(BUDGET * speed),
        "FEED_TRAINING_DAYS": str(1 / 24 / speed),
        "LOG_LEVEL": "WARNING",
    }
    product.start()
    password = re.search(r"user admin, password (\S+)", (product.work / "log").read_text())
    url = product_database_url(product.work / "data")
    mark_disposable(url)
    port, began = free_port(), time.time() + 60
    moments = {
        "feeds": feed_moments(options, began),
        "pages": page_moments(options.pages, speed, began, options.minutes),
    }
    outage = OUTAGE_SECONDS / speed if options.load == "outage" else 0.0
    middle = began + 30 * options.minutes
    with web(product.work, moments, port, options.faults, (middle, middle + outage)):
        add_everything(product, options, port)
        readers = Readers(f"http://127.0.0.1:{product.port}", {}, options.readers)
        api = Api(readers.base)
        api.sign_in("admin", password[1] if password else "")
        readers.cookies = dict(api.cookies)
        product.manage("shell", "-v", "0", "-c", FOLLOW)
        readers.start()
        samples = list(watch(product, url, options))
        end = time.time()
        readers.stop.set()
        time.sleep(60)  # what was sent is stored
        sent = json.loads(urlopen(f"http://{feed_host(0)}:{port}{CONTROL}", timeout=60).read())
        figures = judge(url, moments, sent, began + 60 * WARM_MINUTES, end)
    promised = replayed(product, moments["feeds"], options)
    report(samples, figures, promised, readers, options)
    (options.to / "samples.json").write_text(json.dumps([asdict(sample) for sample in samples], indent=1))
    return conclude(samples, figures, promised, readers)


FOLLOW = """
from articles.personal.following import follow, subscriber_of
from django.contrib.auth.models import User
from feeds.models import Feed
subscriber = subscriber_of(User.objects.get(username="admin"))
for feed in Feed.objects.order_by("id")[:200]:
    follow(subscriber, feed)
"""


def feed_moments(options: argparse.Namespace, began: float) -> list[list[float]]:
    """Return the times of publication of each feed, the history before `began` included.

    Habits come from the trace, a random window of each feed's, or are drawn: from one in ten days to 100 a
    day, more by day than by night.
    """
    dice, speed = random.Random(1), options.speed
    days = HISTORY_DAYS + options.minutes * 60 * speed / DAY
    recorded = list(read_habits(options.trace, days)) if options.trace else []
    feeds = []
    for _ in range(options.feeds):
        if recorded:
            times = dice.choice(recorded)
            start = dice.uniform(times[0], max(times[-1] - days * DAY, times[0]))
            window = times[(times >= start) & (times < start + days * DAY)] - start
        else:
            rate = LOADS[options.load] * min(3 * dice.lognormvariate(0, 1.5), 100)
            count = np.random.default_rng(dice.randrange(2**32)).poisson(rate * days)
            window = (
                np.array([int(dice.random() * days) + dice.betavariate(3, 2) for _ in range(count)]) * DAY
            )
            if options.load == "storm":
                window = np.append(window, storm(rate, days, dice))
        shifted = began + (np.sort(window) - HISTORY_DAYS * DAY) / speed
        feeds.append([round(float(moment), 3) for moment in shifted])
    return feeds


def storm(rate: float, days: float, dice: random.Random) -> np.ndarray[Any, Any]:
    """Return what is published more in a storm amid the run, in seconds from the beginning of the history."""
    length = STORM_SHARE * (days - HISTORY_DAYS)
    begin = HISTORY_DAYS + (days - HISTORY_DAYS - length) / 2
    count = np.random.default_rng(dice.randrange(2**32)).poisson((STORM - 1) * rate * length)
    return np.array([begin + length * dice.random() for _ in range(count)]) * DAY


def read_habits(path: Path, days: float) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the times of each feed of a trace that is long enough."""
    by_feed: dict[str, list[float]] = defaultdict(list)
    with gzip.open(path, "rt", newline="") as lines:
        for row in csv.DictReader(lines):
            by_feed[row["feed"]].append(float(row["published"]))
    for times in by_feed.values():
        ordered = np.sort(np.array(times))
        if ordered[-1] - ordered[0] > days * DAY:
            yield ordered


def page_moments(count: int, speed: float, began: float, minutes: float) -> list[list[float]]:
    """Return the times at which each page changes, from one in four days to eight a day."""
    dice = random.Random(2)
    pages = []
    for _ in range(count):
        rate = 2 ** dice.uniform(-2, 3) * speed / DAY
        moments, at = [], began
        while (at := at + dice.expovariate(rate)) < began + 60 * minutes:
            moments.append(at)
        pages.append(moments)
    return pages


@contextmanager
def web(
    work: Path, moments: dict[str, list[list[float]]], port: int, faults: float, away: tuple[float, float]
) -> Iterator[None]:
    """Serve the feeds and pages in a separate process, with this share of faults, not between two times."""
    path = work / "moments.json"
    path.write_text(json.dumps(moments))
    command = [sys.executable, str(ROOT / "benchmarks" / "day_server.py"), str(path)]
    command += [f"--port={port}", f"--faults={faults}", "--away", *map(str, away)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.terminate()
        process.wait()


def add_everything(product: Product, options: argparse.Namespace, port: int) -> None:
    """Add the feeds and watch the pages."""
    urls = [f"http://{feed_host(number)}:{port}/feed.xml" for number in range(options.feeds)]
    outlines = "".join(f'<outline type="rss" text="{n}" xmlUrl="{url}"/>' for n, url in enumerate(urls))
    opml = product.work / "feeds.opml"
    opml.write_text(f"<opml version='2.0'><body>{outlines}</body></opml>")
    product.manage("add_feeds", "--opml", str(opml))
    pages = [f"http://{page_host(number)}:{port}/page.html" for number in range(options.pages)]
    for start in range(0, len(pages), 500):
        product.manage("add_site", "--pages", "--every", "1", *pages[start : start + 500])


def watch(product: Product, url: str, options: argparse.Namespace) -> Iterator[Sample]:
    """Yield a sample each minute, and have the watched pages visited as often as in a day."""
    began, first = time.monotonic(), _written(product, url)
    between_visits = DAY / VISITS_A_DAY / options.speed / 60
    next_visit = between_visits
    while (minute := (time.monotonic() - began) / 60) < options.minutes:
        if minute >= next_visit:
            product.manage("visit_sites")
            next_visit += between_visits
        tree = product.tree()
        servers = {process for process in tree if is_postgresql(process)}
        with psycopg.connect(url) as connection:
            row = connection.execute(STATE).fetchone()
        assert row is not None
        by_server, by_disk = (now - then for now, then in zip(_written(product, url), first, strict=True))
        sample = Sample(by_server, by_disk, minute, memory(tree) / 2**20, memory(servers) / 2**20, *row)
        yield sample
        waiting = f"{sample.feeds_waiting} feeds, {sample.to_enrich} to enrich, {sample.to_index} to index"
        rest = f"{100 * sample.dead_share:.0f} % dead  {processor_seconds(tree):.0f} s of processors"
        print(f"{minute:5.1f} min  {sample.memory:6.0f} MB  {sample.articles:7d} articles", end="")
        print(f"  waiting: {waiting}  {rest}", flush=True)
        time.sleep(max(0.0, began + 60 * (int(minute) + 1) - time.monotonic()))


def _written(product: Product, url: str) -> tuple[float, float]:
    """Return the MB that PostgreSQL has written so far, and those that the disk has."""
    with psycopg.connect(url) as connection:
        row = connection.execute(READ_WRITTEN).fetchone()
    assert row is not None
    log, files, _full_pages = map(float, str(row[0]).split())
    return (log + files) / 2**20, disk_bytes(product.work) / 2**20


STATE = """
SELECT pg_database_size(current_database()) / 1048576.0::float,
    (SELECT count(*) FROM articles_article),
    (SELECT sum(n_dead_tup)::float / greatest(sum(n_live_tup + n_dead_tup), 1) FROM pg_stat_user_tables),
    (SELECT count(*) FROM feeds_feed WHERE lease IS NOT NULL),
    (SELECT count(*) FROM enrichment_enrichment WHERE state = 'waiting'),
    (SELECT count(*) FROM pipeline_document WHERE state NOT IN ('done', 'dead'))
"""


@dataclass(frozen=True)
class Figures:
    """Entries sent and stored, doubles, feeds that differ; page states sent and changes stored; delays."""

    sent: int
    stored: int
    differing_feeds: int
    states: int
    changes: int
    differing_pages: int
    delays: list[float]
    tables: list[tuple[str, float, float, int]]


def judge(
    url: str, moments: dict[str, list[list[float]]], sent: dict[str, list[int]], since: float, until: float
) -> Figures:
    """Compare what is stored with what was sent; delays in seconds of what was published in this time."""
    with psycopg.connect(url) as connection:
        stored: dict[str, int] = dict(connection.execute(
            "SELECT split_part(split_part(feed.url, '/', 3), ':', 1), count(*) FROM articles_article"
            " JOIN feeds_feed AS feed ON feed.id = feed_id GROUP BY 1"
        ).fetchall())  # fmt: skip
        changes: Counter[str] = Counter(dict(connection.execute(
            "SELECT split_part(split_part(page.url, '/', 3), ':', 1), count(*) FROM recrawl_change"
            " JOIN recrawl_page AS page ON page.id = page_id WHERE recrawl_change.kind <> 'new'"
            " GROUP BY 1"
        ).fetchall()))  # fmt: skip
        delays = [row[0] for row in connection.execute(
            "SELECT extract(epoch FROM fetched - published)::float FROM articles_article"
            " WHERE published BETWEEN to_timestamp(%s) AND to_timestamp(%s)", [since, until]
        )]  # fmt: skip
        tables = connection.execute(
            "SELECT relname, pg_total_relation_size(relid) / 1048576.0, pg_indexes_size(relid) / 1048576.0,"
            " autovacuum_count::int FROM pg_stat_user_tables"
            " ORDER BY pg_total_relation_size(relid) DESC LIMIT 12"
        ).fetchall()
    return Figures(
        sum(sent["feeds"]),
        sum(stored.values()),
        sum(stored.get(feed_host(n), 0) != count for n, count in enumerate(sent["feeds"])),
        sum(max(count - 1, 0) for count in sent["pages"]),
        changes.total(),
        sum(changes[page_host(n)] != max(count - 1, 0) for n, count in enumerate(sent["pages"])),
        delays,
        [(str(name), float(size), float(indexes), int(count)) for name, size, indexes, count in tables],
    )


def replayed(product: Product, feeds: Sequence[Sequence[float]], options: argparse.Namespace) -> float:
    """Return the median delay in seconds that the same policy has when the same times are replayed."""
    path = product.work / "times.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["feed", "published"])
        lines.writerows((number, round(at)) for number, moments in enumerate(feeds) for at in moments)
    measured = (options.minutes - WARM_MINUTES) / 60 / 24
    learned = HISTORY_DAYS / options.speed + WARM_MINUTES / 60 / 24
    output = product.manage(
        "replay", str(path), "--policy", "freshness", "--json",
        "--budget", str(BUDGET * options.speed), "--tick", str(TICK_SECONDS / options.speed),
        "--train-days", str(min(learned, learned + measured - 0.001)),
    )  # fmt: skip
    return 60 * float(json.loads(output)["policies"]["freshness"]["delay_p50"])


def report(
    samples: Sequence[Sample],
    figures: Figures,
    promised: float,
    readers: Readers,
    options: argparse.Namespace,
) -> None:
    """Draw the samples, and print the sizes of tables."""
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
    os.environ.setdefault("DATABASE_URL", "none")
    from crawler.web.charts import Axis, Line, line_plot, standalone

    pictures = {
        "memory": ("MB", ("memory", "postgresql")),
        "database": ("MB", ("database", "written", "disk")),
        "waiting": ("rows", ("feeds_waiting", "to_enrich", "to_index")),
    }
    for name, (unit, columns) in pictures.items():
        lines = [
            Line(column, [(sample.minute, float(getattr(sample, column))) for sample in samples], ink=ink)
            for ink, column in enumerate(columns, 1)
        ]
        drawing = line_plot(lines, Axis("minute"), Axis(unit), f"A day in an hour: {name}")
        (options.to / f"{name}.svg").write_text(standalone(drawing))
    for table, size, indexes, vacuums in figures.tables:
        print(f"{table:32} {size:8.1f} MB, {indexes:.1f} of them indexes, vacuumed {vacuums} times")
    ranked = sorted(readers.milliseconds) or [0.0]
    print(
        f"readers: {len(ranked)} pages, p50 {ranked[len(ranked) // 2]:.0f} ms, "
        f"p95 {ranked[int(0.95 * len(ranked))]:.0f} ms, {len(readers.failures)} failed",
        *readers.failures[:5], sep="\n  ",
    )  # fmt: skip
    half, most = np.percentile(figures.delays or [0.0], [50, 95])
    print(f"delays: half below {half:.0f} s, 95 % below {most:.0f} s; replayed: half below {promised:.0f} s")


def conclude(samples: Sequence[Sample], figures: Figures, promised: float, readers: Readers) -> bool:
    """Print each figure beside its goal. Returns whether one was missed."""
    warm = [sample for sample in samples if sample.minute >= WARM_MINUTES] or list(samples)
    first, last = np.mean([s.memory for s in warm[:3]]), np.mean([s.memory for s in warm[-3:]])
    half = float(np.percentile(figures.delays or [0.0], 50))
    goals = (
        Goal("entries sent and not stored, or the reverse", abs(figures.sent - figures.stored), 0, most=True),
        Goal("feeds where the two differ", figures.differing_feeds, 0, most=True),
        Goal("watched pages whose changes differ", figures.differing_pages, 0, most=True),
        Goal("memory at the end, of that after ten minutes", float(last / first), 1.1, most=True),
        Goal("median delay, of the replayed one", half / max(promised, 1.0), 1.25, most=True),
        Goal("dead rows at the end", warm[-1].dead_share, 0.2, most=True),
        Goal("articles to enrich at the end", warm[-1].to_enrich, 500, most=True),
        Goal("documents to index at the end", warm[-1].to_index, 500, most=True),
        Goal("failed pages of readers", len(readers.failures), 0, most=True),
        Goal("GB that PostgreSQL wrote", warm[-1].written / 1024, 12, most=True),
    )
    print(*goals, sep="\n")
    print(f"the whole disk took {warm[-1].disk / 1024:.1f} GB, with what else the machine does")
    return not all(goal.reached for goal in goals)


if __name__ == "__main__":
    sys.exit(main())
