"""Signs of life: every tick sends a pulse through each queue, and a worker's answer is written down.

`celery inspect` does not work on every broker; this does, and shows that messages go all the way round. The
report of a terminal is as good a sign: pulses wait behind the work of a busy worker, which must not be taken
for dead. A pulse that was lost is sent again soon.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q

from crawler.engine.models import Pulse

QUEUES = ("fetch", "store")
AGAIN = timedelta(seconds=30)
"""After which a pulse without an answer is sent again; it is of no use any longer."""
LEAST_SILENCE = timedelta(minutes=1)
"""However short the tick: a worker in the middle of a slow download is not dead, nor a controller that has
much to store."""
OFTEN = timedelta(seconds=10)
"""Signs of life are written down no oftener than this."""


def sent(queue: str, now: datetime) -> None:
    """A pulse is on its way through the queue."""
    Pulse.objects.update_or_create(queue=queue, defaults={"sent": now})


def alive(now: datetime, within: timedelta) -> bool:
    """Whether every queue answered a pulse within the given time."""
    return Pulse.objects.filter(queue__in=QUEUES, answered__gte=now - within).count() == len(QUEUES)


def three_ticks() -> timedelta:
    """For so long a deployment that is new may be without signs of life."""
    return timedelta(seconds=3 * settings.CRAWL_TICK_SECONDS)


def silence_allowed() -> timedelta:
    """For so long a worker may be silent, or a controller without a tick."""
    return max(three_ticks(), LEAST_SILENCE)


def worker_alive(queue: str, now: datetime) -> bool:
    """Whether a worker that serves this queue has answered lately."""
    return Pulse.objects.filter(queue=queue, answered__gte=now - silence_allowed()).exists()


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
