"""An examination of a deployment: what is wrong, and what to do about it, in sentences.

Each examination looks at one thing and yields findings; one that breaks is a finding of its own.
"""

from __future__ import annotations

import shutil
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from threading import Thread
from typing import Literal

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from articles.meaning.filling import trouble, vector_count
from articles.meaning.vectors import extension_problem
from crawler.celery import app
from crawler.database.backups import unknown_migrations
from crawler.database.takeover import missing_migrations
from crawler.engine import pulses
from crawler.engine.chosen import chosen
from crawler.engine.mailing import has_mail
from crawler.engine.models import Pulse
from crawler.fetching.browser import look
from crawler.isolation import confine
from crawler.operation.site.disk_space import days_left
from crawler.operation.site.health import NO_WALL
from crawler.pipeline.sparql import replica
from crawler.pipeline.sparql.mirror import MIRROR
from crawler.pipeline.sparql.replica import read_json
from crawler.pipeline.sparql.run import wall
from crawler.postgresql import place
from crawler.telemetry.traces import missing_packages
from crawler.telemetry.version import version
from feeds.models import Tick
from feeds.websub.models import HubSubscription

Level = Literal["fine", "note", "bad"]
MEGABYTE = 1024**2
LITTLE_SPACE, VERY_LITTLE_SPACE = 2048 * MEGABYTE, 300 * MEGABYTE
MAX_CLOCK_SECONDS = 60.0
SECONDS = 5.0
"""For each answer of the network."""
MIN_POSTGRESQL = 140_000
LONG_TRANSACTION = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a part: a sentence, and what to do if it is not fine."""

    part: str
    level: Level
    sentence: str
    remedy: str = ""


def examined() -> Iterator[Finding]:
    """Yield the findings of all examinations, one after the other."""
    has_database = settings.DATABASE_URL != "none"
    for part, examine in EXAMINATIONS.items():
        if part in IN_DATABASE and not has_database:
            continue
        try:
            yield from examine()
        except DatabaseError as error:
            has_database = False
            remedy = "Start it, or correct DATABASE_URL."
            yield Finding(part, "bad", f"The database does not answer: {_first_line(error)}.", remedy)
        except Exception as error:
            yield Finding(part, "bad", f"This could not be examined: {type(error).__name__}: {error}.")


def _version() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("version", "fine", f"Freshet {version()} on Python {python}.")
    if missing := missing_packages():
        sentence = f"OTEL_EXPORTER_OTLP_ENDPOINT is set, but no traces are sent: {missing[0]} is missing."
        yield Finding("version", "bad", sentence, "Install freshet[traces].")


def _folder() -> Iterator[Finding]:
    folder = settings.DATA_DIR
    if problem := place.problem_of(folder):
        yield Finding("folder", "bad", f"{problem}.", "Set DATA_DIR to a folder that can be written to.")
        return
    if folder.stat().st_mode & 0o007 and (folder / "secret_key").exists():
        mode = (folder / "secret_key").stat().st_mode
        if mode & 0o077:
            remedy = f"chmod 600 {folder / 'secret_key'}"
            yield Finding("folder", "bad", "Others on this machine can read the secret key.", remedy)
    free = shutil.disk_usage(folder).free
    sentence = f"{folder} has {free / 1e9:,.1f} GB of free space."
    with suppress(DatabaseError, ImproperlyConfigured):
        if (days := days_left(datetime.now(UTC), free)) is not None:
            sentence += f" At this pace it is full in {days:,} days."
    remedy = "Make room, or let articles and changes end sooner (RETENTION_...)."
    if free < VERY_LITTLE_SPACE:
        yield Finding("disk", "bad", sentence, remedy)
    else:
        yield Finding("disk", "note" if free < LITTLE_SPACE else "fine", sentence, remedy)


def _database() -> Iterator[Finding]:
    if settings.DATABASE_URL == "none":
        yield Finding(
            "database", "bad", "There is no database yet.", "Start Freshet once, or set DATABASE_URL."
        )
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), current_setting('server_version_num')::int")
        name, number = cursor.fetchone()
        cursor.execute("SELECT pg_database_size(current_database()), pg_encoding_to_char(encoding)"
                       " FROM pg_database WHERE datname = current_database()")  # fmt: skip
        size, encoding = cursor.fetchone()
        cursor.execute("SELECT clock_timestamp()")
        apart = abs((cursor.fetchone()[0] - datetime.now(UTC)).total_seconds())
        cursor.execute(
            "SELECT max(now() - xact_start) FROM pg_stat_activity WHERE datname = current_database()"
        )
        longest = cursor.fetchone()[0] or timedelta()
    yield Finding("database", "fine", f"PostgreSQL {name} answers and holds {size / 1e6:,.0f} MB.")
    if number < MIN_POSTGRESQL:
        yield Finding("database", "bad", f"PostgreSQL {name} is too old.", "Use 14 or later.")
    if encoding != "UTF8":
        yield Finding("database", "bad", f"The database is encoded in {encoding}.", "Make one in UTF8.")
    if apart > MAX_CLOCK_SECONDS:
        yield Finding(
            "clock", "bad", f"The clocks of this machine and of the database are {apart:,.0f} s apart.",
            "Let both follow a time server.",
        )  # fmt: skip
    if longest > LONG_TRANSACTION:
        hours = longest.total_seconds() / 3600
        remedy = "Look who it is: SELECT * FROM pg_stat_activity ORDER BY xact_start."
        yield Finding(
            "database", "note", f"A transaction has been open for {hours:.1f} hours: tables grow.", remedy
        )


def _tables() -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if unknown_migrations(executor.loader.applied_migrations):
        yield Finding(
            "tables", "bad", "The database was used by a later version of Freshet than this one.",
            "Install the later version, or restore a backup of this one.",
        )  # fmt: skip
    elif missing_migrations(executor.loader.applied_migrations):
        yield Finding(
            "tables", "bad", "The database is of a version too old for this one.",
            "First start the last version that has all its migrations, then this one.",
        )  # fmt: skip
    elif plan:
        sentence = f"{len(plan)} changes of tables are waiting."
        yield Finding("tables", "bad", sentence, "Start Freshet again, or run the command migrate.")
    else:
        yield Finding("tables", "fine", "All tables are those of this version.")


def _processes() -> Iterator[Finding]:
    now, remedy = datetime.now(UTC), "Start Freshet, or look at what its processes print."
    last = Tick.objects.filter(finished__isnull=False).order_by("-started").first()
    if last is None or last.finished is None:
        yield Finding("planning", "bad", "No visit of feeds has ever been planned.", remedy)
    elif now - last.finished > pulses.silence_allowed():
        sentence = f"Visits of feeds were last planned at {last.finished:%Y-%m-%d %H:%M} UTC."
        yield Finding("planning", "bad", sentence, remedy)
    elif last.finished - now > timedelta(seconds=MAX_CLOCK_SECONDS):
        sentence = "The last plan of visits is from the future: this machine's clock was turned back."
        yield Finding(
            "clock", "bad", sentence, "Let it follow a time server; all goes on when time has come."
        )
    else:
        yield Finding("planning", "fine", "Visits of feeds are planned.")
    answered = dict(Pulse.objects.values_list("queue", "answered"))
    silent = [
        queue
        for queue in pulses.QUEUES
        if (at := answered.get(queue)) is None or now - at > pulses.silence_allowed()
    ]
    if silent:
        yield Finding("workers", "bad", f"Nobody works for: {', '.join(silent)}.", remedy)
    else:
        yield Finding("workers", "fine", "All kinds of work have somebody who does them.")
    if problem := replica.trouble(now):
        yield Finding("graph", "bad", f"Answers to SPARQL may be old: {problem}.", remedy)


def _queues() -> Iterator[Finding]:
    address = settings.CELERY_BROKER_URL
    if address.startswith("memory:"):
        if settings.DATABASE_URL != "none":
            remedy = "Start Freshet, or set CELERY_BROKER_URL."
            yield Finding("queues", "bad", "There are no queues that other processes reach.", remedy)
        return
    kind = "PostgreSQL" if address.startswith("pgmq:") else address.partition(":")[0]
    try:
        if address.startswith("pgmq:"):
            dsn = str(settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"])
            psycopg.connect(dsn, connect_timeout=int(SECONDS)).close()
        else:
            with app.connection_for_write(connect_timeout=SECONDS) as link:
                link.ensure_connection(max_retries=1, timeout=int(SECONDS))
    except Exception as error:
        remedy = "Start it, or correct CELERY_BROKER_URL."
        yield Finding("queues", "bad", f"The queues in {kind} do not answer: {_first_line(error)}.", remedy)
        return
    yield Finding("queues", "fine", f"The queues in {kind} answer.")


def _pages() -> Iterator[Finding]:
    local = f"http://localhost:{settings.PORT}/healthz"
    status_text, problem = _answer_of(local)
    if not status_text:
        remedy = "Start Freshet, or set PORT to the port it listens on."
        yield Finding("pages", "bad", f"Nothing answers at {local}: {problem}.", remedy)
    else:
        yield Finding("pages", "fine", f"Pages are served at port {settings.PORT}.")
    if settings.PUBLIC_URL:
        public = f"{settings.PUBLIC_URL}{settings.URL_PREFIX}/healthz"
        status_text, problem = _answer_of(public)
        if status_text:
            yield Finding("public", "fine", f"{settings.PUBLIC_URL}{settings.URL_PREFIX} leads here.")
        else:
            remedy = "Look at the proxy and at ALLOWED_HOSTS. Some networks cannot reach themselves."
            yield Finding("public", "note", f"{public} was not reached from here: {problem}.", remedy)


def _network() -> Iterator[Finding]:
    reachable: list[str] = []

    def look_up() -> None:
        for name in ("www.iana.org", "www.debian.org"):
            try:
                socket.getaddrinfo(name, 443)
            except OSError:
                continue
            reachable.append(name)
            return

    # A resolver without an answer takes its own time.
    thread = Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(SECONDS)
    if not reachable:
        remedy = "Look at /etc/resolv.conf and at the network."
        yield Finding("network", "bad", "Names of sites are not found (DNS): nothing can be fetched.", remedy)
        return
    date, problem = _answer_of(f"https://{reachable[0]}/")
    if not date:
        remedy = "Look at the firewall; a proxy for all requests is not supported."
        yield Finding("network", "bad", f"{reachable[0]} is not reached: {problem}.", remedy)
        return
    yield Finding("network", "fine", "Names are found, and sites are reached.")
    try:
        apart = abs((parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except ValueError:
        return
    if apart > MAX_CLOCK_SECONDS:
        sentence = f"This machine's clock is {apart:,.0f} s away from that of {reachable[0]}."
        yield Finding("clock", "bad", sentence, "Let it follow a time server.")


def _hubs() -> Iterator[Finding]:
    if not settings.PUBLIC_URL:
        return
    states = set(HubSubscription.objects.values_list("state", flat=True))
    if states and HubSubscription.State.ACTIVE not in states:
        remedy = "Hubs must reach PUBLIC_URL from the internet."
        yield Finding("hubs", "note", "No hub sends news here: none has confirmed a subscription.", remedy)


def _settings() -> Iterator[Finding]:
    public, fights = settings.PUBLIC_URL, False
    host = public.partition("://")[2].partition("/")[0].partition(":")[0]
    if public and host not in settings.ALLOWED_HOSTS and "*" not in settings.ALLOWED_HOSTS:
        fights = True
        remedy = f"Add {host} to ALLOWED_HOSTS."
        yield Finding("settings", "bad", f"PUBLIC_URL names {host}, which ALLOWED_HOSTS refuses.", remedy)
    if public.startswith("https://") and not settings.BEHIND_TLS_PROXY:
        fights = True
        sentence = "PUBLIC_URL is https, and BEHIND_TLS_PROXY says that no proxy stands before this server."
        yield Finding("settings", "bad", sentence, "Unset BEHIND_TLS_PROXY.")
    if chosen("SIGN_UP") == "open" and not has_mail():
        fights = True
        sentence = "Everybody may sign up, and no mail can be sent to those who forget their passwords."
        yield Finding("settings", "note", sentence, "Set EMAIL_URL.")
    if not fights:
        yield Finding("settings", "fine", "The settings fit together.")


def _walls() -> Iterator[Finding]:
    remedy = "A kernel with seccomp and Landlock (Linux 5.13 or later) has them."
    if missing := confine.missing():
        sentence = f"{missing[:1].upper()}{missing[1:]}."
        yield Finding("walls", "note", sentence, remedy)
    if not wall():
        yield Finding("walls", "note", f"{NO_WALL[:1].upper()}{NO_WALL[1:]}.", remedy)
    if missing := look.missing():
        yield Finding("browser", "note", f"Pages cannot be opened in a browser: {missing}")


def _mirror() -> Iterator[Finding]:
    if not settings.SPARQL_MIRROR_URL:
        return
    position = read_json(replica.home() / MIRROR)
    waiting, aside = len(position.get("waiting", ())), len(position.get("aside", ()))
    sentence = f"Graphs that wait for the mirror: {waiting:,}; refused by it: {aside:,}."
    remedy = (
        "The log says why the store does not take them; SPARQL_MIRROR_URL and SPARQL_MIRROR_LOGIN name it."
    )
    yield Finding("mirror", "note" if waiting or aside else "fine", sentence, remedy)


def _meaning() -> Iterator[Finding]:
    if not settings.EMBEDDINGS_URL:
        return
    if problem := extension_problem():
        remedy = "Install pgvector 0.8 or later there, and as its superuser: CREATE EXTENSION vector."
        yield Finding("meaning", "bad", f"Searches do not find by meaning: {problem}", remedy)
        return
    _since, failure = trouble()
    if failure:
        remedy = "Look at the endpoint that EMBEDDINGS_URL names; Freshet asks again by itself."
        yield Finding("meaning", "bad", f"Articles get no vectors: {failure}", remedy)
        return
    sentence = f"PostgreSQL has pgvector. Articles with a vector: about {vector_count():,}."
    yield Finding("meaning", "fine", sentence)


IN_DATABASE = {"tables", "processes", "hubs", "meaning"}
"""Examinations that only look into the database."""
EXAMINATIONS: dict[str, Callable[[], Iterator[Finding]]] = {
    "version": _version,
    "settings": _settings,
    "folder": _folder,
    "database": _database,
    "tables": _tables,
    "queues": _queues,
    "processes": _processes,
    "pages": _pages,
    "network": _network,
    "hubs": _hubs,
    "walls": _walls,
    "mirror": _mirror,
    "meaning": _meaning,
}


def _answer_of(address: str) -> tuple[str, str]:
    """Return the date of an address' answer, and what went wrong if there was none."""
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as response:  # noqa: S310 - http(s), written here
            return str(response.headers.get("Date", "now")), ""
    except urllib.error.HTTPError as error:  # it does answer
        return str(error.headers.get("Date", "now")), ""
    except (OSError, ValueError) as error:
        return "", _first_line(getattr(error, "reason", error))


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
