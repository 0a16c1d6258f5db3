"""Celery workers run inside the forked processes of one machine."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, cast

from celery.apps import worker as _worker
from celery.beat import Service
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES, resolve_transport

from crawler.celery import app

log = logging.getLogger(__name__)

SOLO = "solo"
"""Celery's pool that runs one task at a time in the worker's own process."""

LATER_LOADED = (
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.backends.base",
    "celery.concurrency.solo",
    "celery.concurrency.thread",
    "celery.events.receiver",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.consumer.delayed_delivery",
    "celery.worker.loops",
    "celery.worker.strategy",
)
"""Modules that workers load when they start."""


def prepare() -> None:
    """Load what every worker uses, before workers are forked, so that they share it.

    A worker that loads the tasks itself changes 14 MB of the memory that it shared, one that was prepared 9.
    """
    app.loader.init_worker()
    app.finalize()
    scheme = str(app.conf.broker_url).partition("://")[0]
    if scheme in TRANSPORT_ALIASES:
        with contextlib.suppress(ImportError):  # which connecting to the broker says in a sentence
            resolve_transport(scheme)
    for module in LATER_LOADED:
        importlib.import_module(module)


def work(name: str, queues: str, pool: str = SOLO, concurrency: int = 1, niceness: int = 0) -> None:
    """Serve the queues (comma-separated names) until a signal ends the worker, then exit the process."""
    os.nice(niceness)
    worker = _worker.Worker(
        app=app,
        hostname=f"{name}@freshet",
        queues=queues,
        pool_cls=pool,
        concurrency=concurrency,
        # Few messages taken in advance: a tick waits behind those that were taken before it.
        prefetch_multiplier=2 if pool == SOLO else 1,
        loglevel=settings.LOG_LEVEL,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


def beside(run: Callable[[], object], name: str) -> None:
    """Run a loop in a thread beside a worker. When the loop ends, the process ends."""

    def loop() -> None:
        try:
            run()
        except BaseException:
            log.exception("%s ended, and this process with it", name)
        os._exit(1)

    threading.Thread(target=loop, name=name, daemon=True).start()


def beat() -> None:
    """Run the scheduler of periodic tasks forever."""
    scheduler: Any = settings.CELERY_BEAT_SCHEDULER
    Service(cast(Any, app), scheduler_cls=scheduler).start()
