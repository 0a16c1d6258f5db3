"""Ask the controller to go on with what was just stored; say whether anything goes on at all."""

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
    """Send the message once the current transaction is committed.

    A broker that is away costs nothing but time: the next tick hands out the same work.
    """
    transaction.on_commit(lambda: _send("crawler.engine.tasks.dispatch", time.time()), robust=True)


def wake_recrawl() -> None:
    """The same for visits to sites that may go on."""
    transaction.on_commit(partial(_send, "recrawl.tasks.recrawl"), robust=True)


def under_way(now: datetime) -> bool:
    """Whether tending finds something to do: hosts are out, a pulse was lost, or work of an app waits."""
    return (
        Host.objects.filter(lease__isnull=False).exists()
        or bool(pulses.unanswered(now))
        or any(waits for _, waits in asked.send(sender=None, now=now))
    )


def _send(task: str, *arguments: float) -> None:
    """By name: whoever wakes the controller does not import what it does."""
    try:
        current_app.send_task(task, arguments, retry=False)
    except Exception as error:  # every transport has errors of its own
        log.warning("the broker does not answer, so what waits goes out at the next tick: %s", error)
