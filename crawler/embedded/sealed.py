"""What a fork server behind walls forks: terminals and transformers. Importing it loads all that they use.

Of Django that is its settings: its apps and models were a third of the memory. They handle hostile bytes,
and are given no database. The broker's address, with its password, comes to each on a pipe: the server
itself, of which readers are forked, too, never knows it.
"""

from __future__ import annotations

import logging.config
import os
import socket
from typing import Any

from django.conf import settings

from crawler import environment
from crawler.celery import app
from crawler.embedded import transport, workers  # noqa: F401 - loaded for its users
from crawler.pipeline import tasks as pipeline_tasks  # noqa: F401
from crawler.process import lifeline
from crawler.process.fork_server import PROGRAMS, ForkServer, Program
from crawler.terminals import client, handlers, reader_process, readers, serve  # noqa: F401

logging.config.dictConfig(settings.LOGGING)
app.loader.import_default_modules()
handlers.discover()


def _worker(words: dict[str, Any], descriptors: list[int]) -> None:
    """Serve queues until it is asked to end."""
    pipe, ready, *asked = descriptors
    with os.fdopen(pipe) as secret:
        _reach(secret.read())
    for descriptor in asked:
        readers.given_server.append(ForkServer(socket.socket(fileno=descriptor)))
    os.environ[lifeline.READY_FD] = str(ready)
    os.environ[lifeline.PROCESS_NAME] = words["name"]
    workers.work(words["name"], words["queues"], words["pool"], words["concurrency"], words["niceness"])


def _reach(broker: str) -> None:
    """Use this broker from now on."""
    options = environment.transport_options(broker, settings.CELERY_TASK_TIME_LIMIT + 60)
    os.environ["CELERY_BROKER_URL"] = broker  # Celery asks there first
    app.conf.update(broker_url=broker, broker_transport_options=options)


PROGRAMS["terminal"] = Program(_worker, asks=("reader",))
PROGRAMS["transformer"] = Program(_worker)
