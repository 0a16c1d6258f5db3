"""Signs of life: every tick sends a pulse through each queue, and a worker's answer is written down.

`celery inspect` does not work on every broker; this does, and shows that messages go all the way round.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from crawler.models import Pulse

QUEUES = ("fetch", "store")


def sent(queue: str, now: datetime) -> None:
    """A pulse is on its way through the queue."""
    Pulse.objects.update_or_create(queue=queue, defaults={"sent": now})


def alive(now: datetime, within: timedelta) -> bool:
    """Whether every queue answered a pulse within the given time."""
    return Pulse.objects.filter(queue__in=QUEUES, answered__gte=now - within).count() == len(QUEUES)


def answered(queue: str, now: datetime) -> None:
    """A worker of the queue lives."""
    Pulse.objects.update_or_create(queue=queue, defaults={"answered": now})
