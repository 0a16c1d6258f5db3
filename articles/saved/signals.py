"""Pages that people send to themselves by mail are saved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.dispatch import receiver

from articles.personal.following import subscriber_of
from articles.saved.models import SavedPage
from articles.saved.saving import PageToSave, save_pages
from feeds.signals import links_mailed


@receiver(links_mailed)
def save_links(user: User, urls: Sequence[str], note: str, **_: object) -> None:
    """Save the pages whose addresses a person has sent to an address of their own."""
    pages = [PageToSave(url, note=note if len(urls) == 1 else "") for url in urls]
    save_pages(subscriber_of(user), pages, datetime.now(UTC), SavedPage.Way.MAIL)
