"""Tasks that enrich waiting articles: keywords, categories, summaries and stories."""

# ruff: noqa: PLC0415 - models of language are loaded by those who use them

from __future__ import annotations

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import asked, planned, tended

RUN_SECONDS = 5.0
"""Other tasks of the same worker wait for a run: messages to people."""


@shared_task
def enrich() -> None:
    """Enrich for RUN_SECONDS, then queue the next run while work remains. Leaves it to tending in a burst."""
    from articles.enrichment.models import Enrichment
    from crawler.engine.bursts import burst

    # New feeds are read up to 1.4 times as fast meanwhile (crawler.engine.bursts).
    if burst.should_wait() or not Enrichment.objects.exists():
        return
    from articles.enrichment.enrich import enrich_for

    if enrich_for(RUN_SECONDS):
        enrich.delay()


@receiver(planned)
def renew_outdated(**_: object) -> None:
    """Queue enrichment once a day, where nothing waits, too: for articles that an older version enriched."""
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
