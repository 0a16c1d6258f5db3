"""Visits to watched sites."""

# ruff: noqa: PLC0415 - what visits need is loaded by those who make them

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import asked, tended


@shared_task
def recrawl() -> None:
    """Begin, advance and end visits, and dispatch the fetches they have planned."""
    from crawler.engine.tasks import dispatch
    from recrawl.visiting import visits

    has_more = visits.tend(datetime.now(UTC))
    dispatch()
    if has_more:
        recrawl.delay()


@receiver(tended)
def go_on(now: datetime, **_: object) -> None:
    """Start the task if there is work."""
    from recrawl.visiting import visits

    if visits.has_work(now):
        recrawl.delay()


@receiver(asked)
def any_fetch_is_due(now: datetime, **_: object) -> bool:
    """Return whether a visit waits for a fetch that is due, as a second attempt after its pause."""
    from recrawl.models import Wanted

    return Wanted.objects.due_at_free_hosts(now).exists()
