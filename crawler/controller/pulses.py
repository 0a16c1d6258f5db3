"""Signs of life: every tick sends a pulse through each queue, and a worker's answer is written down.

`celery inspect` does not work on every broker; this does, and shows that messages go all the way round. The
report of a terminal is as good a sign: pulses wait behind the work of a busy worker, which must not be taken
for dead. A pulse that was lost is sent again soon.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, Q

from crawler.models import Pulse

QUEUES = ("fetch", "store")
AGAIN = timedelta(seconds=30)
"""After which a pulse without an answer is sent again; it is of no use any longer."""
OFTEN = timedelta(seconds=10)
"""Signs of life are written down no oftener than this."""


def sent(queue: str, now: datetime) -> None:
    """A pulse is on its way through the queue."""
    Pulse.objects.update_or_create(queue=queue, defaults={"sent": now})


def alive(now: datetime, within: timedelta) -> bool:
    """Whether every queue answered a pulse within the given time."""
    return Pulse.objects.filter(queue__in=QUEUES, answered__gte=now - within).count() == len(QUEUES)


def unanswered(now: datetime) -> list[str]:
    """Queues that a pulse was sent through a while ago, and nobody answered since."""
    silent = Q(answered__isnull=True) | Q(answered__lt=F("sent"))
    waiting = Pulse.objects.filter(silent, queue__in=QUEUES, sent__lt=now - AGAIN)
    return sorted(waiting.values_list("queue", flat=True))


def worked(now: datetime) -> None:
    """Reports came from terminals and are stored: workers of both queues live."""
    noted = set(Pulse.objects.filter(answered__gt=now - OFTEN).values_list("queue", flat=True))
    for queue in QUEUES:
        if queue not in noted:
            answered(queue, now)


def answered(queue: str, now: datetime) -> None:
    """A worker of the queue lives."""
    Pulse.objects.update_or_create(queue=queue, defaults={"answered": now})
