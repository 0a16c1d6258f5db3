"""The tick, which chooses the feeds to visit, and the daily plan."""

# ruff: noqa: PLC0415 - what chooses feeds is loaded by those who choose

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task

from crawler.engine.signals import ticked


@shared_task
def tick() -> None:
    """Beat's message: one tick, hand out, a pulse through the queues; then whatever else has its time now."""
    from crawler.engine import pulses
    from crawler.engine.models import Deployment, Tick
    from crawler.engine.tasks import dispatch, send_pulse
    from feeds import planning
    from feeds.selection import look_ahead
    from feeds.ticks import lately
    from feeds.ticks import tick as choose

    now = datetime.now(UTC)
    Deployment.note_settings()
    if lately(now) or choose(now) is None:
        return
    dispatch()
    if planning.claim(now):
        plan.delay()
    dispatch.apply_async(countdown=look_ahead().total_seconds())
    for queue in pulses.QUEUES:
        send_pulse(queue, now)
    ticked.send(sender=Tick, now=now)


@shared_task
def plan() -> None:
    """Once a day, on the queue for work that can wait: every feed's plan; contents of deleted crawls go."""
    from crawler.frontier import crawls
    from feeds import planning

    planning.plan(datetime.now(UTC))
    crawls.forget_bodies()
