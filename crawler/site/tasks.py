"""What is kept no longer goes, a little at every tick."""

# ruff: noqa: PLC0415 - loaded by those who tidy

from __future__ import annotations

from datetime import datetime

from django.dispatch import receiver

from crawler.engine.signals import ticked


@receiver(ticked)
def tidy(now: datetime, **_: object) -> None:
    """Apply the RETENTION_* settings."""
    from crawler.site import retention

    retention.tidy(now)
