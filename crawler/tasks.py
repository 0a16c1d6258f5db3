"""The Celery tasks: thin, idempotent, and importing their side only when they run.

A terminal process never imports the controller, and the controller never the parsers of web bytes.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

from celery import shared_task

from crawler.messages import Batch, Report, decode, encode

log = logging.getLogger(__name__)

# Hosts in one message to a terminal, which reports on each as it comes: a slow one holds up no other.
MOST_HOSTS = 32
# A terminal's threads send one at a time: kombu's pool closes a channel now and then while another uses it.
_sending = threading.Lock()


@shared_task(name="crawler.tasks.tick")
def tick() -> None:
    """Beat's message: one tick, then hand out, then a pulse through the queues."""
    from crawler.controller import pulses, retention
    from crawler.controller import tick as controller
    from feeds import planning
    from feeds.laboratory import experiments
    from feeds.selection import look_ahead

    now = datetime.now(UTC)
    if controller.lately(now) or controller.tick(now) is None:
        return
    dispatch()
    if planning.claim(now):
        plan.delay()
    for forgotten in experiments.forgotten(now):
        experiment.delay(forgotten)
    dispatch.apply_async(countdown=look_ahead().total_seconds())
    for queue in pulses.QUEUES:
        pulses.sent(queue, now)
        pulse.apply_async(args=(queue,), queue=queue)
    retention.tidy(now)


@shared_task(name="crawler.tasks.plan")
def plan() -> None:
    """Once a day, on the queue for work that can wait: every feed's plan; contents of deleted crawls go."""
    from crawler.frontier import crawls
    from feeds import planning

    planning.plan(datetime.now(UTC))
    crawls.forget_bodies()


@shared_task(name="crawler.tasks.experiment")
def experiment(pk: int) -> None:
    """One replay of the policy laboratory, then word to do the next: none holds a worker for long."""
    from feeds.laboratory import experiments

    pause = experiments.advance(pk)
    if pause is not None:
        experiments.send(pk, pause)


@shared_task(name="crawler.tasks.tend")
def tend() -> None:
    """Every few seconds: limits, time control and lost leases of crawls, and their next work."""
    from crawler.controller import leases
    from crawler.frontier import crawls

    now = datetime.now(UTC)
    if crawls.tend(now):
        leases.sweep(now)
        dispatch()


@shared_task(name="crawler.tasks.dispatch")
def dispatch() -> None:
    """Hand out what is selected and waiting, as far as hosts are free."""
    from crawler.controller import leases

    batches = [encode(batch) for batch in leases.hand_out(datetime.now(UTC))]
    for start in range(0, len(batches), MOST_HOSTS):
        fetch.delay(batches[start : start + MOST_HOSTS])


@shared_task(name="crawler.tasks.fetch")
def fetch(batches: Sequence[str]) -> None:
    """A terminal's work: serve the batches and send the reports on."""
    from crawler.terminals.client import terminal_client, terminal_threads
    from crawler.terminals.serve import StuckError, serve

    decoded = [decode(Batch, batch) for batch in batches]
    try:
        for reports in serve(terminal_client(), decoded, terminal_threads()):
            encoded = [encode(report) for report in reports]
            with _sending:
                store.delay(encoded)
    except StuckError:
        log.exception("this terminal ends itself")
        os.kill(os.getpid(), signal.SIGKILL)


@shared_task(name="crawler.tasks.store")
def store(reports: Sequence[str]) -> None:
    """Check reports in, and give the hosts that became free their next work."""
    from crawler.controller.check_in import check_in

    check_in([decode(Report, report) for report in reports])
    dispatch()


@shared_task(name="crawler.tasks.pulse")
def pulse(queue: str) -> None:
    """A sign of life: whoever serves `queue` answers on the queue `store`."""
    with _sending:
        pulse_answered.delay(queue)


@shared_task(name="crawler.tasks.pulse_answered")
def pulse_answered(queue: str) -> None:
    """Write down that a worker of `queue` lives."""
    from crawler.controller import pulses

    pulses.answered(queue, datetime.now(UTC))
