"""Running crawls are looked after."""

# ruff: noqa: PLC0415 - crawls are loaded by those who look after them

from __future__ import annotations

from datetime import datetime

from django.dispatch import receiver

from crawler.engine.signals import asked, tended


@receiver(tended)
def tend_crawls(now: datetime, **_: object) -> bool:
    """Limits and time control; whether any goes on."""
    from crawler.frontier import crawls

    return bool(crawls.tend(now))


@receiver(asked)
def any_crawl_runs(**_: object) -> bool:
    """One that runs has limits to be looked at."""
    from crawler.frontier.models import Crawl

    return Crawl.objects.running().exists()
