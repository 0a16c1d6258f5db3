"""Everything is killed under load and started again: is all of a recorded world stored, exactly once?

    python -m benchmarks.recovery --opml FILE [--check COMMAND] [--rounds 3] [--broker redis]

Starts the product with a PostgreSQL of its own, adds the feeds of the OPML file, lets it work for `--load`
seconds, kills every process of the product and PostgreSQL at once (SIGKILL), waits for `--pause` seconds,
starts it again, waits until every feed was read, and tells what it found: one line a round. With
`--broker redis` or `rabbitmq` the product runs on a given PostgreSQL and that broker, with a second terminal,
and after the second start the broker is restarted, too. `--check` is a command that is run in the end with
{freshet} and {token} filled in; its exit status counts. Exit status 1 when a round failed.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from benchmarks.processes import family

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = {
    "FEED_TICK_SECONDS": "20",
    "FEED_MIN_GAP_SECONDS": "20",
    "FEED_TRAINING_MAX_TICKS": "1",
    "FETCH_HOST_SPACING_SECONDS": "0.1",
    "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
    "SECRET_KEY": "recovery",
}
READ_SECONDS = 600.0
"""How long all feeds may take to be read after the second start."""


def main() -> int:
    """Run the rounds and print their lines."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--opml", required=True, type=Path)
    options.add_argument("--check", help="a command with {freshet} and {token} in it")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--load", type=float, default=60.0, metavar="SECONDS")
    options.add_argument("--pause", type=float, default=120.0, metavar="SECONDS")
    options.add_argument("--broker", choices=["pgmq", "redis", "rabbitmq"], default="pgmq")
    options.add_argument("--keep", action="store_true", help="do not delete the data and the logs")
    asked = options.parse_args()
    print("| round | broker | killed | feeds read | articles | tracebacks | ended by themselves | check |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    good = True
    for number in range(1, asked.rounds + 1):
        row = run(asked)
        good &= row.pop("good")
        print(f"| {number} | {asked.broker} | {' | '.join(str(cell) for cell in row.values())} |", flush=True)
    return 0 if good else 1


def run(asked: argparse.Namespace) -> dict[str, Any]:
    """One round, in a new directory."""
    with ExitStack() as stack:
        place = Path(tempfile.mkdtemp(prefix="freshet-recovery-"))
        place.chmod(0o711)
        if not asked.keep:
            stack.callback(shutil.rmtree, place, ignore_errors=True)
        product = stack.enter_context(Product(place, asked.broker))
        product.start()
        product.manage("add_feeds", "--opml", str(asked.opml))
        feeds = product.feeds()
        time.sleep(asked.load)
        killed = product.kill_everything()
        time.sleep(asked.pause)
        product.start()
        if product.broker is not None:
            time.sleep(5)
            product.broker.restart()
        wait_for(lambda: product.unread() == 0, READ_SECONDS)
        read = len(feeds) - product.unread()
        token = product.token()
        checked = 0
        if asked.check:
            command = asked.check.format(freshet=product.url, token=token)
            with (place / "check.log").open("wb") as out:
                checked = subprocess.run(shlex.split(command), stdout=out, stderr=out, check=False).returncode
            if checked:
                print((place / "check.log").read_text(errors="replace")[-3000:])
        written = product.written()
        tracebacks = written.count("Traceback (most recent call last)")
        ended = written.count("ends itself") + written.count("starts anew") + written.count(" died")
        articles = product.articles()
    good = read == len(feeds) and not checked and not ended
    return {
        "killed": killed, "read": f"{read} of {len(feeds)}", "articles": articles, "tracebacks": tracebacks,
        "ended": ended, "check": "ok" if not checked else f"exit {checked}", "good": good,
    }  # fmt: skip


class Product:
    """The product under its supervisor, with PostgreSQL and broker of its own."""

    def __init__(self, place: Path, broker: str) -> None:
        self._place = place
        self.url = f"http://127.0.0.1:{free_port()}"
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}}
        port = self.url.rpartition(":")[2]
        self._environment = {**kept, **SETTINGS, "PORT": port, "DATA_DIR": str(place / "data")}
        self._running: list[subprocess.Popen[bytes]] = []
        self._database: Any = None
        self._token = ""
        kinds: dict[str, type[Broker]] = {"redis": Redis, "rabbitmq": RabbitMQ}
        self.broker = kinds[broker](place) if broker in kinds else None

    def __enter__(self) -> Product:
        if self.broker is not None:
            from crawler.postgresql.postgresql import PostgreSQL

            self._database = PostgreSQL(self._place / "given", {"max_connections": "200"})
            self._database.start()
            self._environment["DATABASE_URL"] = self._database.credentials.database_url
            self._environment["CELERY_BROKER_URL"] = self.broker.url
            self.broker.start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.send_signal(signal.SIGTERM)
        for process in self._running:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        if self._database is not None:
            self._database.stop()
        if self.broker is not None:
            self.broker.kill()

    def start(self) -> None:
        """Start it and wait until it is healthy; with a given broker a second terminal, too."""
        if self._database is not None:
            self._database.start()
        if self.broker is not None:
            self.broker.start()
        self._run([sys.executable, "manage.py", "run"])
        if self.broker is not None:
            terminal = [
                "-A",
                "crawler",
                "worker",
                "-Q",
                "fetch",
                "--pool",
                "threads",
                "-c",
                "32",
                "-n",
                "second@%h",
            ]
            self._run(
                [sys.executable, "-m", "celery", *terminal, "-n", "second@%h"],
                DATABASE_URL="none",
                DATA_DIR=str(self._place / "second"),
            )
        wait_for(lambda: answers(f"{self.url}/healthz"), 180.0)

    def _run(self, command: list[str], **changes: str) -> None:
        with (self._place / "log").open("ab") as log:
            self._running.append(
                subprocess.Popen(command, cwd=ROOT, env=self._environment | changes, stdout=log, stderr=log)
            )

    def kill_everything(self) -> int:
        """SIGKILL for all processes at once, PostgreSQL's and the broker's too; how many."""
        every: set[int] = set()
        for process in self._running:
            every |= family(process.pid)
        if self._database is not None:
            pid = (self._database.cluster / "postmaster.pid").read_text().split()[0]
            every |= family(int(pid))
        for pid in every:
            os.kill(pid, signal.SIGSTOP)  # so that nobody sees another's end
        for pid in every:
            os.kill(pid, signal.SIGKILL)
        if self.broker is not None:
            self.broker.kill()
        for process in self._running:
            process.wait()
        self._running.clear()
        return len(every)

    def manage(self, *command: str) -> str:
        """What a command of manage.py prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return done.stdout

    def token(self) -> str:
        """A key for the API."""
        self._token = self._token or self.manage("api_token", "admin").strip().split()[-1]
        return self._token

    def articles(self) -> int:
        """How many are stored."""
        found, page = 0, self.ask("/api/articles/?page_size=500")
        while page["next"]:
            found += len(page["results"])
            page = self.ask(page["next"].partition("/api/")[1] + page["next"].partition("/api/")[2])
        return found + len(page["results"])

    def ask(self, path: str) -> Any:
        """What the API answers."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Token {self.token()}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def feeds(self) -> list[dict[str, Any]]:
        """All feeds, as the API tells of them."""
        return list(self.ask("/api/feeds/?page_size=500")["results"])

    def unread(self) -> int:
        """Feeds without a success, and pages that still wait."""
        return sum(not feed["last_success"] for feed in self.feeds())

    def written(self) -> str:
        """All that the processes wrote to their logs."""
        logs = [self._place / "log", *(self._place / "data" / "logs").glob("*")]
        return "\n".join(log.read_text(errors="replace") for log in logs if log.is_file())


class Broker:
    """A broker of our own on a free port."""

    def __init__(self, place: Path) -> None:
        self._place, self._port = place, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address for Celery."""
        raise NotImplementedError

    def command(self) -> tuple[list[str], dict[str, str]]:
        """How it is started, and what its environment adds."""
        raise NotImplementedError

    def start(self) -> None:
        """Start it if it does not run, and wait until it listens."""
        if self._process is None or self._process.poll() is not None:
            command, changes = self.command()
            with (self._place / "broker.log").open("ab") as log:
                self._process = subprocess.Popen(
                    command, env={**os.environ, **changes}, stdout=log, stderr=log, start_new_session=True
                )
            if not wait_for(lambda: listens(self._port), 120.0):
                raise SystemExit(f"{command[0]} does not listen; {self._place / 'broker.log'} says why")

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            for pid in family(self._process.pid):
                with suppress(ProcessLookupError):  # it may have ended with the one before
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()

    def restart(self) -> None:
        """Kill it, and start it a few seconds later."""
        self.kill()
        time.sleep(5)
        self.start()


class Redis(Broker):
    """Redis, which keeps what it holds on disk as far as it gets."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def command(self) -> tuple[list[str], dict[str, str]]:
        keep = ["--appendonly", "yes", "--dir", str(self._place)]
        return ["redis-server", "--bind", "127.0.0.1", "--port", str(self._port), *keep], {}


class RabbitMQ(Broker):
    """A RabbitMQ node of our own."""

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self._port}//"

    def command(self) -> tuple[list[str], dict[str, str]]:
        base = str(self._place)
        # what the machine's own broker is told must not count for this one
        Path(base, "rabbitmq.conf").write_text(f"listeners.tcp.only = 127.0.0.1:{self._port}\n")
        Path(base, "plugins").write_text("[].\n")
        return ["/usr/lib/rabbitmq/bin/rabbitmq-server"], {
            "RABBITMQ_NODENAME": f"recovery{self._port}@localhost",
            "RABBITMQ_CONFIG_FILE": f"{base}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{base}/plugins",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": f"{base}/mnesia",
            "RABBITMQ_LOG_BASE": f"{base}/rabbit-log",
            "RABBITMQ_PID_FILE": f"{base}/rabbit.pid",
            "HOME": base,
        }


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Whether somebody does."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(url: str) -> bool:
    """Whether a page says 200."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def wait_for(promise: Callable[[], bool], seconds: float) -> bool:
    """Look every second until it holds; whether it did in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if promise():
                return True
        except OSError:
            pass
        time.sleep(2.0)
    return False


if __name__ == "__main__":
    sys.exit(main())
