"""Tasks of saved pages: another program's file is taken over, a part at a time; pictures are kept."""

# ruff: noqa: PLC0415 - what they need is loaded by those who do it

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.dispatch import receiver

from crawler.engine.signals import ticked

PARTS_AT_ONCE = 5
"""Parts that one task stores, so that others of its queue have their turn."""
MAX_BEGUN = 20
"""Imports that a tick goes on with."""


@receiver(ticked)
def go_on_with_imports(**_: object) -> None:
    """Enqueue the imports that are not done: the process that was at them may have ended."""
    from django.db.models import F

    from articles.saved.models import SavedImport

    rows = SavedImport.objects.filter(position__lt=F("total")).order_by("pk")
    for key in rows.values_list("pk", flat=True)[:MAX_BEGUN]:
        # Of no use later: the next tick enqueues it again.
        take_saved.apply_async((key,), expires=settings.FEED_TICK_SECONDS)


@shared_task
def keep_pictures_of(pages: list[int]) -> None:
    """Keep the pictures of the saved articles with these pages on disk."""
    from articles.models import Article
    from articles.saved.pictures import keep_pictures

    rows = Article.objects.filter(page__in=pages, saved__isnull=False).select_related("page")
    keep_pictures(rows.defer("search", "page__html"))


@shared_task
def take_saved(import_id: int) -> None:
    """Store some parts of an import, then enqueue the next ones while there are more."""
    from articles.saved.taking import take_some

    for _number in range(PARTS_AT_ONCE):
        if not take_some(import_id, waits=False):
            return
    take_saved.delay(import_id)
