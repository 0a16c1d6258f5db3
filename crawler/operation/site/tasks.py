"""Deletion of old rows, a few at every tick; once a day, of contents and assistants that nobody uses."""

# ruff: noqa: PLC0415 - loaded by those who tidy

from __future__ import annotations

from datetime import datetime

from django.dispatch import receiver

from crawler.engine.signals import planned, ticked


@receiver(ticked)
def tidy(now: datetime, **_: object) -> None:
    """Apply the RETENTION_* settings, sample the free disk space once a day, note a new version."""
    from crawler.operation.site import retention
    from crawler.operation.site.disk_space import sample_disk_space
    from crawler.operation.site.news import note_version

    retention.tidy(now)
    sample_disk_space(now)
    note_version(now)


@receiver(planned)
def delete_unused_bodies(**_: object) -> None:
    """Delete contents whose crawls were deleted."""
    from crawler.operation.site import retention

    retention.delete_unused_bodies()


@receiver(planned)
def delete_unused_assistants(now: datetime, **_: object) -> None:
    """Delete expired tokens of assistants, and assistants that nobody uses."""
    from crawler.accounts.assistants.connections import delete_unused

    delete_unused(now)
