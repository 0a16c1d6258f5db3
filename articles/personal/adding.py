"""People who add feeds follow them."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.dispatch import receiver

from articles.personal.following import follow_all, subscriber_of
from feeds.categories import all_paths
from feeds.models import Feed
from feeds.signals import added


@receiver(added)
def follow_added(user: User, feeds: Sequence[Feed], **_: object) -> None:
    """Let the person who adds feeds follow them, in folders named as the feeds' own."""
    paths = all_paths()
    follow_all(
        subscriber_of(user),
        {feed.pk: "/".join(paths[feed.category_id]) if feed.category_id else "" for feed in feeds},
    )
