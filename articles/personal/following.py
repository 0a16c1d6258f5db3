"""Subscriptions: feeds in folders, followed one by one or from OPML.

A trigger on the table of subscriptions counts `Feed.subscribers` in the same transaction.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from articles.models import PersonalFeed, Subscriber, Subscription
from crawler.reading.sources.kinds import MAIL
from crawler.web.limits import check_limit, limit_of
from feeds.adding.add import Added, Address, WantedFeed, add_feeds, checked, known_feeds
from feeds.adding.imports import within_limit
from feeds.adding.opml import MAX_TITLE, Outline, feeds_in, write_opml
from feeds.categories import all_paths
from feeds.models import Feed

FOLDER_LENGTH = 400
MAX_OFFERED = 1000
"""Feeds up to which a deployment offers all of its feeds to somebody who follows none."""
MAX_FOLDERS = 500
"""Maximum number of folders that a subscriber has made without feeds."""


class FolderError(ValueError):
    """Error for a folder that cannot be made; the message says why, for people."""


def subscriber_of(user: User | AnonymousUser) -> Subscriber:
    """Return the subscriber of a signed-in user, created on first use.

    Raises PermissionDenied for users who are not signed in.
    """
    if not user.is_authenticated:
        raise PermissionDenied("only people who are signed in follow feeds")
    try:
        subscriber: Subscriber = user.subscriber  # kept on the user for this request
    except Subscriber.DoesNotExist:
        return Subscriber.objects.get_or_create(user_id=user.pk)[0]
    return subscriber


def folders_of(subscriber: Subscriber) -> list[str]:
    """Return every folder of a subscriber, with the folders around it and those without a feed."""
    names = subscriber.subscriptions.exclude(folder="").values_list("folder", flat=True).distinct()
    parts = [name.split("/") for name in {*names, *subscriber.folders}]
    return sorted({"/".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1)})


def folder_named(text: str) -> str:
    """Normalise a folder: "News/Tech", without blank parts or blanks around the parts."""
    parts = (part.strip() for part in text.split("/"))
    return "/".join(part for part in parts if part)[:FOLDER_LENGTH].rstrip("/ ")


def within(folder: str, column: str = "folder") -> Q:
    """Return the condition for a folder and its subfolders, empty for the empty folder."""
    return Q(**{column: folder}) | Q(**{f"{column}__startswith": f"{folder}/"}) if folder else Q()


@transaction.atomic
def follow(
    subscriber: Subscriber, feed: Feed, *, folder: str = "", title: str = ""
) -> tuple[Subscription, bool]:
    """Follow a feed; following it again changes nothing. Returns the subscription and whether it is new.

    Raises LimitReached for more feeds than one person may follow.
    """
    subscription, new = Subscription.objects.get_or_create(
        subscriber=subscriber,
        feed=feed,
        defaults={"folder": folder_named(folder), "title": title[:MAX_TITLE]},
    )
    if new:
        _check_room(subscriber)
        renew_outputs(subscriber)
    return subscription, new


@transaction.atomic
def follow_all(subscriber: Subscriber, folders: Mapping[int, str]) -> None:
    """Follow feeds, each in a folder; those that are followed already stay where they are.

    Raises LimitReached for more feeds than one person may follow; none is followed then.
    """
    # In one order everywhere, so that the row locks of two such requests cannot cross.
    rows = [
        Subscription(subscriber=subscriber, feed_id=feed, folder=folder_named(folders[feed]))
        for feed in sorted(folders)
    ]
    Subscription.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1000)
    _check_room(subscriber)
    renew_outputs(subscriber)


def offered_feeds(subscriber: Subscriber) -> int:
    """Return the number of feeds that are here, for who follows none; 0 if they are too many to follow."""
    limit = min(limit_of(subscriber.user, "LIMIT_FEEDS") or MAX_OFFERED, MAX_OFFERED)
    number = Feed.objects.all()[: limit + 1].count()
    return number if number <= limit else 0


def follow_offered(subscriber: Subscriber) -> None:
    """Follow every feed that is here, each in a folder named as its own, unless they are too many."""
    paths = all_paths()
    if offered_feeds(subscriber):
        rows = Feed.objects.values_list("pk", "category_id")[:MAX_OFFERED]
        follow_all(subscriber, {feed: "/".join(paths.get(category or 0, ())) for feed, category in rows})


def check_room(subscriber: Subscriber, texts: Sequence[str]) -> None:
    """Raise LimitReached when the feeds at these addresses are more than may be followed as well.

    Counts them before any is stored: a list beyond the limit was added, followed and undone as a whole.
    """
    limit, followed = limit_of(subscriber.user, "LIMIT_FEEDS"), subscriber.subscriptions.count()
    if not limit or followed + len(texts) <= limit:
        return
    addresses = [address for text in texts if isinstance(address := checked(text), Address)]
    existing_feeds = known_feeds(key for address in addresses for key in address.variants)
    mine = set(subscriber.subscriptions.values_list("feed_id", flat=True))
    new = sum(
        not any(key in existing_feeds and existing_feeds[key].pk in mine for key in address.variants)
        for address in addresses
    )
    check_limit(subscriber.user, "LIMIT_FEEDS", followed + new, _too_many())


def _too_many() -> str:
    return _("That would be %(number)d feeds, and one person may have %(limit)d here.")


def _check_room(subscriber: Subscriber) -> None:
    """Raise LimitReached, which undoes the caller's transaction, when too many feeds are followed."""
    if limit_of(subscriber.user, "LIMIT_FEEDS"):
        check_limit(subscriber.user, "LIMIT_FEEDS", subscriber.subscriptions.count(), _too_many())


@transaction.atomic
def unfollow(subscription: Subscription) -> None:
    """Stop following a feed. The feed and its articles stay."""
    subscription.delete()
    renew_outputs(subscription.subscriber)


@transaction.atomic
def refile(subscription: Subscription, *, folder: str, title: str) -> None:
    """Move a subscription into another folder and give it the subscriber's own title."""
    subscription.folder, subscription.title = folder_named(folder), title.strip()[:MAX_TITLE]
    subscription.save(update_fields=["folder", "title"])
    renew_outputs(subscription.subscriber)


def follow_opml(subscriber: Subscriber, data: bytes) -> list[Added]:
    """Follow every feed of an OPML file, adding unknown ones to the deployment.

    Returns the outcomes in the order of the file. Raises OpmlError or LimitReached; nothing is changed then.
    """
    outlines = within_limit(subscriber.user, feeds_in(io.BytesIO(data)))
    return follow_outlines(subscriber, list(outlines))


@transaction.atomic
def follow_outlines(subscriber: Subscriber, outlines: Sequence[Outline]) -> list[Added]:
    """Follow the feeds of outlines, in their folders. Returns the outcomes in the same order."""
    outcomes = add_feeds([WantedFeed(outline.url, outline.title) for outline in outlines])
    folders: dict[int, str] = {}
    for outline, outcome in zip(outlines, outcomes, strict=True):
        if outcome.feed is not None:
            folders.setdefault(outcome.feed.pk, "/".join(outline.folder))
    follow_all(subscriber, folders)
    return outcomes


def export_subscriptions(subscriber: Subscriber, folder: str = "", title: str = "") -> bytes:
    """Return the subscriptions as OPML 2.0, folders nested: all, or those of a folder."""
    rows = subscriber.subscriptions.filter(within(folder)).select_related("feed").order_by("folder", "id")
    outlines = [
        Outline(
            url=row.feed.url,
            title=row.title or row.feed.title,
            folder=tuple(row.folder.split("/")) if row.folder else (),
            site_url=row.feed.site_url,
            kind=row.feed.kind,
            rules=row.feed.rules,
        )
        for row in rows.defer("feed__fingerprints")
        if row.feed.kind != MAIL  # which nobody can fetch
    ]
    title = title or _("Feeds of %(subscriber)s") % {"subscriber": subscriber}
    return write_opml(outlines, title, datetime.now(UTC))


@transaction.atomic
def make_folder(subscriber: Subscriber, name: str) -> str:
    """Make a folder without a feed. Returns its normalised name, empty for a name of blanks.

    Raises FolderError for more than MAX_FOLDERS of them.
    """
    folder = folder_named(name)
    row = Subscriber.objects.select_for_update(no_key=True).get(pk=subscriber.pk)
    if folder and folder not in row.folders:
        if len(row.folders) >= MAX_FOLDERS:
            raise FolderError(_("One person has %(number)d such folders at most.") % {"number": MAX_FOLDERS})
        row.folders.append(folder)
        row.save(update_fields=["folders"])
    subscriber.folders = row.folders
    return folder


@transaction.atomic
def rename_folder(subscriber: Subscriber, old: str, new: str) -> int:
    """Rename a folder, also in the personal feeds that use it, or remove it (`new` empty) and keep its feeds.

    Returns the number of feeds in it, plus one for a folder that stays without feeds.
    """
    row = Subscriber.objects.select_for_update(no_key=True).get(pk=subscriber.pk)
    kept_folders = [folder for folder in row.folders if folder != old]
    is_kept = len(kept_folders) < len(row.folders)
    if is_kept:
        row.folders = kept_folders + ([new] if new and new not in kept_folders else [])
        row.save(update_fields=["folders"])
        subscriber.folders = row.folders
    # Locked in one order, so that two such requests cannot cross.
    rows = subscriber.subscriptions.select_for_update().filter(folder=old).order_by("pk")
    keys = list(rows.values_list("pk", flat=True))
    Subscription.objects.filter(pk__in=keys).update(folder=new)
    if new and (keys or is_kept):
        PersonalFeed.objects.filter(subscriber=subscriber, folder=old).update(folder=new)
    if keys:
        renew_outputs(subscriber)
    return len(keys) + is_kept


def renew_outputs(subscriber: Subscriber) -> None:
    """Mark the subscriber's personal feeds as changed, so that feed readers fetch them anew."""
    PersonalFeed.objects.filter(subscriber=subscriber).update(changed=datetime.now(UTC))
