"""The terminals and transformers, forked by a confined fork server. Importing it loads all that they use.

Of Django that is only the settings: apps and models were a third of the memory. These processes handle
untrusted bytes, and have no database. Each gets the broker's address, with its password, on a pipe: the
server itself, which also forks readers, never knows it.
"""

from __future__ import annotations

import logging.config
import os
import socket
from typing import Any

from django.conf import settings

from crawler import environment
from crawler.celery import app
from crawler.isolation import lifeline
from crawler.isolation.fork_server import PROGRAMS, ForkServer, Program
from crawler.operation.deployment import waking, workers
from crawler.pipeline import tasks as pipeline_tasks  # noqa: F401
from crawler.terminals import client, handlers, reader_process, readers, serve  # noqa: F401

logging.config.dictConfig(settings.LOGGING)
workers.prepare()
handlers.discover()


def _worker(arguments: dict[str, Any], descriptors: list[int]) -> None:
    """Serve queues until asked to end."""
    pipe, ready, *sockets = descriptors
    with os.fdopen(pipe) as secret:
        _reach(secret.read())
    for descriptor in sockets:
        readers.inherited_servers.append(ForkServer(socket.socket(fileno=descriptor)))
    os.environ[lifeline.READY_FD] = str(ready)
    os.environ[lifeline.PROCESS_NAME] = arguments["name"]
    if arguments["on_demand"]:
        waking.end_when_idle()
    workers.work(
        arguments["name"],
        arguments["queues"],
        arguments["pool"],
        arguments["concurrency"],
        arguments["niceness"],
    )


def _reach(broker: str) -> None:
    """Use this broker from now on."""
    options = environment.transport_options(broker, settings.CELERY_TASK_TIME_LIMIT + 60)
    os.environ["CELERY_BROKER_URL"] = broker  # Celery asks there first
    app.conf.update(broker_url=broker, broker_transport_options=options)


PROGRAMS["terminal"] = Program(_worker, asks=("reader",))
PROGRAMS["transformer"] = Program(_worker)
