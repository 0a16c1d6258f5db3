"""Ask the controller to go on with what was just stored, instead of waiting for the next tick."""

from __future__ import annotations

import logging
from functools import partial

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)


def wake_controller() -> None:
    """Send the message once the current transaction is committed.

    A broker that is away costs nothing but time: the next tick hands out the same work.
    """
    transaction.on_commit(partial(_send, "crawler.engine.tasks.dispatch"), robust=True)


def wake_recrawl() -> None:
    """The same for visits to sites that may go on."""
    transaction.on_commit(partial(_send, "recrawl.tasks.recrawl"), robust=True)


def _send(task: str) -> None:
    """By name: whoever wakes the controller does not import what it does."""
    try:
        current_app.send_task(task, retry=False)
    except Exception as error:  # every transport has errors of its own
        log.warning("the broker does not answer, so what waits goes out at the next tick: %s", error)
