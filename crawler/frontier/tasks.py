"""Running crawls are looked after."""

# ruff: noqa: PLC0415 - crawls are loaded by those who look after them

from __future__ import annotations

from datetime import datetime

from django.dispatch import receiver

from crawler.engine.signals import tended


@receiver(tended)
def tend_crawls(now: datetime, **_: object) -> bool:
    """Limits and time control; whether any goes on."""
    from crawler.frontier import crawls

    return bool(crawls.tend(now))
