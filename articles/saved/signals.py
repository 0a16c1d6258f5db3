"""Pages that people send to themselves by mail are saved, and pictures of what was saved are kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.dispatch import receiver

from articles.models import Page
from articles.personal.following import subscriber_of
from articles.saved.models import SavedPage
from articles.saved.saving import PageToSave, save_pages
from articles.work import PageWork
from crawler.engine.signals import settled
from crawler.engine.work import Stored
from feeds.signals import links_mailed


@receiver(links_mailed)
def save_links(user: User, urls: Sequence[str], note: str, **_: object) -> None:
    """Save the pages whose addresses a person has sent to an address of their own."""
    pages = [PageToSave(url, note=note if len(urls) == 1 else "") for url in urls]
    save_pages(subscriber_of(user), pages, datetime.now(UTC), SavedPage.Way.MAIL)


@receiver(settled)
def keep_their_pictures(stored: Stored, **_: object) -> None:
    """Enqueue the keeping of the pictures of saved pages that have just been read."""
    from articles.saved.tasks import keep_pictures_of  # noqa: PLC0415 - loads what it does

    pages = list(
        Page.objects.filter(pk__in=stored.get(PageWork, ()), requested=True).values_list("pk", flat=True)
    )
    if pages:
        transaction.on_commit(partial(keep_pictures_of.delay, pages))
