"""Tasks of meaning: articles get their vectors, behind people's questions to the language model."""

# ruff: noqa: PLC0415 - what they need is loaded by those who do it

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task
from django.conf import settings
from django.dispatch import receiver

from crawler.engine.signals import planned, ticked


@receiver(ticked)
def go_on_with_vectors(**_: object) -> None:
    """Enqueue the filling if articles are without a vector."""
    if not settings.EMBEDDINGS_URL:
        return
    from articles.meaning.filling import is_due

    if is_due(datetime.now(UTC)):
        fill_vectors.apply_async(expires=settings.FEED_TICK_SECONDS)


@receiver(planned)
def forget_old_questions(**_: object) -> None:
    """Delete the vectors of old searches once a day."""
    if not settings.EMBEDDINGS_URL:
        return
    from articles.meaning.filling import forget_questions

    forget_questions()


@shared_task
def fill_vectors() -> None:
    """Give vectors to articles for two minutes, then enqueue the next run while some are without."""
    from articles.meaning.filling import fill

    if settings.EMBEDDINGS_URL and fill(datetime.now(UTC)):
        fill_vectors.apply_async(expires=settings.FEED_TICK_SECONDS)
