"""People who add feeds follow them, and find them in the folder to which they moved them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.contrib.auth.models import User
from django.dispatch import receiver

from articles.personal.following import check_room, folder_named, follow_all, renew_outputs, subscriber_of
from feeds.categories import all_paths
from feeds.models import Feed
from feeds.signals import added, moved, wanted


@receiver(wanted)
def check_wanted(user: User, addresses: Sequence[str], **_: object) -> None:
    """Raise LimitReached when a person may not follow all that they are about to add."""
    check_room(subscriber_of(user), addresses)


@receiver(added)
def follow_added(user: User, feeds: Sequence[Feed], folders: Mapping[int, str], **_: object) -> None:
    """Let the person who adds feeds follow them, in the folders of their list, or else the feeds' own."""
    paths = all_paths()
    follow_all(
        subscriber_of(user),
        {feed.pk: folders.get(feed.pk) or "/".join(paths.get(feed.category_id or 0, ())) for feed in feeds},
    )


@receiver(moved)
def refile_moved(user: User, feeds: Sequence[Feed], **_: object) -> None:
    """Move the person's own subscriptions with the feeds."""
    paths, subscriber = all_paths(), subscriber_of(user)
    by_folder: dict[str, list[int]] = {}
    for feed in feeds:
        folder = "/".join(paths[feed.category_id]) if feed.category_id in paths else ""
        by_folder.setdefault(folder_named(folder), []).append(feed.pk)
    for folder, keys in by_folder.items():
        subscriber.subscriptions.filter(feed__in=keys).update(folder=folder)
    renew_outputs(subscriber)
