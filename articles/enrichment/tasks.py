"""Tasks that enrich waiting articles: keywords, categories, summaries and stories."""

# ruff: noqa: PLC0415 - models of language are loaded by those who use them

from __future__ import annotations

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import asked, tended, ticked


@shared_task
def enrich() -> None:
    """Enrich for 20 seconds, then queue the next run while work remains."""
    from articles.enrichment.models import Enrichment

    if not Enrichment.objects.exists():
        return
    from articles.enrichment.enrich import enrich_for

    if enrich_for(seconds=20.0):
        enrich.delay()


@receiver(ticked)
def look_for_articles(**_: object) -> None:
    """Queue enrichment at every tick."""
    enrich.delay()


@receiver(tended)
def go_on(**_: object) -> None:
    """Queue enrichment as soon as articles wait."""
    from articles.enrichment.models import Enrichment

    if Enrichment.objects.waiting().exists():
        enrich.delay()


@receiver(asked)
def any_article_waits(**_: object) -> bool:
    """Return whether an article waits for enrichment."""
    from articles.enrichment.models import Enrichment

    return Enrichment.objects.waiting().exists()
