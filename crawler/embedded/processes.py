"""The processes of one machine: what `manage.py run` starts, and behind which walls."""

from __future__ import annotations

import importlib
import os
import re
import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.urls import get_resolver

from crawler.celery import app
from crawler.embedded import workers
from crawler.embedded.supervisor import Child, forked
from crawler.embedded.web import WebServer
from crawler.engine import work
from crawler.process import confine, fork_server, memory
from crawler.process.forks import Process

NICENESS = 10  # the graph can wait, the news cannot
LATER_LOADED = (
    "celery.app.control",
    "celery.app.log",
    "celery.backends.base",
    "celery.concurrency.solo",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.loops",
    "celery.worker.strategy",
    "crawler.embedded.transport",
    "django_celery_beat.schedulers",
)
"""What processes load when they start, so that it is loaded once, before they are forked."""


def load() -> None:
    """Load what all processes use, so that they share it."""
    memory.share_arenas()
    app.loader.import_default_modules()
    work.discover()
    get_resolver().url_patterns  # noqa: B018 - loads views and the admin
    for module in LATER_LOADED:
        importlib.import_module(module)


def children(sealed: Sealed) -> list[Child]:
    """All processes, those that can come later last.

    Each is a fork of this one, which has loaded what they use, but for those that handle hostile bytes.
    """
    return [
        Child("web", forked(WebServer(bind()).run)),
        Child("controller", forked(partial(workers.work, "controller", "tick,store")), ("tick", "store")),
        sealed.child("terminal", "fetch", pool="threads", concurrency=32),
        Child("planner", forked(_planner), ("recrawl", "later")),
        sealed.child("transformer", "detect,transform", niceness=NICENESS, later=True),
        Child("graph", forked(_graph), ("index", "extract", "enrich"), later=True),
    ]


def bind() -> str:
    """All interfaces once ALLOWED_HOSTS names a host that is not this machine, else the loopback one."""
    local = set(settings.ALLOWED_HOSTS) <= set(settings.LOCAL_NAMES)
    return f"{'127.0.0.1' if local else '0.0.0.0'}:{settings.PORT}"  # noqa: S104 - asked for


class Sealed:
    """Terminals and transformers, which handle hostile bytes, and the server of which they are forked.

    They are given no database, none of this process's environment but what they need, and no file but
    programs and their notes on hosts.
    """

    def __init__(self) -> None:
        self._server: fork_server.ForkServer | None = None

    def start(self) -> fork_server.ForkServer:
        """The server, started where there is none; it takes requests from now on and answers when it can."""
        if self._server is None or not self._server.alive:
            self.close()
            walled = partial(
                confine.command, hide=settings.DATA_DIR, read=[settings.BASE_DIR], write=_own_directories()
            )
            modules = ["crawler.embedded.sealed"]
            self._server = fork_server.started(modules, _sealed_environment(), walled)
        return self._server

    def child(
        self,
        name: str,
        queues: str,
        *,
        pool: str = workers.SOLO,
        concurrency: int = 1,
        niceness: int = 0,
        later: bool = False,
    ) -> Child:
        """A worker for these queues."""
        known = {
            "name": name,
            "queues": queues,
            "pool": pool,
            "concurrency": concurrency,
            "niceness": niceness,
        }

        def launch(words: Mapping[str, str], ready_fd: int) -> Process:
            secret, write = os.pipe()
            try:
                os.write(write, settings.CELERY_BROKER_URL.encode())
                os.close(write)
                return self.start().fork(name, known, [secret, ready_fd])
            finally:
                os.close(secret)

        return Child(name, launch, tuple(queues.split(",")), later=later)

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.close()


def _own_directories() -> list[Path]:
    """Where what is sealed may write."""
    own = [settings.DATA_DIR / "hosts", settings.DATA_DIR / "scratch"]
    for directory in own:
        directory.mkdir(mode=0o700, exist_ok=True)
    return own


def _sealed_environment() -> dict[str, str]:
    """What is sealed signs nothing and asks no database; what it asks of the settings must be there."""
    return {
        **confine.environment(os.environ),
        "CELERY_BROKER_URL": without_password(settings.CELERY_BROKER_URL),
        "DATABASE_URL": "none",
        "DJANGO_SETTINGS_MODULE": "crawler.settings",
        # glibc gives every thread an arena of its own, which keeps what large documents once took.
        "MALLOC_ARENA_MAX": "2",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "TMPDIR": str(settings.DATA_DIR / "scratch"),
    }


def without_password(address: str) -> str:
    """An address without its user and password."""
    return re.sub(r"//[^/?#]*@", "//", address)


def _planner() -> None:
    """What takes longer than a tick may wait, and beside it the scheduler of periodic tasks."""
    workers.beside(workers.beat, "beat")
    workers.work("planner", "recrawl,later")


def _graph() -> None:
    """The graph and enrichment, with the replica that answers SPARQL: all that can wait."""
    workers.beside(partial(call_command, "sparql_replica"), "replica")
    workers.work("graph", "index,extract,enrich", niceness=NICENESS)
