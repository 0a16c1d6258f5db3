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
    before_task_publish,
    celeryd_after_setup,
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from crawler.isolation import lifeline, memory
from crawler.isolation.lifeline import ending
from crawler.telemetry import logs, traces

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
# Celery lets every worker run Django's system checks, which load all pages and only serve development.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

TERMINAL_QUEUES = frozenset({"fetch", "detect", "transform"})
"""Queues of tasks that handle untrusted bytes and need no database."""

# Celery warns root about pickled messages, but only JSON is accepted here.
warnings.filterwarnings("ignore", message="You're running the worker with superuser")
# kombu reads the names as they are returned today.
warnings.filterwarnings("ignore", message=r"list_queues\(\) now returns", category=UserWarning)


HAS_DATABASE = settings.DATABASE_URL != "none"
"""False in terminals and transformers, which load neither models nor a driver."""


class DatabaseTask(Task):  # type: ignore[type-arg]
    """A task that is retried when the database was locked or away, since every task may run twice."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.app.conf.task_always_eager:
            return self.run(*args, **kwargs)
        from crawler.database.transactions import retried  # noqa: PLC0415 - terminals never load it

        return retried(self.run, *args, **kwargs)


# Named, not imported: processes with another broker load no database driver.
TRANSPORT_ALIASES["pgmq"] = "crawler.postgresql.transport:Transport"

# Celery's Django fixup loads all apps and models, which processes without a database cannot use.
# One effect of it is needed: after `-A crawler` was found, Celery takes its directory off the path again.
_fixups: list[str] | None = None
if not HAS_DATABASE:
    _fixups = []
    sys.path.append(str(settings.BASE_DIR))
app = Celery("crawler", task_cls=DatabaseTask if HAS_DATABASE else Task, fixups=_fixups)
app.config_from_object("django.conf:settings", namespace="CELERY")


def apps_with_tasks() -> list[str]:
    """Return the apps with tasks. Processes without a database get only those that serve terminal queues."""
    if HAS_DATABASE:
        from django.apps import apps  # noqa: PLC0415 - terminals without one load nothing of it

        return [config.name for config in apps.get_app_configs()]
    routes = app.conf.task_routes.items()
    return sorted({task.rpartition(".tasks.")[0] for task, to in routes if to["queue"] in TERMINAL_QUEUES})


app.autodiscover_tasks(apps_with_tasks)


@task_prerun.connect
@task_postrun.connect
def close_old_connections(**_: Any) -> None:
    """Return the task's connection to its pool, as Django does around a request."""
    if HAS_DATABASE:
        from django import db  # noqa: PLC0415 - terminals never load it

        db.close_old_connections()


@celeryd_after_setup.connect
def load_what_tasks_use(**_: Any) -> None:
    """Load the kinds of work and the terminal's handlers that the worker's queues need, before pools fork."""
    queues = set(app.amqp.queues.consume_from)
    if "fetch" in queues:
        from crawler.terminals import handlers  # noqa: PLC0415 - others read nothing

        handlers.discover()
    if queues & {"tick", "store"}:
        from crawler.engine import work  # noqa: PLC0415 - terminals never load it

        work.discover()


@task_prerun.connect
def name_task_in_log(task_id: str, **_: Any) -> None:
    """Give all records of a task its id."""
    logs.begin(task_id=task_id)


@worker_init.connect
def send_traces(**_: Any) -> None:
    """Begin to send this process's traces, if a collector is named."""
    traces.begin(os.environ.get(lifeline.PROCESS_NAME, "worker"))


@before_task_publish.connect
def carry_trace(headers: dict[str, Any], **_: Any) -> None:
    """Give a task that another task asks for the same trace, also in processes that send none."""
    task = app.current_worker_task
    parent = getattr(task.request, "traceparent", None) if task else None
    if parent:
        headers["traceparent"] = parent


@worker_init.connect
def keep_memory_together(**_: Any) -> None:
    """Let threads share memory arenas: a terminal's threads analyse in turn and can reuse freed memory."""
    memory.share_arenas()


@worker_ready.connect
@beat_init.connect
def tell_supervisor(**_: Any) -> None:
    """Report to the supervisor of `manage.py run` that this process is ready."""
    lifeline.tell_ready()


@worker_shutting_down.connect
def start_no_more_requests(**_: Any) -> None:
    """Set `ending`, so that a terminal gives back the assignments that it has not begun."""
    ending.set()


@worker_shutdown.connect
def end_at_once(**_: Any) -> None:
    """Exit at once, without finalising the interpreter.

    Everything is given back and closed by then, and finalising would take a second more.
    """
    if ending.is_set():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


@worker_ready.connect
def end_when_stuck(sender: Any, **_: Any) -> None:
    """End a worker with a pool of threads when none of them can run: such a pool cannot kill a task."""
    if sender.controller.pool_cls.__module__ == "celery.concurrency.thread":
        lifeline.die_when_stuck()


@worker_ready.connect
def bound_what_runs_alone(sender: Any, **_: Any) -> None:
    """Limit time and memory of tasks in a solo pool, which has no parent process to do so."""
    if sender.controller.pool_cls.__module__ == "celery.concurrency.solo":
        task_prerun.connect(_limit_time)
        task_postrun.connect(_limit_memory)


def _limit_time(**_: Any) -> None:
    """Set the soft and the hard time limit of a pool of processes: an exception in the task, then its end."""

    def late(number: int, frame: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(app.conf.task_time_limit - app.conf.task_soft_time_limit)
        raise SoftTimeLimitExceeded

    if threading.current_thread() is not threading.main_thread():
        return  # a task that had a time to wait for: Celery's timer runs it
    signal.signal(signal.SIGALRM, late)
    signal.alarm(app.conf.task_soft_time_limit)


def _limit_memory(**_: Any) -> None:
    """Cancel the time limit, and end this process if it exceeds its memory limit.

    Its supervisor starts another.
    """
    if threading.current_thread() is threading.main_thread():  # the alarm is of the task there
        signal.alarm(0)
    memory.give_back_now_and_then()
    memory.tidier.note_task()
    if memory.resident() > app.conf.worker_max_memory_per_child * 1024:
        os.kill(os.getpid(), signal.SIGTERM)
