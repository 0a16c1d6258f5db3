"""Pulses: messages that every tick sends through each queue, and whose answers are stored as signs of life.

`celery inspect` does not work on every broker; pulses do, and prove that messages travel both ways. A
terminal's report counts as an answer too: pulses wait behind the work of a busy worker, which must not be
taken for dead. A lost pulse is soon sent again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, Q

from crawler.engine.models import Pulse
from crawler.engine.ticking import tick_seconds

QUEUES = ("fetch", "store")
AGAIN = timedelta(seconds=30)
"""Time after which a pulse without an answer is sent again."""
MIN_SILENCE = timedelta(minutes=1)
"""Minimum of silence_allowed, for short ticks: a worker in a slow download is not dead, nor is a controller
with much to store."""
OFTEN = timedelta(seconds=10)
"""Minimum time between two stored signs of life from reports."""


def sent(queue: str, now: datetime) -> None:
    """Record that a pulse was sent through the queue."""
    Pulse.objects.update_or_create(queue=queue, defaults={"sent": now})


def alive(now: datetime, within: timedelta) -> bool:
    """Return whether every queue answered a pulse within the given time."""
    return Pulse.objects.filter(queue__in=QUEUES, answered__gte=now - within).count() == len(QUEUES)


def three_ticks() -> timedelta:
    """Return the time for which a new deployment may be without signs of life."""
    return timedelta(seconds=3 * tick_seconds())


def silence_allowed() -> timedelta:
    """Return the time for which a worker may be silent, or a controller may run no tick."""
    return max(three_ticks(), MIN_SILENCE)


def worker_alive(queue: str, now: datetime) -> bool:
    """Return whether a worker of this queue has answered within the allowed silence."""
    return Pulse.objects.filter(queue=queue, answered__gte=now - silence_allowed()).exists()


def unanswered(now: datetime) -> list[str]:
    """Return the queues whose last pulse is older than AGAIN and has no answer."""
    silent = Q(answered__isnull=True) | Q(answered__lt=F("sent"))
    waiting = Pulse.objects.filter(silent, queue__in=QUEUES, sent__lt=now - AGAIN)
    return sorted(waiting.values_list("queue", flat=True))


def worked(now: datetime) -> None:
    """Record that workers of all queues are alive, since reports of terminals were stored."""
    # Reports come many times a second; a sign of life every ten is enough, and each is a write.
    noted = set(Pulse.objects.filter(answered__gt=now - OFTEN).values_list("queue", flat=True))
    for queue in QUEUES:
        if queue not in noted:
            answered(queue, now)


def answered(queue: str, now: datetime) -> None:
    """Record that a worker of the queue is alive."""
    Pulse.objects.update_or_create(queue=queue, defaults={"answered": now})
