"""The engine's Celery tasks, thin and idempotent: handing out, storing, tending, and pulses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from celery import current_app, shared_task

from crawler.engine import leases, pulses
from crawler.engine.check_in import check_in
from crawler.engine.signals import tended
from crawler.messages import Report, decode_all, encode

MAX_HOSTS = 64
"""Maximum number of hosts in one message. The terminal reports each host when it is done, so none waits."""
FETCH = "crawler.terminals.tasks.fetch"
PULSE = "crawler.terminals.tasks.pulse"
"""Tasks of terminals by name, so that the engine does not import their code."""


TENDING_RESTS = 3.0
QUICK_SECONDS = 1.0
"""Maximum duration of tending after which no rest is needed."""

_began = 0.0
"""Time at which this process last began to hand out, in epoch seconds."""


@shared_task
def dispatch(asked: float | None = None) -> None:
    """Lease all dispatchable work and send it to terminals, as far as hosts are free.

    Drops the request when it was made (`asked`, epoch seconds) before the last dispatch of this process
    began: that dispatch has served it, and a tick need not wait behind it. A last dispatch that lies ahead
    began before the clock was turned back, and has served nothing.
    """
    global _began  # noqa: PLW0603 - of the process, as the work is of all
    if asked is not None and asked < _began <= time.time():
        return
    _began = time.time()
    batches = leases.hand_out(datetime.now(UTC))
    for start in range(0, len(batches), MAX_HOSTS):
        part = batches[start : start + MAX_HOSTS]
        # A batch whose leases have ended must not be fetched: its hosts may be out with another terminal.
        expires = datetime.fromtimestamp(max(batch.expires for batch in part), UTC)
        current_app.send_task(FETCH, ([encode(batch) for batch in part],), expires=expires)


@shared_task
def store(reports: Sequence[str]) -> None:
    """Check in reports, and hand out the next work of the hosts that became free."""
    check_in(decode_all(Report, reports))
    pulses.worked(datetime.now(UTC))
    # At once: a freed host would otherwise wait for the next tick.
    dispatch()


_tend_again = 0.0
"""Time before which this process does not tend again, in monotonic seconds."""


@shared_task
def tend() -> None:
    """Resend lost pulses, release expired leases, let apps tend their work, and dispatch when needed.

    Runs every few seconds. With hundreds of crawls it takes seconds in which ticks and reports wait; it then
    does nothing for TENDING_RESTS times as long.
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
    going = [has_more for _, has_more in tended.send(sender=None, now=now)]
    if leases.sweep(now) or any(going) or leases.is_any_due(now):
        dispatch()


@shared_task
def pulse_answered(queue: str) -> None:
    """Record that a worker of `queue` is alive."""
    pulses.answered(queue, datetime.now(UTC))


def send_pulse(queue: str, now: datetime) -> None:
    """Send a pulse through the queue. It expires after a minute."""
    pulses.sent(queue, now)
    # A pulse that comes late would prove a worker alive that was silent for minutes.
    current_app.send_task(PULSE, (queue,), queue=queue, expires=2 * pulses.AGAIN.total_seconds())
