"""Tasks of newsletters: a look into each mailbox that is due."""

# ruff: noqa: PLC0415 - what they need is loaded by those who do it

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import ticked


@receiver(ticked)
def begin_looks(now: datetime, **_: object) -> None:
    """Enqueue a look into each mailbox that is due."""
    from feeds.mail.looking import SLACK
    from feeds.mail.models import Mailbox

    for mailbox in Mailbox.objects.due(now + SLACK).values_list("pk", flat=True):
        look_into_mailbox.delay(mailbox)


@shared_task
def look_into_mailbox(pk: int) -> None:
    """Look into a mailbox, then enqueue the next look while more is there."""
    from feeds.mail.looking import PAUSE_FOR_MORE, look

    if look(pk, datetime.now(UTC)):
        look_into_mailbox.apply_async((pk,), countdown=PAUSE_FOR_MORE.total_seconds())
