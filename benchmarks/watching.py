"""Watched pages of recorded sites, week by week, by Freshet and by changedetection.io.

    python -m benchmarks.watching TIME_MACHINE.zip ... [--pages 300] [--weeks N] [--json] [--webworld SCRIPT]

Both products watch the same sample of pages that exist in all weeks, and look once a week: Freshet at every
page and at a quarter of them, changedetection.io (from PyPI, in a virtual environment kept in var/benchmarks)
at every page with its default settings. A page has changed when its visible text differs from that of the
week before. Requests and bytes are those that the server of the sites counted. The first reading is left out
of requests, bytes and CPU seconds. SCRIPT serves the sites; by default it is ../../tools/webworld.py seen
from the first time machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote
from urllib.request import Request, urlopen

from lxml import html

from benchmarks.database import own_database
from benchmarks.processes import PeakMemory, family, memory, processor_seconds

ROOT = Path(__file__).resolve().parents[1]
CHANGEDETECTION = "changedetection.io==0.60.10"
MAX_ATTEMPTS = 8
MAX_WEEK_SECONDS = 300.0
"""How long changedetection.io may take for the pages of one week."""
SEED = 20
HIDDEN = ("script", "style", "noscript", "template", "head")
SETTINGS = {
    "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
    "FETCH_HOST_SPACING_SECONDS": "0",
    "LOG_LEVEL": "ERROR",
}
Weeks = Mapping[str, set[int]]
"""Numbers of weeks by page."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Counts of changes: real ones, found in their week, found later, and reports without a change."""

    changed: int
    found: int
    late: int
    false_alarms: int


@dataclass(frozen=True, slots=True)
class Row:
    """One product's line of the table."""

    product: str
    judgement: Judgement
    requests: int
    bytes: int
    cpu_seconds: float
    peak_mb: float
    seconds: float


class Product(Protocol):
    """A running product that watches the sample."""

    pids: list[int]

    def look(self) -> set[str]:
        """Look at the pages once. Returns the addresses reported as changed."""


def main() -> None:
    """Run all products on the same pages and print the table."""
    options = _options()
    if options.child:
        _watch_with_freshet(options.child)
        return
    _install_changedetection()
    with _served(options) as port:
        pages, truth = _sample_and_truth(options, port)
        weeks = _weeks(options, port)
        rows = []
        for name, product in (
            ("Freshet", _freshet(pages, 1.0)),
            ("Freshet, a quarter", _freshet(pages, 0.25)),
            ("changedetection.io", _changedetection(pages)),
        ):
            rows.append(_watch(name, product, port, weeks, truth))
            print(name, "has ended", file=sys.stderr, flush=True)
    if options.json:
        flat = [{**asdict(row), **asdict(row.judgement)} for row in rows]
        for line in flat:
            del line["judgement"]
        print(json.dumps({"pages": len(pages), "weeks": weeks, "products": flat}, indent=1))
    else:
        print(f"{len(pages)} pages, {weeks} weeks after the first reading")
        print(table(rows))


def sample(sites: Sequence[Sequence[str]], count: int, seed: int = SEED) -> list[str]:
    """Return `count` pages, drawn in turn from each site while it has any, in a fixed order."""
    chance = random.Random(seed)
    shuffled = [chance.sample(sorted(pages), len(pages)) for pages in sites]
    longest = max((len(pages) for pages in shuffled), default=0)
    turns = [pages[turn] for turn in range(longest) for pages in shuffled if turn < len(pages)]
    return sorted(turns[:count])


def changed_weeks(texts: Mapping[str, Sequence[str]]) -> dict[str, set[int]]:
    """Return for each page the weeks in which its text differs from that of the week before."""
    return {
        page: {week for week in range(1, len(states)) if states[week] != states[week - 1]}
        for page, states in texts.items()
    }


def judge(truth: Weeks, reports: Weeks) -> Judgement:
    """Compare reports with the truth.

    A report covers all changes since the page's last report. A change of the report's own week is found,
    earlier ones are late. A report that covers no change is a false alarm.
    """
    found = late = false_alarms = 0
    for page, reported in reports.items():
        pending = set(truth.get(page, ()))
        for week in sorted(reported):
            covered = {change for change in pending if change <= week}
            pending -= covered
            found += week in covered
            late += len(covered - {week})
            false_alarms += not covered
    return Judgement(sum(len(weeks) for weeks in truth.values()), found, late, false_alarms)


def visible_text(body: bytes) -> str:
    """Return the letters and digits of a page's body without scripts and styles, spaces left out."""
    if not body.strip():
        return ""
    root = html.fromstring(body.decode("utf-8", "replace").encode(), parser=html.HTMLParser(encoding="utf-8"))
    skipped = " or ".join(f"self::{name}" for name in HIDDEN)
    texts: Any = root.xpath(f"//text()[not(ancestor::*[{skipped}])]")
    return "".join("".join(texts).split())


def table(rows: Sequence[Row]) -> str:
    """Return the products' figures as aligned text."""
    lines = [
        f"{'product':20} {'changed':>8} {'found':>6} {'late':>6} {'false':>6} {'requests':>9} {'bytes':>12} "
        f"{'CPU s':>7} {'peak MB':>8} {'seconds':>8}"
    ]
    for row in rows:
        counts = row.judgement
        lines.append(
            f"{row.product:20} {counts.changed:8} {counts.found:6} {counts.late:6} {counts.false_alarms:6} "
            f"{row.requests:9} {row.bytes:12} {row.cpu_seconds:7.1f} {row.peak_mb:8.0f} {row.seconds:8.0f}"
        )
    return "\n".join(lines)


def _watch(name: str, starting: AbstractContextManager[Product], port: int, weeks: int, truth: Weeks) -> Row:
    """Let a product read the pages of week 0 and look at them every week after it."""
    _ask(port, "week?set=0")
    reports: dict[str, set[int]] = {page: set() for page in truth}
    with starting as product, PeakMemoryOfAll(product.pids) as peak:
        _ask(port, "stats?reset=1")
        cpu, began = _cpu(product.pids), time.monotonic()
        for week in range(1, weeks + 1):
            _ask(port, f"week?set={week}")
            for page in product.look():
                reports.setdefault(page, set()).add(week)
        cpu, seconds = _cpu(product.pids) - cpu, time.monotonic() - began
    stats = _ask(port, "stats").values()
    requests, sent = (sum(site[figure] for site in stats) for figure in ("requests", "bytes"))
    return Row(name, judge(truth, reports), requests, sent, cpu, peak.peak / 2**20, seconds)


def _cpu(pids: Sequence[int]) -> float:
    return sum(processor_seconds(family(pid)) for pid in pids)


class PeakMemoryOfAll(PeakMemory):
    """Peak of the memory of several process families together, in bytes."""

    def __init__(self, roots: Sequence[int], every: float = 1.0) -> None:
        super().__init__(roots[0], every)
        self._roots = roots

    def _sample(self) -> None:
        while not self._stop.is_set():
            processes = {process for root in self._roots for process in family(root)}
            self.peak = max(self.peak, memory(processes))
            self._stop.wait(self._every)


@dataclass
class Freshet:
    """A child of this process that looks whenever it reads a line."""

    process: subprocess.Popen[str]
    pids: list[int]

    def look(self) -> set[str]:
        """Make one visit. Returns the pages with a change that people are told of."""
        assert self.process.stdin is not None
        self.process.stdin.write("look\n")
        self.process.stdin.flush()
        return {unquote(page) for page in self.reply()}

    def reply(self) -> Any:
        """Return the next line of the child. Ends the benchmark when the child has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("Freshet has ended early")
        return json.loads(line)


@contextmanager
def _freshet(pages: Sequence[str], budget: float) -> Iterator[Freshet]:
    """Freshet after its first reading, with PostgreSQL of its own."""
    command = [sys.executable, "-m", "benchmarks.watching", "--child", str(budget)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        product = Freshet(process, [process.pid])
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(list(pages)) + "\n")
            process.stdin.flush()
            product.pids += product.reply()
            yield product
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


def _watch_with_freshet(budget: float) -> None:
    """Watch the pages of the first line of input, and look once for each further line, as a child process."""
    with own_database("watching", None, **SETTINGS) as directory:
        from django.utils import timezone

        from recrawl.inline import work_off
        from recrawl.models import LIST_DEFAULTS, Change
        from recrawl.visiting.mapping import add_pages
        from recrawl.visiting.visits import begin

        pages = json.loads(sys.stdin.readline())
        site = add_pages(pages, **{**LIST_DEFAULTS, "budget": budget, "every": 7})
        work_off([site])
        pids = [path.read_text().split()[0] for path in directory.rglob("postmaster.pid")]
        print(json.dumps([int(pid) for pid in pids]), flush=True)
        last = 0
        for _line in sys.stdin:
            visits = begin([site.pk], timezone.now())
            if not visits:
                raise SystemExit("no visit began")
            work_off([site])
            changes = Change.objects.counting().filter(site=site, pk__gt=last)
            reported = list(changes.values_list("pk", "page__url"))
            last = max([last, *(pk for pk, _ in reported)])
            print(json.dumps([url for _, url in reported]), flush=True)


@dataclass
class ChangeDetection:
    """A server of changedetection.io with its API."""

    port: int
    key: str
    pids: list[int]
    checked: dict[str, int]
    changed: dict[str, int]

    def api(self, path: str, body: str | None = None) -> Any:
        """Return the JSON of an API call; with `body` it is a POST.

        Its list fails now and then (500) while watches are stored: then it is asked for again.
        """
        headers = {"x-api-key": self.key, "Content-Type": "text/plain"}
        data = None if body is None else body.encode()
        request = Request(f"http://127.0.0.1:{self.port}/api/v1/{path}", data=data, headers=headers)
        for attempt in range(MAX_ATTEMPTS):
            try:
                with urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except HTTPError as error:
                if error.code != 500 or attempt == MAX_ATTEMPTS - 1:
                    raise
                time.sleep(1)
        return None

    def look(self) -> set[str]:
        """Recheck all pages. Returns those with a new snapshot."""
        time.sleep(1.1)  # its times are in whole seconds
        self.api("watch?recheck_all=1")
        before = self.changed
        urls = self.wait(len(self.checked))
        return {unquote(urls[key]) for key in urls if self.changed[key] != before.get(key)}

    def wait(self, count: int) -> dict[str, str]:
        """Wait until `count` watches were checked since the last wait. Returns addresses by watch."""
        until = time.monotonic() + MAX_WEEK_SECONDS
        while True:
            watches = self.api("watch")
            ready = [
                key for key, watch in watches.items() if watch["last_checked"] > self.checked.get(key, 0)
            ]
            if len(ready) >= count:
                break
            if time.monotonic() > until:
                print(f"changedetection.io checked {len(ready)} of {count}", file=sys.stderr)
                break
            time.sleep(1)
        time.sleep(1)  # the last snapshot is stored
        watches = self.api("watch")
        self.checked = {key: watch["last_checked"] for key, watch in watches.items()}
        self.changed = {key: watch["last_changed"] for key, watch in watches.items()}
        return {key: watch["url"] for key, watch in watches.items()}


@contextmanager
def _changedetection(pages: Sequence[str]) -> Iterator[ChangeDetection]:
    """changedetection.io after its first reading.

    A page named on the command line keeps its example watches away.
    """
    directory, port = Path(tempfile.mkdtemp(prefix="freshet-watching-")), _free_port()
    program = _peer_directory() / "bin" / "changedetection.io"
    command = [str(program), "-d", str(directory), "-p", str(port), "-h", "127.0.0.1", "-u", pages[0]]
    known = {
        **os.environ,
        "ALLOW_IANA_RESTRICTED_ADDRESSES": "true",
        "DISABLE_VERSION_CHECK": "true",
        "LOGGER_LEVEL": "ERROR",
    }
    with subprocess.Popen(
        command, env=known, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            key = _key_of(directory, port)
            product = ChangeDetection(port, key, [process.pid], {}, {})
            product.api("import", "\n".join(pages))
            product.wait(len(pages))
            yield product
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
            shutil.rmtree(directory, ignore_errors=True)


def _key_of(directory: Path, port: int) -> str:
    """Wait for the server and return the API key in its settings."""
    for _ in range(240):
        try:
            with urlopen(f"http://127.0.0.1:{port}/", timeout=10):
                pass
        except HTTPError:
            pass
        except (URLError, OSError):
            time.sleep(0.5)
            continue
        for path in directory.glob("*.json"):
            settings = json.loads(path.read_text()).get("settings", {}).get("application", {})
            if key := settings.get("api_access_token"):
                return str(key)
        time.sleep(0.5)
    raise SystemExit("changedetection.io does not start")


def _peer_directory() -> Path:
    return ROOT / "var" / "benchmarks" / "changedetection"


def _install_changedetection() -> None:
    directory = _peer_directory()
    if not (directory / "bin" / "changedetection.io").exists():
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        install = [str(directory / "bin" / "python"), "-m", "pip", "install", "--quiet", CHANGEDETECTION]
        subprocess.run(install, check=True, stderr=subprocess.DEVNULL)


def _sample_and_truth(options: argparse.Namespace, port: int) -> tuple[list[str], dict[str, set[int]]]:
    """Return the sample, and the weeks in which its pages changed, by unquoted address."""
    weeks = _weeks(options, port)
    sites = [
        sorted(_lasting_pages(path, site["origin"], weeks))
        for path, site in zip(options.machines, _ask(port, "sites"), strict=True)
    ]
    pages = sample(sites, options.pages)
    texts: dict[str, list[str]] = {unquote(page): [] for page in pages}
    for week in range(weeks + 1):
        _ask(port, f"week?set={week}")
        for page in pages:
            with urlopen(page, timeout=30) as answer:
                texts[unquote(page)].append(visible_text(answer.read()))
    return pages, changed_weeks(texts)


def _lasting_pages(path: Path, origin: str, weeks: int) -> list[str]:
    """Return the addresses of the HTML pages of the first week that no later week up to `weeks` removes."""
    with zipfile.ZipFile(path) as archive:
        removed = json.loads(archive.read("manifest.json")).get("removed", {})
        names = {name[4:] for name in archive.namelist() if name.startswith("w00/")}
    gone = {name for week, names in removed.items() if int(week[1:]) <= weeks for name in names}
    base = origin.rstrip("/")
    return [f"{base}/{quote(name)}" for name in names - gone if name.endswith((".html", ".htm"))]


def _weeks(options: argparse.Namespace, port: int) -> int:
    recorded: int = min(_ask(port, "week")["weeks"].values()) - 1
    weeks: int = options.weeks or recorded
    return min(recorded, weeks)


def _ask(port: int, what: str) -> Any:
    with urlopen(f"http://127.0.0.1:{port}/__world__/{what}", timeout=30) as answer:
        return json.load(answer)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def _served(options: argparse.Namespace) -> Iterator[int]:
    """The recorded sites on a free port."""
    port = _free_port()
    command = [sys.executable, str(options.webworld), *map(str, options.machines), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                _ask(port, "week")
                break
            except URLError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("machines", nargs="*", type=Path, metavar="TIME_MACHINE.zip")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--weeks", type=int, default=0, help="0 for all")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--webworld", type=Path, metavar="SCRIPT")
    parser.add_argument("--child", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.child:
        if not options.machines:
            parser.error("name at least one time machine")
        options.webworld = options.webworld or options.machines[0].resolve().parents[2] / "tools/webworld.py"
    return options


if __name__ == "__main__":
    main()
