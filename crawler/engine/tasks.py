"""The engine's tasks: handing out, storing, and the pulses of the queues. Thin, and idempotent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from celery import current_app, shared_task

from crawler.engine import leases, pulses
from crawler.engine.check_in import check_in
from crawler.engine.signals import tended
from crawler.messages import Report, decode_all, encode

MOST_HOSTS = 64
"""In one message to a terminal, which reports on each as it comes: a slow one holds up no other."""
FETCH = "crawler.terminals.tasks.fetch"
PULSE = "crawler.terminals.tasks.pulse"
"""Tasks of terminals, by name: the engine does not import what they do."""


TENDING_RESTS = 3.0
QUICK_SECONDS = 1.0
"""Tending that took no longer than this needs no rest."""

_began = 0.0
"""When this process last began to hand out, epoch seconds."""


@shared_task
def dispatch(asked: float | None = None) -> None:
    """Hand out what is selected and waiting, as far as hosts are free.

    Who asked at a time (epoch seconds) before this process last began has been served: where many
    ask, one answers them all, and a tick does not wait behind the others.
    """
    global _began  # noqa: PLW0603 - of the process, as the work is of all
    if asked is not None and asked < _began:
        return
    _began = time.time()
    batches = leases.hand_out(datetime.now(UTC))
    for start in range(0, len(batches), MOST_HOSTS):
        part = batches[start : start + MOST_HOSTS]
        expires = datetime.fromtimestamp(max(batch.expires for batch in part), UTC)
        current_app.send_task(FETCH, ([encode(batch) for batch in part],), expires=expires)


@shared_task
def store(reports: Sequence[str]) -> None:
    """Check reports in, and give the hosts that became free their next work."""
    check_in(decode_all(Report, reports))
    pulses.worked(datetime.now(UTC))
    dispatch()


_tend_again = 0.0
"""When this process may tend once more, monotonic seconds."""


@shared_task
def tend() -> None:
    """Every few seconds: pulses and leases that were lost; what else goes on; what goes out next.

    With hundreds of crawls it takes seconds, and ticks and reports wait: then it rests TENDING_RESTS times
    as long as it took.
    """
    global _tend_again  # noqa: PLW0603 - of the process, as its time is
    began = time.monotonic()
    if began < _tend_again:
        return
    _tend()
    took = time.monotonic() - began
    if took > QUICK_SECONDS:
        _tend_again = began + (1 + TENDING_RESTS) * took


def _tend() -> None:
    now = datetime.now(UTC)
    for queue in pulses.unanswered(now):
        send_pulse(queue, now)
    going = [more for _, more in tended.send(sender=None, now=now)]
    if leases.sweep(now) or any(going):
        dispatch()


@shared_task
def pulse_answered(queue: str) -> None:
    """Write down that a worker of `queue` lives."""
    pulses.answered(queue, datetime.now(UTC))


def send_pulse(queue: str, now: datetime) -> None:
    """A pulse through the queue; one that comes late is worth nothing."""
    pulses.sent(queue, now)
    current_app.send_task(PULSE, (queue,), queue=queue, expires=2 * pulses.AGAIN.total_seconds())
