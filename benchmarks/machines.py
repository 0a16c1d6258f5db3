"""Several machines in one: terminals, a controller and the servers, each in a network of its own.

    sudo python -m benchmarks.machines [--feeds 1800] [--terminals 3] [--delay 1000]

Needs root, `ip`, and Debian's PostgreSQL and RabbitMQ. Network namespaces hang on a bridge; the feeds
answer after so many milliseconds, so that waiting limits a terminal and not the processors, which all
share. The processes are started as README.md says. Prints how many unchanged feeds a second one,
two and three terminals read, and how busy the processors were; then one terminal is killed and another
cut off amid a round, and every feed must have been read.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.feed_server import feed_host
from benchmarks.footprint import ROOT, wait_for
from benchmarks.goals import Goal

HUB = "freshet-hub"
HUB_ADDRESS = "10.99.0.1"
FEEDS_NETWORK = "10.98.0.0/16"
PORT = 8700
CELERY = [sys.executable, "-m", "celery", "-A", "crawler", "worker"]
ITEMS = 5


class Network:
    """Namespaces on a bridge in a namespace of its own; all are removed at the end."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._feeds_address = ""
        self._namespace(HUB)
        run_in(HUB, "ip", "link", "add", "bridge", "type", "bridge")
        run_in(HUB, "ip", "addr", "add", f"{HUB_ADDRESS}/16", "dev", "bridge")
        run_in(HUB, "ip", "link", "set", "bridge", "up")

    def machine(self, name: str) -> str:
        """Add a machine, with a route to the feeds once these have been added. Returns its namespace.

        All feeds are behind one address, because the kernel keeps 1,024 neighbours for all namespaces.
        """
        number = len(self._names)
        namespace, inside, outside = f"freshet-{name}", f"in{number}", f"out{number}"
        self._namespace(namespace)
        run("ip", "link", "add", outside, "netns", HUB, "type", "veth", "peer", inside, "netns", namespace)
        run_in(HUB, "ip", "link", "set", outside, "master", "bridge", "up")
        run_in(namespace, "ip", "addr", "add", f"10.99.0.{number + 1}/16", "dev", inside)
        run_in(namespace, "ip", "link", "set", inside, "up")
        if self._feeds_address:
            run_in(namespace, "ip", "route", "add", FEEDS_NETWORK, "via", self._feeds_address)
        return namespace

    def feeds(self) -> str:
        """Add the machine that has all addresses of the feeds."""
        namespace = self.machine("feeds")
        run_in(namespace, "ip", "route", "add", "local", FEEDS_NETWORK, "dev", "lo")
        self._feeds_address = f"10.99.0.{len(self._names)}"
        return namespace

    def cut(self, namespace: str, *, is_up: bool) -> None:
        """Cut a machine off, or connect it again."""
        number = self._names.index(namespace)
        run_in(HUB, "ip", "link", "set", f"out{number}", "up" if is_up else "down")

    def remove(self) -> None:
        """Remove everything."""
        for name in reversed(self._names):
            run("ip", "netns", "del", name, check=False)

    def _namespace(self, name: str) -> None:
        run("ip", "netns", "add", name)
        self._names.append(name)
        run_in(name, "ip", "link", "set", "lo", "up")


class Machines:
    """The processes of a deployment, each in its namespace."""

    def __init__(self, network: Network, work: Path) -> None:
        self.network, self._work = network, work
        self.database_url = f"postgresql://freshet@{HUB_ADDRESS}:5499/freshet"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._database: psycopg.Connection[Any] | None = None
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "HOME"}}
        self._settings = {
            **kept,
            "DATABASE_URL": self.database_url,
            "CELERY_BROKER_URL": f"amqp://guest:guest@{HUB_ADDRESS}:5672//",
            "SECRET_KEY": "machines",
            "DJANGO_SETTINGS_MODULE": "crawler.settings",
            "FEED_ARTICLE_PAGES": "no",
            "FEED_TICK_SECONDS": "86400",
            "FEED_MIN_GAP_SECONDS": "0",
            "CRAWL_HOSTS_IN_FLIGHT": "512",
            "CRAWL_LEASE_SLACK_SECONDS": "10",
            "FETCH_HOST_SPACING_SECONDS": "0",
            "FETCH_ALLOWED_NETWORKS": FEEDS_NETWORK,
        }

    def start(self, namespace: str, name: str, *command: object, **changes: str) -> None:
        """Start a process, its output in a file of its name."""
        data = self._work / name
        with (self._work / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                ["ip", "netns", "exec", namespace, *map(str, command)], cwd=ROOT, stdout=log,
                stderr=subprocess.STDOUT, env=self._settings | {"DATA_DIR": str(data)} | changes,
                start_new_session=True,
            )  # fmt: skip

    def worker(self, namespace: str, name: str, queues: str, *options: str, **changes: str) -> None:
        """Start a worker, and wait until it is ready."""
        self.start(namespace, name, *CELERY, "-l", "INFO", "-n", f"{name}@%h", "-Q", queues, *options,
                   **changes)  # fmt: skip
        log = self._work / f"{name}.log"
        wait_for(lambda: " ready." in log.read_text(), 60, f"{name} does not start: {log.read_text()}", 0.2)

    def terminal(self, number: int) -> str:
        """Start a terminal on a machine of its own. Returns its namespace."""
        namespace = self.network.machine(f"terminal{number}")
        self.worker(
            namespace, f"terminal{number}", "fetch", "--pool", "threads", "-c", "32", DATABASE_URL="none"
        )
        return namespace

    def python(self, program: str) -> str:
        """Run a program with Django set up, on the hub. Returns what it printed."""
        command = ["ip", "netns", "exec", HUB, sys.executable, "manage.py", "shell", "-v", "0", "-c", program]
        done = subprocess.run(
            command, cwd=ROOT, env=self._settings | {"DATA_DIR": str(self._work / "hub")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
        return done.stdout

    def rows(self, query: str) -> list[tuple[int, int]]:
        """Return the rows of a query, over PostgreSQL's socket, which no network namespace hides.

        A program in the hub's namespace for each look would take one of two processors.
        """
        if self._database is None:
            cluster = self._work / "postgresql"
            self._database = psycopg.connect(
                host=str(cluster), port=5499, user="freshet", dbname="freshet", autocommit=True
            )
        return self._database.execute(query).fetchall()

    def end(self) -> None:
        """End everything."""
        if self._database is not None:
            self._database.close()
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def main() -> int:
    """Measure by the number of terminals, then kill and cut off."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1800)
    parser.add_argument("--terminals", type=int, default=3)
    parser.add_argument("--delay", type=int, default=1000)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="freshet-machines-"))
    work.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        network = Network()
        stack.callback(network.remove)
        machines = Machines(network, work)
        stack.callback(machines.end)
        stack.enter_context(servers(machines, work))
        return measure(machines, options)


@contextmanager
def servers(machines: Machines, work: Path) -> Iterator[None]:
    """Run PostgreSQL and RabbitMQ on the hub."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    cluster = work / "postgresql"
    cluster.mkdir()
    shutil.chown(cluster, "postgres", "postgres")
    as_postgres = ["runuser", "-u", "postgres", "--"]
    run(*as_postgres, programs / "initdb", "-A", "trust", "-D", cluster, "-U", "freshet")
    with (cluster / "pg_hba.conf").open("a") as rules:
        rules.write("host all all 10.99.0.0/16 trust\n")
    options = ["-c", f"listen_addresses={HUB_ADDRESS}", "-c", f"unix_socket_directories={cluster}"]
    command = [*as_postgres, programs / "postgres", "-D", cluster, "-p", 5499, *options]
    machines.start(HUB, "postgresql", *command)
    (work / "rabbitmq.conf").write_text("loopback_users = none\n")
    rabbit = work / "rabbitmq"
    rabbit.mkdir()
    shutil.chown(rabbit, "rabbitmq", "rabbitmq")
    machines.start(
        HUB, "rabbitmq", "rabbitmq-server", RABBITMQ_NODENAME="freshet@localhost",
        RABBITMQ_MNESIA_BASE=str(rabbit), RABBITMQ_LOG_BASE=str(rabbit), HOME=str(rabbit),
        RABBITMQ_CONFIG_FILE=str(work / "rabbitmq.conf"), RABBITMQ_PID_FILE=str(rabbit / "pid"),
    )  # fmt: skip
    wait_for(lambda: _answers(5499) and _answers(5672), 90, "PostgreSQL or RabbitMQ does not start", 0.5)
    run_in(HUB, programs / "createdb", "-h", HUB_ADDRESS, "-p", "5499", "-U", "freshet", "freshet")
    yield
    run_in(HUB, "rabbitmqctl", "-n", "freshet@localhost", "stop", check=False)


def _answers(port: int) -> bool:
    probe = f"import socket; socket.create_connection(('{HUB_ADDRESS}', {port}), 1)"
    return run_in(HUB, sys.executable, "-c", probe, check=False) == 0


ADD = """
from crawler.engine.models import Host
from feeds.models import Feed
urls = {urls!r}
hosts = Host.objects.named({{url.split('/')[2].split(':')[0] for url in urls}})
Feed.objects.bulk_create(
    Feed(url=url, canonical_url=url, host_id=hosts[url.split('/')[2].split(':')[0]]) for url in urls
)
"""
VISIT = """
from crawler.engine.tasks import dispatch
from feeds.models import Feed
from feeds.visiting.selection import retrieve_now
retrieve_now(Feed.objects.all(), "benchmark")
dispatch.delay()
"""


def measure(machines: Machines, options: argparse.Namespace) -> int:
    """Print the rates, and what a kill and a cut cost. Returns 1 when a goal was missed."""
    where = machines.network.feeds()
    machines.start(where, "feeds", sys.executable, ROOT / "benchmarks" / "feed_server.py",
                   f"--feeds={options.feeds}", f"--items={ITEMS}", f"--port={PORT}", "--network=10.98",
                   f"--delay={options.delay}")  # fmt: skip
    machines.python("from django.core.management import call_command; call_command('migrate', verbosity=0)")
    run_in(
        HUB,
        sys.executable,
        "-c",
        f"from benchmarks.database import mark_disposable as m; m({machines.database_url!r})",
    )
    controller = machines.network.machine("controller")
    for number in range(4):
        machines.worker(controller, f"controller{number}", "tick,store,recrawl,later")
    urls = [f"http://{feed_host(number, '10.98')}:{PORT}/feed.xml" for number in range(options.feeds)]
    machines.python(ADD.format(urls=urls))
    rates: list[float] = []
    namespaces: list[str] = []
    for number in range(1, options.terminals + 1):
        namespaces.append(machines.terminal(number))
        if number == 1:
            round_of(machines, options.feeds, 600)
        busy, total = processor_times()
        seconds = min(round_of(machines, options.feeds, 600) for _ in range(2))
        share = 100 * (processor_times()[0] - busy) / (processor_times()[1] - total)
        rates.append(options.feeds / seconds)
        words = f"{rates[-1]:.1f} unchanged feeds a second, processors {share:.0f} % busy"
        print(f"{number} terminals: {words}", flush=True)
    goals = [
        Goal(f"what terminal {number} adds, of the first", (rate - rates[number - 2]) / rates[0], 0.8, "x")
        for number, rate in enumerate(rates[1:], 2)
    ]
    before = visits(machines)
    machines.python(VISIT)
    time.sleep(0.5 * options.feeds / rates[-1])
    os.killpg(machines.processes["terminal1"].pid, signal.SIGKILL)
    machines.network.cut(namespaces[-1], is_up=False)
    print("a terminal was killed and another cut off", flush=True)
    time.sleep(20)
    machines.network.cut(namespaces[-1], is_up=True)
    began = time.monotonic()
    while unread := [feed for feed, count in visits(machines).items() if count <= before.get(feed, 0)]:
        if time.monotonic() - began > 240:
            break
        time.sleep(1)
    print(f"all feeds were read {time.monotonic() - began:.0f} s after the line was back")
    goals.append(Goal("feeds lost", len(unread), 0, "", most=True))
    print(*goals, sep="\n")
    return 0 if all(goal.reached for goal in goals) else 1


def processor_times() -> tuple[int, int]:
    """Return how long all processors were busy, and how long they were there, in the kernel's ticks."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)  # idle, and waiting for a disk


def round_of(machines: Machines, feeds: int, patience: float) -> float:
    """Have all feeds visited once. Returns the seconds until the last visit was stored."""
    before = sum(visits(machines).values())
    machines.python(VISIT)
    began = time.monotonic()
    count = "SELECT 0, count(*) FROM feeds_retrieval"
    wait_for(lambda: machines.rows(count)[0][1] >= before + feeds, patience, "not all came back", 0.1)
    return time.monotonic() - began


def visits(machines: Machines) -> dict[int, int]:
    """Count the visits of each feed."""
    return dict(machines.rows("SELECT feed_id, count(*) FROM feeds_retrieval GROUP BY 1"))


def run(*command: Any, check: bool = True) -> int:
    """Run a command. Returns its exit code, or raises SystemExit with what it said."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if check and done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.returncode


def run_in(namespace: str, *command: Any, check: bool = True) -> int:
    """Run a command in a namespace."""
    return run("ip", "netns", "exec", namespace, *command, check=check)


if __name__ == "__main__":
    sys.exit(main())
