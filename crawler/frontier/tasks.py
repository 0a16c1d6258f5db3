"""Receivers of engine signals that tend running crawls."""

# ruff: noqa: PLC0415 - crawls are loaded by those who look after them

from __future__ import annotations

from datetime import datetime

from django.dispatch import receiver

from crawler.engine.signals import asked, tended


@receiver(tended)
def tend_crawls(now: datetime, **_: object) -> bool:
    """Apply the limits and the time control of running crawls. Returns whether any crawl still runs."""
    from crawler.frontier import crawls

    return bool(crawls.tend(now))


@receiver(asked)
def any_crawl_runs(**_: object) -> bool:
    """Return whether any crawl runs, and so has limits to check."""
    from crawler.frontier.models import Crawl

    return Crawl.objects.running().exists()
