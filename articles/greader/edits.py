"""What readers change: subscriptions, folders, and what is read or starred."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.http import HttpResponse

from articles.greader.names import FEED, BadInput, Stream, item_key, label
from articles.greader.streams import StreamSelection, feed_key, from_microseconds, own_items, select
from articles.greader.wire import MOST_STREAMS, Asked, in_json, ok, writes
from articles.models import PersonalFeed, Subscriber, Subscription
from articles.personal.following import folder_named, follow, refile, renew_outputs, unfollow
from articles.personal.marking import mark_all_read, mark_read, star
from feeds.adding import WantedFeed, add_feeds
from feeds.models import Feed

MOST_MARKED = 10_000
"""Items that one request marks; readers that were away for long send many."""


@writes
def edit_subscription(asked: Asked) -> HttpResponse:
    """Subscribe to, unsubscribe from, or edit feeds: `s` and `t` (title) repeated, `a` and `r` labels."""
    edits = {"subscribe": _subscribe, "unsubscribe": _unsubscribe, "edit": _edit}
    action = asked.parameters.needed("ac")
    if action not in edits:
        raise BadInput("ac must be subscribe, unsubscribe or edit")
    asked.parameters.needed("s")
    feeds = [stream.name for stream in asked.streams("s") if stream.kind == "feed"]
    if len(feeds) != len(asked.streams("s")):
        raise BadInput("s must name feeds (feed/...)")
    titles = asked.parameters.titles("t", MOST_STREAMS)
    with transaction.atomic():
        for place, feed in enumerate(feeds):
            edits[action](asked, feed, titles[place].strip() if place < len(titles) else "")
    return ok()


@writes
def quick_add(asked: Asked) -> HttpResponse:
    """Follow the feed or site at an address."""
    address = asked.parameters.needed("quickadd")
    (added,) = add_feeds([WantedFeed(address.removeprefix(FEED))])
    if added.feed is None:
        return in_json({"query": address, "numResults": 0, "error": added.message})
    subscription, _ = follow(asked.subscriber, added.feed)
    return in_json(
        {
            "query": address,
            "numResults": 1,
            "streamId": f"{FEED}{added.feed.pk}",
            "streamName": subscription.title or added.feed.title or added.feed.url,
        }
    )


@writes
def rename_tag(asked: Asked) -> HttpResponse:
    """Give a folder another name, in the personal feeds made of it, too."""
    old = label(asked.parameters.needed("s"), asked.own_names)
    new = folder_named(label(asked.parameters.needed("dest"), asked.own_names))
    if not new:
        raise BadInput("the new label has no name")
    _refile_all(asked.subscriber, old, new)
    return ok()


@writes
def disable_tag(asked: Asked) -> HttpResponse:
    """Take folders away; the feeds in them stay, in no folder."""
    asked.parameters.needed("s")
    for text in asked.parameters.all("s", MOST_STREAMS):
        _refile_all(asked.subscriber, label(text, asked.own_names), "")
    return ok()


@writes
def edit_tag(asked: Asked) -> HttpResponse:
    """Mark items (`i`) as read, unread or starred: states to add (`a`) and to remove (`r`)."""
    asked.parameters.needed("i")
    keys = {item_key(text) for text in asked.parameters.all("i", MOST_MARKED)}
    added, removed = _states(asked, "a"), _states(asked, "r")
    if not added and not removed:
        raise BadInput("neither a nor r says what to change")
    read = _wanted("read", added | _opposite(removed), removed | _opposite(added))
    starred = _wanted("starred", added, removed)
    own = list(own_items(asked.subscriber, keys))
    if read is not None:
        mark_read(asked.subscriber, own, asked.now, read=read)
    if starred is not None:
        star(asked.subscriber, own, asked.now, starred=starred)
    return ok()


@writes
def mark_all_as_read(asked: Asked) -> HttpResponse:
    """Mark a stream (`s`) as read, as far as it was retrieved until `ts`; without it, until now."""
    stream = asked.stream(asked.parameters.needed("s"))
    until = _moment(asked.parameters.whole("ts", 0)) or asked.now
    articles = select(asked.subscriber, StreamSelection([stream], until=until))
    mark_all_read(asked.subscriber, articles, asked.now)
    return ok()


def _subscribe(asked: Asked, name: str, title: str) -> None:
    feed = Feed.objects.filter(pk=int(name)).first() if _is_number(name) else None
    if feed is None and not _is_number(name):
        (added,) = add_feeds([WantedFeed(name)])
        if added.feed is None:
            raise BadInput(added.message)
        feed = added.feed
    if feed is None:
        raise BadInput(f"there is no {FEED}{name}")
    follow(asked.subscriber, feed, folder=_label(asked, "a") or "", title=title)


def _unsubscribe(asked: Asked, name: str, title: str) -> None:
    unfollow(_subscription(asked, name))


def _edit(asked: Asked, name: str, title: str) -> None:
    row = _subscription(asked, name)
    folder, left = _label(asked, "a"), _label(asked, "r")
    if folder is None:
        folder = "" if left == row.folder else row.folder
    refile(row, folder=folder, title=title or row.title)


def _subscription(asked: Asked, name: str) -> Subscription:
    rows = asked.subscriber.subscriptions.select_related("subscriber", "feed")
    row = rows.filter(feed=feed_key(asked.subscriber, name)).first()
    if row is None:
        raise BadInput(f"you do not follow {FEED}{name[:200]}")
    return row


def _label(asked: Asked, name: str) -> str | None:
    """The folder that a parameter names; None where it is not given."""
    text = asked.parameters.one(name)
    return folder_named(label(text, asked.own_names)) if text else None


@transaction.atomic
def _refile_all(subscriber: Subscriber, old: str, new: str) -> None:
    # Locked in one order, so that two such requests cannot cross.
    rows = subscriber.subscriptions.select_for_update().filter(folder=old).order_by("pk")
    if not (keys := list(rows.values_list("pk", flat=True))):
        raise BadInput(f"you have no label {old[:100]!r}")
    Subscription.objects.filter(pk__in=keys).update(folder=new)
    if new:
        PersonalFeed.objects.filter(subscriber=subscriber, folder=old).update(folder=new)
    renew_outputs(subscriber)


def _states(asked: Asked, name: str) -> set[str]:
    """The states that a parameter names; those that Freshet does not keep, such as `like`, are passed by."""
    streams: list[Stream] = asked.streams(name)
    if any(stream.kind != "state" for stream in streams):
        raise BadInput("articles carry no labels here; labels are folders of feeds")
    return {stream.name for stream in streams}


def _opposite(states: set[str]) -> set[str]:
    """Unread removed is read added, and the other way round."""
    return {"read"} if "unread" in states else set()


def _wanted(state: str, added: set[str], removed: set[str]) -> bool | None:
    """Whether the state is to be set (True), taken away (False), or left (None). Raises BadInput."""
    if state in added and state in removed:
        raise BadInput(f"{state!r} cannot be added and removed at once")
    return True if state in added else False if state in removed else None


def _moment(number: int) -> datetime | None:
    """The original's microseconds; some readers send milliseconds or seconds, told apart by their size.

    A second or millisecond is meant to its end.
    """
    if not number:
        return None
    scale = 1_000_000 if number < 10**11 else 1000 if number < 10**14 else 1
    return from_microseconds((number + 1) * scale - 1)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= 18
