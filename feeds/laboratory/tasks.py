"""Tasks of the policy laboratory."""

# ruff: noqa: PLC0415 - replays are loaded by those who replay

from __future__ import annotations

from datetime import datetime

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import ticked


@shared_task
def experiment(pk: int) -> None:
    """Run one replay of an experiment, then enqueue the next, so that no replay holds a worker for long."""
    from feeds.laboratory import experiments

    if experiments.advance(pk):
        experiments.send(pk)


@receiver(ticked)
def go_on_with_forgotten(now: datetime, **_: object) -> None:
    """Resume experiments whose message was lost, or whose worker died."""
    from feeds.laboratory import experiments

    for pk in experiments.again(now):
        experiments.send(pk)
