"""The task that derives graphs of people, organisations, stories, links and mentions."""

# ruff: noqa: PLC0415 - the graph's models are loaded by those who use them

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task
from django.conf import settings
from django.dispatch import receiver

from crawler.engine.signals import ticked


@shared_task
def derive() -> None:
    """Derive the next graph that is due, and queue the one after it: other tasks wait for one at most."""
    from articles.things.derived.save import derive_next

    if derive_next(datetime.now(UTC)):
        derive.apply_async(expires=settings.FEED_TICK_SECONDS)


@receiver(ticked)
def look_for_a_new_day(**_: object) -> None:
    """Queue the task at a tick, where a day has passed and there is something to derive from."""
    from articles.models import Article
    from articles.things.derived.save import is_due

    if is_due(datetime.now(UTC)) and Article.objects.exists():
        derive.apply_async(expires=settings.FEED_TICK_SECONDS)
