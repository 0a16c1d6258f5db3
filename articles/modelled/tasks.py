"""Tasks of the language model: the questions that wait are asked, one after the other."""

# ruff: noqa: PLC0415 - what they need is loaded by those who do it

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task
from django.conf import settings
from django.dispatch import receiver

from crawler.engine.signals import planned, ticked

KEPT_DAYS = 30


@receiver(ticked)
def go_on_with_questions(**_: object) -> None:
    """Enqueue the answering of questions that wait: the process that was at them may have ended."""
    from articles.modelled.models import ModelTask

    if settings.MODEL_URL and ModelTask.objects.due(datetime.now(UTC)).exists():
        # Of no use later: the next tick enqueues it again.
        answer_questions.apply_async(expires=settings.FEED_TICK_SECONDS)


@receiver(planned)
def forget_failed(now: datetime, **_: object) -> None:
    """Delete old questions without an answer once a day."""
    from articles.modelled.answering import delete_old

    delete_old(now, KEPT_DAYS)


@shared_task
def answer_questions() -> None:
    """Answer one question, then enqueue the next run while more wait."""
    from articles.modelled.answering import answer_next
    from articles.modelled.models import ModelTask

    if not settings.MODEL_URL or not answer_next(datetime.now(UTC)):
        return
    if ModelTask.objects.due(datetime.now(UTC)).exists():
        answer_questions.delay()
