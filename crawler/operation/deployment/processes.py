"""The processes that `manage.py run` starts on one machine, and how they are isolated."""

from __future__ import annotations

import importlib
import os
import re
import secrets
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import close_old_connections
from django.urls import get_resolver

from crawler.engine import work
from crawler.fetching.browser import look
from crawler.isolation import confine, fork_server, memory
from crawler.isolation.forks import Process
from crawler.operation.deployment import waking, workers
from crawler.operation.deployment.supervisor import Child, forked
from crawler.operation.deployment.web_server import SECOND_WEB, WebServer, listen
from crawler.pipeline.sparql import replica

CONTROLLER_QUEUES = ("tick", "store")
GRAPH_QUEUES = ("recrawl", "later", "index", "extract")
"""Plans take from some milliseconds to some seconds; only the laboratory's experiments, at an administrator's
wish, let the graph wait for longer. A process of their own would keep 27 MB (benchmarks/footprint.py).
"""
NOTIFIER_QUEUES = ("notify", "enrich")
"""Enrichment runs beside the graph, each on a processor; a message waits for it for some seconds at most."""
MODEL_QUEUES = ("model",)
"""A model may take minutes for an answer, so its questions have a process of their own, if there is one."""
DATABASE_QUEUES = (*CONTROLLER_QUEUES, *GRAPH_QUEUES, *NOTIFIER_QUEUES)
NEWS_NICENESS = 5
"""How far the processes that bring news stand behind the web server: a person's page waits for none."""
LATER_NICENESS = 15
"""How far those stand behind that can wait: graph, enrichment, messages, a model."""


def load() -> None:
    """Import the modules that all processes use, so that forked processes share their memory."""
    memory.share_arenas()
    workers.prepare()
    importlib.import_module("django_celery_beat.schedulers")
    work.discover()
    get_resolver().url_patterns  # noqa: B018 - loads views and the admin


def children(sealed: Sealed) -> list[Child]:
    """Return all processes: those that always run first, then those that exist while they have work.

    Each is a fork of this process, which has loaded what they share, except for the sealed ones.
    """
    listener = listen(bind())
    web = Child("web", forked(partial(_web, listener), [listener.fileno()]))
    if settings.DEMO:
        return [web]
    on_demand = [
        sealed.child(
            "transformer", "detect,transform", niceness=LATER_NICENESS - NEWS_NICENESS, on_demand=True
        )
    ]
    if not memory.is_small():
        # A mirror is looked after all the time.
        graph = Child("graph", forked(_graph), GRAPH_QUEUES, on_demand=not settings.SPARQL_MIRROR_URL)
        on_demand += [graph, Child("notifier", forked(_notifier), NOTIFIER_QUEUES, on_demand=True)]
        second = forked(partial(_web, listener, ends_when_quiet=True), [listener.fileno()])
        on_demand.append(Child(SECOND_WEB, second, on_demand=True))
    if settings.MODEL_URL or settings.EMBEDDINGS_URL:
        on_demand.append(Child("model", forked(_model), MODEL_QUEUES, on_demand=True))
    queues = {child.name: child.queues for child in on_demand if child.on_demand and child.queues}
    controller = Child(
        "controller",
        forked(partial(_everything if memory.is_small() else _controller, queues)),
        DATABASE_QUEUES if memory.is_small() else CONTROLLER_QUEUES,
    )
    return [
        web,
        sealed.child("terminal", "fetch", pool="threads", concurrency=8 if memory.is_small() else 32),
        controller,
        *on_demand,
    ]


def bind() -> str:
    """Return the address to listen on: LISTEN_ADDRESS; else all interfaces if ALLOWED_HOSTS names a host that
    is not local, else loopback.
    """
    if settings.LISTEN_ADDRESS:
        return f"{settings.LISTEN_ADDRESS}:{settings.PORT}"
    local = set(settings.ALLOWED_HOSTS) <= set(settings.LOCAL_NAMES)
    return f"{'127.0.0.1' if local else '0.0.0.0'}:{settings.PORT}"  # noqa: S104 - asked for


class Sealed:
    """The terminals and transformers, which handle untrusted bytes, and the server that forks them.

    They have no database, only the needed part of this process's environment, and no access to files but
    programs and their own notes on hosts.
    """

    def __init__(self) -> None:
        self._server: fork_server.ForkServer | None = None
        self._inodes: list[int] = []

    def start(self) -> fork_server.ForkServer:
        """Return the fork server, started if there is none.

        It accepts requests at once and answers them when it is ready.
        """
        directories = _own_directories()
        inodes = [directory.stat().st_ino for directory in directories]
        # The walls are around directories, not names: one that was deleted and made again lies outside.
        if self._server is None or not self._server.alive or inodes != self._inodes:
            self.close()
            self._inodes = inodes
            read = [settings.BASE_DIR, *look.FILES]
            confined = partial(confine.command, hide=settings.DATA_DIR, read=read, write=directories)
            modules = ["crawler.operation.deployment.sealed"]
            self._server = fork_server.start_server(
                modules, _sealed_environment(), confined, niceness=NEWS_NICENESS
            )
        return self._server

    def child(
        self,
        name: str,
        queues: str,
        *,
        pool: str = workers.SOLO,
        concurrency: int = 1,
        niceness: int = 0,
        on_demand: bool = False,
    ) -> Child:
        """Return a worker for these queues."""
        options = {
            "name": name,
            "queues": queues,
            "pool": pool,
            "concurrency": concurrency,
            "niceness": niceness,
            "on_demand": on_demand,
        }

        def launch(arguments: Mapping[str, str], ready_fd: int) -> Process:
            secret, write = os.pipe()
            try:
                os.write(write, settings.CELERY_BROKER_URL.encode())
                os.close(write)
                return self.start().fork(name, options, [secret, ready_fd])
            finally:
                os.close(secret)

        return Child(name, launch, tuple(queues.split(",")), on_demand=on_demand)

    def close(self) -> None:
        """End the fork server."""
        if self._server is not None:
            self._server.close()


def _own_directories() -> list[Path]:
    """Create and return the directories that sealed processes may write to."""
    directories = [settings.DATA_DIR / "hosts", settings.DATA_DIR / "scratch"]
    for directory in directories:
        directory.mkdir(mode=0o700, exist_ok=True)
    return directories


def _sealed_environment() -> dict[str, str]:
    """Return the environment of sealed processes: no secret key and no database."""
    return {
        **confine.environment(os.environ),
        "CELERY_BROKER_URL": without_password(settings.CELERY_BROKER_URL),
        # Its default depends on the user and the user's folders, which these processes do not know.
        "DATA_DIR": str(settings.DATA_DIR),
        "DATABASE_URL": "none",
        "DJANGO_SETTINGS_MODULE": "crawler.settings",
        # glibc gives every thread an arena of its own, which keeps what large documents once took.
        "MALLOC_ARENA_MAX": "2",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "TMPDIR": str(settings.DATA_DIR / "scratch"),
    }


def without_password(address: str) -> str:
    """Return an address without its user and password."""
    return re.sub(r"//[^/?#]*@", "//", address)


def _web(listener: socket.socket, *, ends_when_quiet: bool = False) -> None:
    """Run the web server. Whoever reads a page comes before all that runs in the background."""
    WebServer(bind(), listener, ends_when_quiet=ends_when_quiet).run()


def _controller(on_demand: Mapping[str, tuple[str, ...]]) -> None:
    """Run the worker that hands out work and stores results, with the scheduler beside it.

    It also asks for the processes in `on_demand` (queues by name) that have messages waiting.
    """
    other_work = {"graph": _replica_is_behind} if "graph" in on_demand else {}
    workers.beside(workers.beat, "beat")
    workers.beside(partial(waking.watch, on_demand, other_work), "waking")
    workers.work("controller", ",".join(CONTROLLER_QUEUES), niceness=NEWS_NICENESS)


def _graph() -> None:
    """Run the worker for plans and the graph, which can wait, with the SPARQL replica beside it."""
    workers.beside(partial(call_command, "sparql_replica"), "replica")
    if not settings.SPARQL_MIRROR_URL:
        waking.end_when_idle(_replica_is_behind)
    workers.work("graph", ",".join(GRAPH_QUEUES), niceness=LATER_NICENESS)


def _replica_is_behind() -> bool:
    try:
        return replica.is_behind()
    finally:
        close_old_connections()


def _notifier() -> None:
    """Run the worker that enriches articles, looks for news that people want to be told of, and sends it."""
    waking.end_when_idle()
    workers.work("notifier", ",".join(NOTIFIER_QUEUES), niceness=LATER_NICENESS)


def _model() -> None:
    """Run the worker that asks the language model and the embeddings endpoint, one after the other."""
    waking.end_when_idle()
    workers.work("model", ",".join(MODEL_QUEUES), niceness=LATER_NICENESS)


def _everything(on_demand: Mapping[str, tuple[str, ...]]) -> None:
    """Run controller, graph worker and notifier in one process, for machines with little memory.

    Each of them would keep 60 MB of its own in 512.
    """
    workers.beside(workers.beat, "beat")
    workers.beside(partial(waking.watch, on_demand, {}), "waking")
    workers.beside(partial(call_command, "sparql_replica"), "replica")
    workers.work("controller", ",".join(DATABASE_QUEUES), niceness=NEWS_NICENESS)
