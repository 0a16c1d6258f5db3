"""Messages that wake the controller, and the check whether tending has anything to do."""

from __future__ import annotations

import logging
import time
from datetime import datetime
from functools import partial

from celery import current_app
from django.db import transaction

from crawler.engine import pulses
from crawler.engine.models import Host
from crawler.engine.signals import asked

log = logging.getLogger(__name__)


def wake_controller() -> None:
    """Request a dispatch once the current transaction is committed.

    When the broker is away nothing is lost: the next tick hands out the same work.
    """
    # After the commit: a controller that wakes before it finds nothing to do. robust: the work is stored in
    # any case.
    transaction.on_commit(lambda: _send("crawler.engine.tasks.dispatch", time.time()), robust=True)


def wake_recrawl() -> None:
    """Request the task that continues visits of sites, once the current transaction is committed."""
    transaction.on_commit(partial(_send, "recrawl.tasks.recrawl"), robust=True)


def under_way(now: datetime) -> bool:
    """Return whether tending has work: hosts are leased, a pulse was lost, or an app has waiting work."""
    return (
        Host.objects.filter(lease__isnull=False).exists()
        or bool(pulses.unanswered(now))
        or any(waits for _, waits in asked.send(sender=None, now=now))
    )


def _send(task: str, *arguments: float) -> None:
    """Send a task by name, so that the caller does not import its code. Logs a failure of the broker."""
    try:
        # A broker that is away would hold the web request; the next tick hands out the same work.
        current_app.send_task(task, arguments, retry=False)
    except Exception as error:  # every transport has errors of its own
        log.warning("the broker does not answer, so what waits goes out at the next tick: %s", error)
