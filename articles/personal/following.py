"""Subscriptions: feeds in folders, followed one by one or from OPML.

A trigger on the table of subscriptions counts `Feed.subscribers` in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q

from articles.models import PersonalFeed, Subscriber, Subscription
from crawler.web.limits import check_limit, limit_of
from feeds.adding import Added, WantedFeed, add_feeds
from feeds.models import Feed
from feeds.opml import MAX_TITLE, OpmlError, Outline, read_opml, write_opml

FOLDER_LENGTH = 400


def subscriber_of(user: User | AnonymousUser) -> Subscriber:
    """Return the subscriber of a signed-in user, created on first use.

    Raises PermissionDenied for users who are not signed in.
    """
    if not user.is_authenticated:
        raise PermissionDenied("only people who are signed in follow feeds")
    try:
        known: Subscriber = user.subscriber  # kept on the user for this request
    except Subscriber.DoesNotExist:
        return Subscriber.objects.get_or_create(user_id=user.pk)[0]
    return known


def folders_of(subscriber: Subscriber) -> list[str]:
    """Return every folder of a subscriber, and the folders around it."""
    names = set(subscriber.subscriptions.exclude(folder="").values_list("folder", flat=True).distinct())
    parts = [name.split("/") for name in names]
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


def _check_room(subscriber: Subscriber) -> None:
    """Raise LimitReached, which undoes the caller's transaction, when too many feeds are followed."""
    if limit_of(subscriber.user, "LIMIT_FEEDS"):
        check_limit(subscriber.user, "LIMIT_FEEDS", subscriber.subscriptions.count(), "feeds")


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


@transaction.atomic
def follow_opml(subscriber: Subscriber, data: bytes) -> list[Added]:
    """Follow every feed of an OPML file, adding unknown ones to the deployment.

    Returns the outcomes in the order of the file. Raises OpmlError; nothing is changed then.
    """
    outlines = read_opml(data)
    if not outlines:
        raise OpmlError("the file names no feed (no outline has an xmlUrl)")
    outcomes = add_feeds([WantedFeed(outline.url, outline.title) for outline in outlines])
    folders: dict[int, str] = {}
    for outline, outcome in zip(outlines, outcomes, strict=True):
        if outcome.feed is not None:
            folders.setdefault(outcome.feed.pk, "/".join(outline.folder))
    follow_all(subscriber, folders)
    return outcomes


def export_subscriptions(subscriber: Subscriber) -> bytes:
    """Return the subscriptions as OPML 2.0, folders nested."""
    rows = subscriber.subscriptions.select_related("feed").order_by("folder", "id")
    outlines = [
        Outline(
            url=row.feed.url,
            title=row.title or row.feed.title,
            folder=tuple(row.folder.split("/")) if row.folder else (),
            site_url=row.feed.site_url,
        )
        for row in rows.defer("feed__fingerprints")
    ]
    return write_opml(outlines, f"Feeds of {subscriber}", datetime.now(UTC))


def renew_outputs(subscriber: Subscriber) -> None:
    """Mark the subscriber's personal feeds as changed, so that feed readers fetch them anew."""
    PersonalFeed.objects.filter(subscriber=subscriber).update(changed=datetime.now(UTC))
