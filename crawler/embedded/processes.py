"""The processes of one machine: what `manage.py run` starts, and behind which walls."""

from __future__ import annotations

import secrets
import sys

from django.conf import settings

from crawler.embedded.supervisor import Child
from crawler.process import confine

CONTROLLER = "tick,store,recrawl,later"
LAST = ["nice", "-n", "10"]  # the graph can wait, the news cannot
ONE_PROCESS = ["--pool", "prefork", "-c", "1"]


def children() -> list[Child]:
    """All processes, those that can come later last.

    Terminals and transformers handle hostile bytes: they are given no database, none of this process's
    environment but what they need, and no file but programs and their notes on hosts.
    """
    # Few reports taken in advance: a tick waits behind those that were taken before it.
    processes = ["--pool", "prefork", "-c", "2", "--prefetch-multiplier", "2"]
    web = ["gunicorn", "-c", "python:crawler.embedded.web", "--bind", bind(), "crawler.wsgi"]
    beat = ["celery", "--quiet", "-A", "crawler", "beat", "--loglevel", settings.LOG_LEVEL]
    replica = [*LAST, sys.executable, str(settings.BASE_DIR / "manage.py"), "sparql_replica"]
    known = {**_shared(), "DATABASE_URL": settings.DATABASE_URL}
    return [
        Child("web", [sys.executable, "-m", *web], known),
        _worker("controller", CONTROLLER, processes),
        _terminal("terminal", "fetch", ["--pool", "threads", "-c", "32"]),
        Child("beat", [sys.executable, "-m", *beat], known),
        _terminal("transformer", "detect,transform", ONE_PROCESS, later=True),
        _worker("indexer", "index,extract", ONE_PROCESS, later=True),
        _worker("enricher", "enrich", ONE_PROCESS, later=True),
        Child("replica", replica, known, later=True),
    ]


def bind() -> str:
    """All interfaces once ALLOWED_HOSTS names a host that is not this machine, else the loopback one."""
    local = set(settings.ALLOWED_HOSTS) <= set(settings.LOCAL_NAMES)
    return f"{'127.0.0.1' if local else '0.0.0.0'}:{settings.PORT}"  # noqa: S104 - asked for


def _worker(name: str, queues: str, options: list[str], *, later: bool = False) -> Child:
    """A worker with the database."""
    known = {**_shared(), "DATABASE_URL": settings.DATABASE_URL}
    return Child(name, _command(name, queues, options, later), known, tuple(queues.split(",")), later=later)


def _terminal(name: str, queues: str, options: list[str], *, later: bool = False) -> Child:
    """A worker for hostile bytes, behind walls."""
    own = [settings.DATA_DIR / "hosts", settings.DATA_DIR / "scratch"]
    for directory in own:
        directory.mkdir(mode=0o700, exist_ok=True)
    # It signs nothing; what it asks of the settings must be there all the same.
    known = {**_shared(), "DATABASE_URL": "none", "SECRET_KEY": secrets.token_urlsafe(50)}
    known["TMPDIR"] = str(own[1])
    program = _command(name, queues, options, later)
    walled = confine.command(program, hide=settings.DATA_DIR, read=[settings.BASE_DIR], write=own)
    return Child(name, walled, known, tuple(queues.split(",")), later=later, sealed=True)


def _command(name: str, queues: str, options: list[str], later: bool) -> list[str]:
    worker = ["celery", "--quiet", "-A", "crawler", "worker", "--loglevel", settings.LOG_LEVEL]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    worker += [*options, "-Q", queues, "-n", f"{name}@freshet"]
    return [*(LAST if later else []), sys.executable, "-m", *worker]


def _shared() -> dict[str, str]:
    return {
        "CELERY_BROKER_URL": settings.CELERY_BROKER_URL,
        "DJANGO_SETTINGS_MODULE": "crawler.settings",
        # glibc gives every thread an arena of its own, which keeps what large documents once took.
        "MALLOC_ARENA_MAX": "2",
    }
