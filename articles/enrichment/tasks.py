"""Keywords, categories, summaries and stories of articles that wait for them."""

# ruff: noqa: PLC0415 - models of language are loaded by those who use them

from __future__ import annotations

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import asked, tended, ticked


@shared_task
def enrich() -> None:
    """Some seconds of it, then word to go on."""
    from articles.enrichment.models import Enrichment

    if not Enrichment.objects.exists():
        return
    from articles.enrichment.enrich import enrich_for

    if enrich_for(seconds=20.0):
        enrich.delay()


@receiver(ticked)
def look_for_articles(**_: object) -> None:
    """Every tick, whether any are known to wait or not."""
    enrich.delay()


@receiver(tended)
def go_on(**_: object) -> None:
    """As soon as articles wait."""
    from articles.enrichment.models import Enrichment

    if Enrichment.objects.waiting().exists():
        enrich.delay()


@receiver(asked)
def any_article_waits(**_: object) -> bool:
    """For its keywords, category, summary and story."""
    from articles.enrichment.models import Enrichment

    return Enrichment.objects.waiting().exists()
