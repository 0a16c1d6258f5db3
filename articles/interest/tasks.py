"""The task that learns what all subscribers open."""

# ruff: noqa: PLC0415 - the numbers are loaded by those who use them

from __future__ import annotations

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import ticked


@shared_task
def learn_crowd() -> None:
    """Learn anew what all subscribers open, where enough has happened since the last time."""
    from datetime import UTC, datetime

    from articles.interest.stored_crowd import learn_anew

    learn_anew(datetime.now(UTC))


@receiver(ticked)
def look_for_events(**_: object) -> None:
    """Queue the task at a tick, if there are new events."""
    from articles.interest.stored_crowd import is_due

    if is_due():
        learn_crowd.delay()
