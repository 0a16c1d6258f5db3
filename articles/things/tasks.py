"""The task that derives graphs of people, stories and links."""

# ruff: noqa: PLC0415 - the graph's models are loaded by those who use them

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import ticked


@shared_task
def derive() -> None:
    """Derive the graphs anew, where a day has passed since the last time."""
    from articles.things.derived.save import derive as derive_graphs
    from articles.things.derived.save import is_due

    now = datetime.now(UTC)
    if is_due(now):
        derive_graphs(now)


@receiver(ticked)
def look_for_a_new_day(**_: object) -> None:
    """Queue the task at a tick, where a day has passed and there is something to derive from."""
    from articles.models import Article
    from articles.things.derived.save import is_due

    if is_due(datetime.now(UTC)) and Article.objects.exists():
        derive.delay()
