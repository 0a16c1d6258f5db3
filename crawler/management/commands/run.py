"""`manage.py run`: run everything that Freshet needs on one machine."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import secrets
import socket
import time
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.finders import get_finders
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from kombu.exceptions import KombuError

from crawler.accounts.demo import VISITOR
from crawler.accounts.models import Account
from crawler.celery import app
from crawler.database import schema
from crawler.database.takeover import refuse_older
from crawler.isolation import forks, memory
from crawler.management.commands.restore import UNFINISHED
from crawler.operation.deployment import database
from crawler.operation.deployment.processes import Sealed, bind, children, load
from crawler.operation.deployment.supervisor import Child, Stop, Supervisor, raise_stop_on_signals
from crawler.postgresql import broker, place
from crawler.postgresql.credentials import EmbeddedError
from crawler.postgresql.postgresql import PostgreSQL

# A process that has not used the processor for so long while it starts does not start.
PATIENCE_SECONDS = 300.0


class Command(BaseCommand):
    help = "Run the web server, the workers and the scheduler, and a private PostgreSQL if none is given."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-tick", action="store_true", help="leave the first tick to the scheduler")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start everything, supervise it, and end it all at the first Ctrl-C or SIGTERM.

        1. PostgreSQL: our own, unless DATABASE_URL is given
        2. the broker's queues
        3. migrations, if any are pending
        4. an administrator, if there is none; the password is shown only this once
        5. static files, if they changed
        6. web server, controller, terminal and scheduler, all at once, and a first tick

        The graph's process and others start when they have work (crawler.operation.deployment.waking).
        """
        self._step_number = 0
        self._server: PostgreSQL | None = None
        self._supervisor: Supervisor | None = None
        self._sealed = Sealed()
        raise_stop_on_signals()
        try:
            self._start(first_tick=not options["no_tick"])
        except Stop as reason:
            self.stdout.write(f"\n{reason}: ending")
        except (EmbeddedError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except forks.ResultError as error:
            problem = (
                str(error) if error.kind == CommandError.__name__ else f"{error.kind}: {first_line(error)}"
            )
            raise CommandError(problem) from error
        except (DatabaseError, psycopg.Error, OSError) as error:
            raise CommandError(f"{type(error).__name__}: {first_line(error)}") from error
        finally:
            self._end()

    def _start(self, first_tick: bool) -> None:
        began = time.monotonic()
        memory.offer_to_kernel("supervisor")
        if problem := place.problem_of(settings.DATA_DIR):
            raise CommandError(problem)
        check_port(settings.PORT)
        if not database.is_given():
            self._server = database.own_server(self._say)
        self._sealed.start()  # it loads what it needs while this process does the rest
        with memory.without_collection():
            load()
        memory.keep_what_is_loaded()
        self._step("PostgreSQL", self._postgresql)
        # Beside what follows, not beside initdb, which took twice as long then.
        static = forks.ForkedResult(collect_static, "static files")
        # In separate processes: what they need of memory is not in all that is forked afterwards.
        for name, work in (("broker", make_broker_ready), ("migrations", migrate)):
            self._step(name, forks.ForkedResult(work, name).get)
        if settings.DEMO:
            self._step("demonstration", forks.ForkedResult(seed_demonstration, "demonstration").get)
        else:
            self._step("administrator", forks.ForkedResult(ensure_administrator, "administrator").get)
        self._step("static files", static.get)
        # Workers elsewhere may share a broker that was given: what its dead left waits for the timeout.
        ours = self._server is not None and not os.environ.get("CELERY_BROKER_URL")
        release = partial(broker.release, broker_dsn()) if ours else None
        place.keep_private(settings.DATA_DIR)
        address = f"http://localhost:{settings.PORT}/"
        self._supervisor = Supervisor(children(self._sealed), self._say, self._server, release)
        self._supervisor.start(PATIENCE_SECONDS, self._tell_ready)
        if first_tick and not settings.DEMO:
            forks.ForkedResult(send_first_tick, "first tick").get()
        self.stdout.write(self.style.SUCCESS(f"ready: {address} ({time.monotonic() - began:.1f} s)"))
        self.stdout.flush()
        self._supervisor.watch()

    def _end(self) -> None:
        began = time.monotonic()
        if self._supervisor is not None:
            self._supervisor.stop()
            self._sealed.close()
        elif self._server is not None:
            self._server.stop()
        else:
            return
        self.stdout.write(f"all ended after {time.monotonic() - began:.1f} s")

    def _postgresql(self) -> str:
        if settings.DATABASE_URL == "none" and os.environ.get("DATABASE_URL"):
            raise CommandError("DATABASE_URL=none is for terminals: name a database, or leave it unset")
        if self._server is None:
            try:
                psycopg.connect(settings.DATABASE_URL, connect_timeout=30).close()
            except psycopg.Error as error:
                problem = f"the database of DATABASE_URL does not answer: {first_line(error)}"
                raise CommandError(problem) from error
            return "given by DATABASE_URL"
        self._server.start()
        return f"on port {self._server.credentials.port}, data in {self._server.cluster}"

    def _step(self, name: str, work: Callable[[], str]) -> None:
        began = time.monotonic()
        result = work()
        self._told(name, result, time.monotonic() - began)

    def _tell_ready(self, child: Child) -> None:
        self._told(child.name, "up", (child.ready or child.started) - child.started)

    def _told(self, name: str, result: str, seconds: float) -> None:
        self._step_number += 1
        self.stdout.write(f"{self._step_number}. {name}: {result} ({seconds:.1f} s)")
        self.stdout.flush()

    def _say(self, line: str) -> None:
        self.stderr.write(f"{time.strftime('%H:%M:%S')} {line}")


def make_broker_ready() -> str:
    """Create the queues in PostgreSQL, or check that another broker answers.

    Raises CommandError otherwise.
    """
    if settings.CELERY_BROKER_URL.startswith("memory:"):
        raise CommandError("CELERY_BROKER_URL=memory: reaches no other process: name another, or unset it")
    try:
        if settings.CELERY_BROKER_URL.startswith("pgmq:"):
            is_new = broker.install(broker_dsn())
            routed = {route["queue"] for route in app.conf.task_routes.values()}
            broker.make_queues(broker_dsn(), {*routed, app.conf.task_default_queue})
            return "queues made" if is_new else "queues in PostgreSQL"
        _greet_broker()
    except (KombuError, psycopg.Error, OSError, ValueError) as error:
        problem = f"the broker of CELERY_BROKER_URL does not answer: {first_line(error)}"
        raise CommandError(problem) from error
    return "given by CELERY_BROKER_URL"


def _greet_broker() -> None:
    """Connect to the broker that was given. Raises KombuError, OSError or ValueError."""
    from redis import RedisError  # noqa: PLC0415 - a tenth of a start, which PostgreSQL as broker does without

    try:
        with app.connection_for_write() as link:
            link.ensure_connection(max_retries=3, interval_start=1, interval_step=0, timeout=10)
    except RedisError as error:
        raise OSError(first_line(error)) from error


def send_first_tick() -> str:
    """Request a tick now instead of at its scheduled time."""
    app.send_task("feeds.tasks.tick", queue="tick", expires=3 * settings.FEED_TICK_SECONDS)
    return "sent"


def broker_dsn() -> str:
    """Return the broker's address in the form of libpq."""
    return str(settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"])


def check_port(port: int) -> None:
    """Raise CommandError when the web server could not listen on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind().split(":")[0], port))
        except PermissionError:
            raise CommandError(f"this user may not listen on port {port}: set PORT above 1023") from None
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise CommandError(
                    f"port {port} cannot be listened on: {error.strerror}; set PORT"
                ) from error
            raise CommandError(f"port {port} is taken: end what uses it, or set PORT") from None


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def migrate() -> str:
    """Run pending migrations. Without any, the database is not touched, not even permissions.

    An empty database of our own gets the tables of all migrations at once. Raises CommandError if a restore
    of a backup was not finished, or the database is too old.
    """
    if UNFINISHED in connection.introspection.table_names():
        raise CommandError("a backup was being restored here and did not get to its end: restore it again")
    executor = MigrationExecutor(connection)
    refuse_older(executor.loader.applied_migrations)
    is_new = not database.is_given() and not executor.loader.applied_migrations
    if is_new:
        schema.load()
        executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        _upgrade()
    executor.check_replacements()  # notes squashed migrations of which there was nothing to run
    if is_new:
        return "tables made"
    return f"{len(plan)} run" if plan else "none to run"


def _upgrade() -> None:
    """Bring the tables up to date, all or nothing. Raises CommandError, after which they are as they were.

    Of six migrations whose fourth failed, three stayed: neither this version nor the one before could go on.
    """
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                # Otherwise a table with new rows could not be altered before the end.
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            call_command("migrate", interactive=False, verbosity=0)
    except Exception as error:
        raise CommandError(
            f"the tables could not be brought up to date, and are as they were ({first_line(error)}): "
            "start the version before, whose data they are, and tell its makers"
        ) from error


def collect_static() -> str:
    """Collect and compress static files if a source file changed since the last time."""
    mark = static_fingerprint()
    stamp = settings.STATIC_ROOT / ".stamp"
    if stamp.exists() and stamp.read_text() == mark:
        return "unchanged"
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(mark)
    return "collected"


def static_fingerprint() -> str:
    """Return a digest of the names, sizes and times of all static files."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list(StaticFilesConfig.ignore_patterns):
            stat = os.stat(storage.path(path))
            digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def seed_demonstration() -> str:
    """Fill an empty database with invented data, and make a snapshot of its graph."""
    from crawler.operation.deployment.demo import seed  # noqa: PLC0415 - much to load, which nobody else needs

    if User.objects.filter(username=VISITOR).exists():
        return "exists"
    seed(datetime.now(UTC))
    User.objects.filter(username=VISITOR).update(is_staff=False)
    call_command("sparql_replica", once=True, verbosity=0, stdout=io.StringIO())
    return "invented data made"


def ensure_administrator() -> str:
    """Create `admin` with a random password if no superuser exists.

    Only the returned text has the password.
    """
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return "exists"
    password = secrets.token_urlsafe(12)
    admin = users.create_superuser("admin", email="", password=password)
    Account.objects.create(user=admin, has_printed_password=True)
    return f"user admin, password {password} (shown only now)"
