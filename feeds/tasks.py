"""Tasks of feeds: the tick, which selects the feeds to visit, and the daily plan."""

# ruff: noqa: PLC0415 - what chooses feeds is loaded by those who choose

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import planned, ticked


@shared_task
def tick() -> None:
    """Run one tick, dispatch its work, send pulses through the queues, and signal `ticked`. Sent by Beat."""
    from crawler.engine import pulses
    from crawler.engine.models import Deployment
    from crawler.engine.tasks import dispatch, send_pulse
    from feeds.models import Feed, Tick
    from feeds.removal import KEPT
    from feeds.visiting import planning
    from feeds.visiting.selection import look_ahead
    from feeds.visiting.ticks import lately
    from feeds.visiting.ticks import tick as choose

    now = datetime.now(UTC)
    Deployment.note_settings()
    if lately(now) or choose(now) is None:
        return
    dispatch()
    if planning.claim(now):
        plan.delay()
    if Feed.with_removed.filter(removed__lt=now - KEPT).exists():
        delete_removed.delay()
    dispatch.apply_async(countdown=look_ahead().total_seconds())
    for queue in pulses.QUEUES:
        send_pulse(queue, now)
    ticked.send(sender=Tick, now=now)


@shared_task
def plan() -> None:
    """Plan every feed once a day, on the queue for work that can wait, then send `planned`."""
    from feeds.adding.imports import forget_old
    from feeds.visiting import planning

    now = datetime.now(UTC)
    planning.plan(now)
    forget_old(now)
    planned.send(sender=None, now=now)


@shared_task
def delete_removed() -> None:
    """Delete the feeds that people removed some minutes ago."""
    from feeds import removal

    removal.delete_removed(datetime.now(UTC))


@shared_task
def go_on_with_import(pk: int) -> None:
    """Add the next feeds of a long list, then enqueue the rest, so that no list holds a worker for long."""
    from feeds.adding import imports

    if imports.go_on(pk):
        go_on_with_import.delay(pk)


@receiver(ticked)
def go_on_with_forgotten_imports(now: datetime, **_: object) -> None:
    """Resume long imports whose message was lost."""
    from feeds.adding import imports

    for forgotten in imports.unfinished(now):
        go_on_with_import.delay(forgotten)
