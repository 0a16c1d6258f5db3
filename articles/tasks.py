"""Tasks that let terminals parse stored pages again with a newer version of the parser."""

# ruff: noqa: PLC0415 - each side loads what it does

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from celery import shared_task
from django.conf import settings
from django.dispatch import receiver

from articles.messages import Reread, StoredPage
from crawler.engine.signals import asked, ticked
from crawler.messages import decode_all, encode
from crawler.pipeline.signals import page_contents
from crawler.terminals.tasks import send

MAX_REREAD = 320
"""Stored pages that a tick lets terminals read again."""
AT_ONCE = 32
TAKE = "articles.tasks.take_reread"


@receiver(ticked)
def read_outdated_again(**_: object) -> None:
    """Enqueue some of the pages that an older version has parsed."""
    from articles.pages import outdated

    pages = [encode(page) for page in outdated(MAX_REREAD)]
    for start in range(0, len(pages), AT_ONCE):
        # Of no use to a terminal that comes later: the next tick sends them again.
        reread.apply_async((pages[start : start + AT_ONCE],), expires=settings.FEED_TICK_SECONDS)


@receiver(asked)
def any_page_is_due(now: datetime, **_: object) -> bool:
    """Return whether an article's page is due, as a second attempt after its pause."""
    from articles.models import Page

    return Page.objects.due_at_free_hosts(now).filter(status=Page.Status.WAITING).exists()


@receiver(page_contents)
def give_contents(pages: Sequence[int], **_: object) -> dict[int, bytes]:
    """Return the stored HTML of pages, compressed by zlib."""
    from articles.models import Page

    return {key: bytes(html) for key, html in Page.objects.filter(id__in=pages).values_list("id", "html")}


@shared_task
def reread(pages: Sequence[str]) -> None:
    """Parse stored pages again on a terminal, and send the results to the controller."""
    from articles.terminal import read_again

    send(TAKE, [encode(Reread(page.permit, read_again(page))) for page in decode_all(StoredPage, pages)])


@shared_task
def take_reread(again: Sequence[str]) -> None:
    """Store the results of `reread`."""
    from articles.pages import take_again

    take_again(decode_all(Reread, again))
