"""Stored pages are read again when terminals read better than they did."""

# ruff: noqa: PLC0415 - each side loads what it does

from __future__ import annotations

from collections.abc import Sequence

from celery import shared_task
from django.conf import settings
from django.dispatch import receiver

from articles.messages import Reread, StoredPage
from crawler.engine.signals import ticked
from crawler.messages import decode_all, encode
from crawler.terminals.tasks import send

MOST_REREAD = 320
"""Stored pages that a tick lets terminals read again."""
AT_ONCE = 32
TAKE = "articles.tasks.take_reread"


@receiver(ticked)
def read_outdated_again(**_: object) -> None:
    """Let terminals read some of the pages that an older version has read."""
    from articles.pages import outdated

    pages = [encode(page) for page in outdated(MOST_REREAD)]
    for start in range(0, len(pages), AT_ONCE):
        # Of no use to a terminal that comes later: the next tick sends them again.
        reread.apply_async((pages[start : start + AT_ONCE],), expires=settings.CRAWL_TICK_SECONDS)


@shared_task
def reread(pages: Sequence[str]) -> None:
    """A terminal reads stored pages again, because what it reads them with is newer than what they have."""
    from articles.terminal import read_again

    send(TAKE, [encode(Reread(page.permit, read_again(page))) for page in decode_all(StoredPage, pages)])


@shared_task
def take_reread(again: Sequence[str]) -> None:
    """Store what they say now."""
    from articles.pages import take_again

    take_again(decode_all(Reread, again))
