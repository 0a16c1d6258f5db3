"""The terminals' tasks: they serve batches and answer pulses, and send on what came of it."""

# ruff: noqa: PLC0415 - what serves is loaded by those who serve

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Sequence

from celery import current_app, shared_task

from crawler.messages import Batch, decode_all

log = logging.getLogger(__name__)

STORE = "crawler.engine.tasks.store"
PULSE_ANSWERED = "crawler.engine.tasks.pulse_answered"
"""Tasks of the controller, by name: a terminal does not import what it does."""

# A terminal's threads send one at a time: kombu's pool closes a channel now and then while another uses it.
_sending = threading.Lock()


def send(task: str, *arguments: object) -> None:
    """Send a message to the controller."""
    with _sending:
        current_app.send_task(task, arguments)


@shared_task
def fetch(batches: Sequence[str]) -> None:
    """A terminal's work: serve the batches and send the reports on."""
    from crawler.terminals.client import terminal_client, terminal_threads
    from crawler.terminals.serve import StuckError, packed, serve

    try:
        for reports in serve(terminal_client(), decode_all(Batch, batches), terminal_threads()):
            send(STORE, [packed(report) for report in reports])
    except StuckError as error:
        log.critical("this terminal ends itself: %s", error)
        os.kill(os.getpid(), signal.SIGKILL)


@shared_task
def pulse(queue: str) -> None:
    """A sign of life: whoever serves `queue` answers on the queue `store`."""
    send(PULSE_ANSWERED, queue)
