"""The terminals' Celery tasks, which serve batches and answer pulses."""

# ruff: noqa: PLC0415 - what serves is loaded by those who serve

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Sequence

from celery import current_app, shared_task

from crawler.isolation import memory
from crawler.messages import Batch, decode_all

log = logging.getLogger(__name__)

STORE = "crawler.engine.tasks.store"
PULSE_ANSWERED = "crawler.engine.tasks.pulse_answered"
"""Tasks of the controller by name, so that a terminal does not import their code."""

# A terminal's threads send one at a time: kombu's pool closes a channel now and then while another uses it.
_sending = threading.Lock()


def send(task: str, *arguments: object) -> None:
    """Send a task to the controller."""
    with _sending:
        current_app.send_task(task, arguments)


@shared_task
def fetch(batches: Sequence[str]) -> None:
    """Serve batches and send their reports to the controller.

    Kills this process when a thread is stuck or its folders are gone: its supervisor makes them again, and
    the walls of this process would not let it use them.
    """
    from crawler.terminals.client import LostFolderError, check_folders, terminal_client, terminal_threads
    from crawler.terminals.serve import StuckError, packed, serve

    try:
        check_folders()
        for reports in serve(terminal_client(), decode_all(Batch, batches), terminal_threads()):
            send(STORE, [packed(report) for report in reports])
        memory.give_back_now_and_then()
        memory.tidier.note_task()
    except (StuckError, LostFolderError) as error:
        log.critical("this terminal ends itself: %s", error)
        os.kill(os.getpid(), signal.SIGKILL)


@shared_task
def pulse(queue: str) -> None:
    """Answer a pulse of `queue` through the queue `store`, as a sign of life."""
    send(PULSE_ANSWERED, queue)
