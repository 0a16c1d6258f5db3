"""Health checks: `/healthz` for load balancers and scripts, `/metrics` for Prometheus (text format 0.0.4)."""

from __future__ import annotations

import hmac
import logging
import shutil
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial, reduce
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from crawler.engine import pulses
from crawler.engine.clock import lies_ahead
from crawler.engine.models import Pulse
from crawler.engine.pulses import QUEUES
from crawler.isolation import confine
from crawler.operation.site.models import RoomSample
from crawler.operation.site.statistics import Statistics, statistics
from crawler.pipeline.sparql import replica
from crawler.pipeline.sparql.run import wall
from crawler.postgresql import place
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from crawler.web.authentication import CountedTokenAuthentication
from feeds.models import Tick

log = logging.getLogger(__name__)

OK = gettext_noop("ok")
NOT_KNOWN = gettext_noop("not known")
NO_WALL = gettext_noop(
    "this kernel has neither seccomp nor network namespaces for us: strangers' queries and stylesheets are"
    " kept from the network by limits alone"
)
gettext_noop(  # of crawler.isolation.confine, which knows nothing of ours
    "terminals can read this machine's secrets: its kernel has no Landlock (Linux 5.13 and newer have)"
)
CHECK_SECONDS = 0.8
"""For the database's answer: load balancers wait for a second."""
_STARTED = time.monotonic()
RECENT_SECONDS = 10.0
_last_status = [OK]
"""What /healthz of this process said last."""
_folders: defaultdict[Path, set[str]] = defaultdict(set)
"""Folders of a data directory that this process has seen."""
_checks = threading.BoundedSemaphore(4)


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the whole deployment, and of each part: `ok`, or words that say what is wrong.

    `walls` says how far processes for hostile bytes are kept from other files; `sandbox` how far processes
    that work on strangers' queries and stylesheets are kept from the network. Missing protection is no
    failure. `graph` is the replica that answers SPARQL on this machine, if one has ever run here: how many
    changes it is behind, and how many graphs it could not take over whole. `folder` is this machine's data
    directory: its folders, its free space, and whether it can be written to.
    """

    status: Literal["ok", "starting", "failing"]
    database: str
    tick: str
    workers: str
    walls: str = OK
    graph: str = OK
    graph_behind: int = 0
    graphs_set_aside: int = 0
    sandbox: str = OK
    folder: str = OK


_last_answer: list[tuple[float, Health]] = []


def check_health(now: datetime, *, uptime: timedelta | None = None) -> Health:
    """Ask the database, and read from it when the last tick ended and when workers last answered.

    `uptime` is how long this process runs: until three ticks have passed, a deployment that never
    ticked, or whose workers never answered, is starting, not failing.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        tick, never_ticked = _tick(now)
        workers, never_answered = _workers(now)
        behind = replica.behind()
    except DatabaseError as error:
        return _silent_database(str(error).strip().partition("\n")[0])
    if settings.DEMO:  # which has a web server and nothing else
        return Health("ok", OK, OK, OK)
    walls = confine.missing() or OK
    sandbox = OK if wall() else NO_WALL
    graph = replica.trouble(now) or OK
    aside = len(replica.set_aside())
    folder = _folder()
    age = uptime if uptime is not None else timedelta(seconds=time.monotonic() - _STARTED)
    young = age < pulses.three_ticks()
    status: Literal["ok", "starting", "failing"] = "ok"
    if tick != OK or workers != OK:
        new = never_ticked or (tick == OK and never_answered)
        status = "starting" if new and young else "failing"
    elif graph != OK:
        status = "starting" if young else "failing"
    if folder != OK:
        status = "failing"
    return Health(status, OK, tick, workers, walls, graph, behind, aside, sandbox, folder)


def _folder() -> str:
    """Return the state of the data directory, in which the folders that were there once should stay."""
    folders = _folders[settings.DATA_DIR]
    folders |= place.folders_of(settings.DATA_DIR)
    try:
        return place.trouble_of(settings.DATA_DIR, folders) or OK
    except OSError as error:
        return Reason("the data directory cannot be read: {0}", error.strerror)


def check_health_in_time(now: datetime) -> Health:
    """Return the health within a second, even without a database, whose connections would wait longer.

    For a slow database on a busy machine the last result of a few seconds ago is returned. Callers in a
    transaction (tests) use their own connection.
    """
    if connection.in_atomic_block:
        return check_health(now)
    checks = _checks
    if not checks.acquire(blocking=False):
        return _silent_database("it has not answered earlier checks yet")
    future: Future[Health] = Future()

    def check() -> None:
        try:
            future.set_result(check_health(now))
        except Exception as error:
            future.set_exception(error)
        finally:
            try:
                connection.close()
            finally:
                checks.release()

    threading.Thread(target=check, name="health", daemon=True).start()
    try:
        _last_answer[:] = [(time.monotonic(), future.result(CHECK_SECONDS))]
    except TimeoutError:
        is_recent = any(time.monotonic() - at < RECENT_SECONDS for at, _ in _last_answer)
        if not is_recent or not _listens():
            return _silent_database(Reason("no answer within {0} s", f"{CHECK_SECONDS:g}"))
    return _last_answer[0][1]


def _listens() -> bool:
    """Return whether something accepts connections at the database's address."""
    database = connection.settings_dict
    host, port = database["HOST"] or "127.0.0.1", int(database["PORT"] or 5432)
    if host.startswith("/"):
        return Path(host, f".s.PGSQL.{port}").exists()
    try:
        socket.create_connection((host, port), timeout=0.1).close()
    except OSError:
        return False
    return True


def _silent_database(reason: str) -> Health:
    return Health("failing", Reason("does not answer: {0}", reason), NOT_KNOWN, NOT_KNOWN, graph=NOT_KNOWN)


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200 when all parts work, else 503; open to everyone, so it reveals no more than that."""
    health = check_health_in_time(datetime.now(UTC))
    content = {name: value for name, value in asdict(health).items() if name != "walls"}
    _log_change(health)
    response = JsonResponse(content, status=200 if health.status == "ok" else 503)
    # Django would write an error for each look, which is every few seconds for hours.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _log_change(health: Health) -> None:
    """Write one line when the deployment begins to fail, and one when it is well again."""
    before, _last_status[0] = _last_status[0], health.status
    if health.status == before:
        return
    if health.status == "failing":
        parts = ("database", "tick", "workers", "graph", "folder")
        wrong = [f"{part}: {words}" for part in parts if (words := getattr(health, part)) != OK]
        log.error("the deployment is failing: %s", "; ".join(wrong))
    elif before == "failing" and health.status == OK:
        log.warning("the deployment is well again")


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return figures for Prometheus.

    Requires METRICS_TOKEN (`Authorization: Bearer ...`) or an API token.
    """
    if not _may_read_metrics(request):
        response = HttpResponse("An API token or METRICS_TOKEN is needed.\n", "text/plain", status=401)
        response.headers["WWW-Authenticate"] = 'Bearer realm="freshet"'
        return response
    now = datetime.now(UTC)
    text = "".join(_exposition(check_health(now), statistics(now), now))
    return HttpResponse(text, "text/plain; version=0.0.4; charset=utf-8")


def _may_read_metrics(request: HttpRequest) -> bool:
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    token = settings.METRICS_TOKEN
    if token and scheme.lower() == "bearer":
        return hmac.compare_digest(credentials.strip().encode(), token.encode())
    try:
        return CountedTokenAuthentication().authenticate(Request(request)) is not None
    except (AuthenticationFailed, Throttled):
        return False


def _tick(now: datetime) -> tuple[str, bool]:
    last = Tick.objects.filter(finished__isnull=False).order_by("-started").first()
    if last is None or last.finished is None:
        return gettext_noop("no tick has finished yet"), True
    reason = Reason("the last tick finished at {0} UTC", f"{last.finished:%Y-%m-%d %H:%M:%S}")
    if lies_ahead(last.finished, now):
        words = gettext_noop(
            "the last tick finished at {0} UTC, which is yet to come: the clock was turned back"
        )
        return Reason(words, *reason.arguments), False
    return (OK if now - last.finished <= pulses.silence_allowed() else reason), False


def _workers(now: datetime) -> tuple[str, bool]:
    """Return the workers' state, and whether all silent queues have never answered."""
    answered = dict(Pulse.objects.filter(queue__in=QUEUES).values_list("queue", "answered"))
    silences = {queue: _silence(queue, answered.get(queue), now) for queue in QUEUES}
    silent = [queue for queue in QUEUES if silences[queue]]
    never = all(answered.get(queue) is None for queue in silent)
    return _joined([silences[queue] for queue in silent]) or OK, never


def _joined(reasons: list[str]) -> str:
    """Return reasons as one, empty for none."""
    return reduce(partial(Reason, "{0}; {1}"), reasons) if reasons else ""


def _silence(queue: str, answered: datetime | None, now: datetime) -> str:
    if answered is None:
        return Reason("no worker of the queue {0} has answered yet", queue)
    if lies_ahead(answered, now):
        return Reason("no worker of the queue {0} has answered since the clock was turned back", queue)
    if now - answered <= pulses.silence_allowed():
        return ""
    return Reason(
        "no worker of the queue {0} has answered since {1} UTC", queue, f"{answered:%Y-%m-%d %H:%M:%S}"
    )


def _exposition(health: Health, figures: Statistics, now: datetime) -> Iterator[str]:
    last = Tick.objects.filter(finished__isnull=False).order_by("-started").first()
    yield from _gauge("up", "1 when /healthz says ok.", {"": float(health.status == "ok")})
    yield from _gauge("graph_changes_behind", "Changes that SPARQL does not see.", {"": health.graph_behind})
    yield from _gauge("graphs_set_aside", "Graphs that SPARQL has not whole.", {"": health.graphs_set_aside})
    if last is not None and last.finished is not None:
        age = (now - last.finished).total_seconds()
        yield from _gauge("tick_age_seconds", "Since the last tick finished.", {"": age})
    states = {f'status="{name}"': getattr(figures, name) for name in ("active", "paused", "gone")}
    yield from _gauge("feeds", "Feeds by status.", states)
    yield from _gauge("feeds_training", "Active feeds in the training phase.", {"": figures.training})
    yield from _gauge("feeds_failing", "Active feeds whose last visit failed.", {"": figures.failing})
    yield from _gauge("feeds_waiting", "Feeds selected for a visit or on it.", {"": figures.waiting})
    room = RoomSample.objects.order_by("-day").first()
    if room is not None:
        yield from _gauge("database_bytes", "Size of the database today.", {"": room.database_bytes})
    free = shutil.disk_usage(settings.DATA_DIR).free
    yield from _gauge("disk_free_bytes", "Free space on the disk of the data.", {"": free})
    yield from _gauge("articles", "Articles stored.", {"": figures.articles})
    yield from _gauge("new_articles_day", "Articles of the last 24 hours.", {"": figures.new_articles})
    yield from _gauge("retrievals_day", "Visits of the last 24 hours.", {"": figures.retrievals})
    yield from _gauge("not_modified_day", "Answered 304, last 24 hours.", {"": figures.not_modified})
    yield from _gauge("failures_day", "Failed visits of the last 24 hours.", {"": figures.failures})
    yield from _gauge("bytes_day", "Bytes of feeds received in the last 24 hours.", {"": figures.bytes})
    yield from _gauge("budget_ratio", "Retrievals made of those allowed.", {"": figures.budget.share})
    delay = {"0.5": figures.delay.p50, "0.95": figures.delay.p95, "0.99": figures.delay.p99}
    quantiles = {f'quantile="{name}"': value for name, value in delay.items() if value is not None}
    yield from _gauge("delay_seconds", "Publication to retrieval, last 24 hours.", quantiles)


def _gauge(name: str, help_text: str, values: Mapping[str, float]) -> Iterator[str]:
    if values:
        yield f"# HELP freshet_{name} {help_text}\n# TYPE freshet_{name} gauge\n"
    for labels, value in values.items():
        yield f"freshet_{name}{{{labels}}} {value:g}\n" if labels else f"freshet_{name} {value:g}\n"
