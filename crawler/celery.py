"""The Celery application: `celery -A crawler worker -Q tick,fetch,store,recrawl,later` on any machine."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded
from celery import Celery, Task
from celery.signals import (
    beat_init,
    celeryd_after_setup,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from crawler.process import lifeline, memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
# Celery has every worker run Django's system checks, which load all pages: they are for who changes code.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

TERMINAL_QUEUES = frozenset({"fetch", "detect", "transform"})
"""Of tasks that handle hostile bytes, and need no database."""

# It warns root of pickled messages, and only JSON is accepted here.
warnings.filterwarnings("ignore", message="You're running the worker with superuser")
# kombu reads the names as they are returned today.
warnings.filterwarnings("ignore", message=r"list_queues\(\) now returns", category=UserWarning)


class PatientTask(Task):  # type: ignore[type-arg]
    """A task that is done again when the database was in its way or away: all of them may run twice."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        database = sys.modules.get("django.db")
        if database is None or self.app.conf.task_always_eager:
            return self.run(*args, **kwargs)
        from crawler.database.transactions import retried  # noqa: PLC0415 - terminals never load it

        return retried(self.run, *args, **kwargs)


# By name alone: who has another broker, or only parses, loads no driver of a database.
TRANSPORT_ALIASES["pgmq"] = "crawler.embedded.transport:Transport"

# Celery's own part for Django loads all apps and models: who has no database has no use for them.
# What it does besides is needed: after `-A crawler` was found, Celery takes its directory off the path again.
_fixups: list[str] | None = None
if settings.DATABASE_URL == "none":
    _fixups = []
    sys.path.append(str(settings.BASE_DIR))
app = Celery("crawler", task_cls=PatientTask, fixups=_fixups)
app.config_from_object("django.conf:settings", namespace="CELERY")


def apps_with_tasks() -> list[str]:
    """All of them; for who has no database only those whose tasks go to the queues of terminals."""
    if settings.DATABASE_URL != "none":
        from django.apps import apps  # noqa: PLC0415 - terminals without one load nothing of it

        return [config.name for config in apps.get_app_configs()]
    routes = app.conf.task_routes.items()
    return sorted({task.rpartition(".tasks.")[0] for task, to in routes if to["queue"] in TERMINAL_QUEUES})


app.autodiscover_tasks(apps_with_tasks)

_asked_to_end = threading.Event()


@task_prerun.connect
@task_postrun.connect
def tidy_connections(**_: Any) -> None:
    """Give the task's connection back to its pool, as Django does around a request."""
    if database := sys.modules.get("django.db"):
        database.close_old_connections()


@celeryd_after_setup.connect
def load_what_tasks_use(**_: Any) -> None:
    """Kinds of work, and how terminals serve them: before pools are forked, not with the first message."""
    queues = set(app.amqp.queues.consume_from)
    if "fetch" in queues:
        from crawler.terminals import handlers  # noqa: PLC0415 - others read nothing

        handlers.discover()
    if queues & {"tick", "store"}:
        from crawler.engine import work  # noqa: PLC0415 - terminals never load it

        work.discover()


@worker_init.connect
def keep_memory_together(**_: Any) -> None:
    """A terminal's threads take turns at analysing; what one has freed shall serve the next."""
    memory.share_arenas()


@worker_process_init.connect
def keep_what_is_loaded(**_: Any) -> None:
    """A pool process has loaded what all have; the collector need not look at it again and again."""
    memory.keep_what_is_loaded()


@worker_process_init.connect
def end_with_the_worker(**_: Any) -> None:
    """A pool process must not outlive a worker that was killed: it would hold tasks that run elsewhere."""
    lifeline.watch_parent()


@worker_ready.connect
@beat_init.connect
def tell_supervisor(**_: Any) -> None:
    """Under `manage.py run` the supervisor waits for this word."""
    lifeline.tell_ready()


@worker_shutting_down.connect
def start_no_more_requests(**_: Any) -> None:
    """A terminal that is asked to end gives back what it has not begun."""
    _asked_to_end.set()
    if serve := sys.modules.get("crawler.terminals.serve"):
        serve.ending.set()


@worker_shutdown.connect
def end_at_once(**_: Any) -> None:
    """All is given back and closed: taking the interpreter apart costs a second more, and frees nothing."""
    if _asked_to_end.is_set():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


@worker_ready.connect
def end_when_stuck(sender: Any, **_: Any) -> None:
    """A pool of threads cannot kill a task that hangs, but its process can end."""
    if sender.controller.pool_cls.__module__ == "celery.concurrency.thread":
        lifeline.die_when_stuck()


@worker_ready.connect
def bound_what_runs_alone(sender: Any, **_: Any) -> None:
    """Where tasks run in the worker's own process, no parent ends one that takes too long or too much."""
    if sender.controller.pool_cls.__module__ == "celery.concurrency.solo":
        task_prerun.connect(_limit_time)
        task_postrun.connect(_limit_memory)


def _limit_time(**_: Any) -> None:
    """The limits of time, as a pool of processes has them: an exception in the task, then its end."""

    def late(number: int, frame: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(app.conf.task_time_limit - app.conf.task_soft_time_limit)
        raise SoftTimeLimitExceeded

    if threading.current_thread() is not threading.main_thread():
        return  # a task that had a time to wait for: Celery's timer runs it
    signal.signal(signal.SIGALRM, late)
    signal.alarm(app.conf.task_soft_time_limit)


def _limit_memory(**_: Any) -> None:
    """Beyond the limit for a pool process, this one ends after the task; its supervisor starts another."""
    if threading.current_thread() is threading.main_thread():  # the alarm is of the task there
        signal.alarm(0)
    if memory.resident() > app.conf.worker_max_memory_per_child * 1024:
        os.kill(os.getpid(), signal.SIGTERM)


@worker_ready.connect
def end_when_the_pool_is_broken(sender: Any, **_: Any) -> None:
    """A killed pool process may leave the others locked out of their queue."""
    if sender.controller.pool_cls.__module__ == "celery.concurrency.prefork":
        lifeline.die_with_a_pool_process(sender.pool._pool)
        lifeline.end_idle_pool_at_once(sender.pool)
