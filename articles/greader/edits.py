"""Changes by reader apps: subscriptions, folders, labels, and read or starred marks."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.http import HttpResponse

from articles.greader.names import FEED, BadInput, Stream, item_key, label
from articles.greader.streams import StreamSelection, feed_key, followed_keys, from_microseconds, select
from articles.greader.wire import MAX_STREAMS, ApiCall, in_json, ok, plain, writes
from articles.models import Subscriber, Subscription
from articles.personal.following import (
    FolderError,
    folder_named,
    follow,
    follow_opml,
    make_folder,
    refile,
    rename_folder,
    unfollow,
)
from articles.personal.labels import TooManyLabels, add_labels, label_named, remove_labels, rename_label
from articles.personal.marking import mark_all_read, mark_read, star
from articles.saved.saving import save_by_app
from feeds.adding.add import WantedFeed, add_feeds
from feeds.adding.opml import OpmlError
from feeds.models import Feed

MAX_MARKED = 10_000
"""Maximum number of items marked by one request; readers send many after a long time offline."""


@writes
def edit_subscription(call: ApiCall) -> HttpResponse:
    """Subscribe to, unsubscribe from, or edit feeds: `s`, `t` (title) and `a` repeated, `a` and `r` labels.

    One label `a` is that of all feeds.
    """
    edits = {"subscribe": _subscribe, "unsubscribe": _unsubscribe, "edit": _edit}
    action = call.parameters.needed("ac")
    if action not in edits:
        raise BadInput("ac must be subscribe, unsubscribe or edit")
    if action == "edit" and not call.parameters.one("s") and (folder := _label(call, "a")):
        try:
            make_folder(call.subscriber, folder)  # as Read You makes a new group
        except FolderError as error:
            raise BadInput(str(error)) from error
        return ok()
    call.parameters.needed("s")
    feeds = [stream.name for stream in call.streams("s") if stream.kind == "feed"]
    if len(feeds) != len(call.streams("s")):
        raise BadInput("s must name feeds (feed/...)")
    titles = call.parameters.titles("t", MAX_STREAMS)
    with transaction.atomic():
        for index, feed in enumerate(feeds):
            title = titles[index].strip() if index < len(titles) else ""
            edits[action](call, feed, title, _label(call, "a", index))
    return ok()


@writes
@transaction.atomic
def quick_add(call: ApiCall) -> HttpResponse:
    """Follow the feed or site at an address."""
    address = call.parameters.needed("quickadd")
    (added,) = add_feeds([WantedFeed(address.removeprefix(FEED))])
    if added.feed is None:
        return in_json({"query": address, "numResults": 0, "error": added.message})
    subscription, _ = follow(call.subscriber, added.feed)
    return in_json(
        {
            "query": address,
            "numResults": 1,
            "streamId": f"{FEED}{added.feed.pk}",
            "streamName": subscription.title or added.feed.title or added.feed.url,
        }
    )


@writes
def import_subscriptions(call: ApiCall) -> HttpResponse:
    """Follow every feed of an OPML file, which is the body."""
    try:
        outcomes = follow_opml(call.subscriber, call.request.body)
    except OpmlError as error:
        raise BadInput(str(error)) from error
    followed = sum(outcome.feed is not None for outcome in outcomes)
    return plain(f"OK: {followed}")


@writes
def rename_tag(call: ApiCall) -> HttpResponse:
    """Rename a folder, also in the personal feeds that use it, and the label of the same name."""
    old = label(call.parameters.needed("s"), call.own_names)
    new = folder_named(label(call.parameters.needed("dest"), call.own_names))
    if not new:
        raise BadInput("the new label has no name")
    _rename(call.subscriber, old, new)
    return ok()


@writes
def disable_tag(call: ApiCall) -> HttpResponse:
    """Remove folders and labels. The feeds stay, without a folder, and the articles, without the label."""
    call.parameters.needed("s")
    for text in call.parameters.all("s", MAX_STREAMS):
        # A folder goes with its last feed: apps that unfollow its feeds first find it gone.
        name = label(text, call.own_names)
        rename_folder(call.subscriber, name, "")
        rename_label(call.subscriber, name, "")
    return ok()


@writes
def edit_tag(call: ApiCall) -> HttpResponse:
    """Mark items (`i`) as read, unread or starred, or label them: what to add (`a`) and to remove (`r`)."""
    call.parameters.needed("i")
    keys = {item_key(text) for text in call.parameters.all("i", MAX_MARKED)}
    added, removed = _names(call, "a", "state"), _names(call, "r", "state")
    new_labels, old_labels = _names(call, "a", "label"), _names(call, "r", "label")
    if not added | removed | new_labels | old_labels:
        raise BadInput("neither a nor r says what to change")
    read = _wanted("read", added | _read_states_of_unread(removed), removed | _read_states_of_unread(added))
    starred = _wanted("starred", added, removed)
    own_keys = list(followed_keys(call.subscriber, keys))
    if read is not None:
        mark_read(call.subscriber, own_keys, call.now, read=read)
    if starred is not None:
        star(call.subscriber, own_keys, call.now, starred=starred)
        save_by_app(call.subscriber, own_keys, call.now, saved=starred)
    try:
        with transaction.atomic():
            remove_labels(call.subscriber, own_keys, old_labels - new_labels)
            add_labels(call.subscriber, own_keys, new_labels)
    except TooManyLabels as error:
        raise BadInput(str(error)) from error
    return ok()


@writes
def mark_all_as_read(call: ApiCall) -> HttpResponse:
    """Mark the articles of a stream (`s`) retrieved until `ts` as read. Without `ts`, until now."""
    stream = call.stream(call.parameters.needed("s"))
    until = _moment(call.parameters.whole("ts", 0)) or call.now
    articles = select(call.subscriber, StreamSelection([stream], until=until))
    mark_all_read(call.subscriber, articles, call.now)
    return ok()


@transaction.atomic
def _subscribe(call: ApiCall, name: str, title: str, folder: str | None) -> None:
    feed = Feed.objects.filter(pk=int(name)).first() if _is_number(name) else None
    if feed is None and not _is_number(name):
        (added,) = add_feeds([WantedFeed(name)])
        if added.feed is None:
            raise BadInput(added.message)
        feed = added.feed
    if feed is None:
        raise BadInput(f"there is no {FEED}{name}")
    row, is_new = follow(call.subscriber, feed, folder=folder or "", title=title)
    # NetNewsWire adds a feed by its address alone, and tells its folder and title by a second subscription.
    if not is_new and ((folder and not row.folder) or (title and not row.title)):
        refile(row, folder=row.folder or folder or "", title=row.title or title)


def _unsubscribe(call: ApiCall, name: str, title: str, folder: str | None) -> None:
    unfollow(_subscription(call, name))


def _edit(call: ApiCall, name: str, title: str, folder: str | None) -> None:
    row = _subscription(call, name)
    removed = _label(call, "r")
    if folder is None:
        folder = "" if removed == row.folder else row.folder
    refile(row, folder=folder, title=title or row.title)


def _subscription(call: ApiCall, name: str) -> Subscription:
    rows = call.subscriber.subscriptions.select_related("subscriber", "feed")
    row = rows.filter(feed=feed_key(call.subscriber, name)).first()
    if row is None:
        raise BadInput(f"you do not follow {FEED}{name[:200]}")
    return row


def _label(call: ApiCall, name: str, index: int = 0) -> str | None:
    """Return the folder named by the value of a parameter at a place, by the first if there are fewer.

    Returns None when the parameter is missing.
    """
    texts = call.parameters.all(name, MAX_STREAMS)
    if not texts:
        return None
    return folder_named(label(texts[index if index < len(texts) else 0], call.own_names))


@transaction.atomic
def _rename(subscriber: Subscriber, old: str, new: str) -> None:
    """Rename a folder and a label. Raises BadInput if there is neither."""
    try:
        count = rename_folder(subscriber, old, new) + rename_label(subscriber, old, new)
    except TooManyLabels as error:
        raise BadInput(str(error)) from error
    if not count:
        raise BadInput(f"you have no label {old[:100]!r}")


def _names(call: ApiCall, parameter: str, kind: str) -> set[str]:
    """Return the names of one kind in a parameter. Raises BadInput for feeds and labels without a name."""
    streams: list[Stream] = call.streams(parameter)
    if any(stream.kind == "feed" or not label_named(stream.name) for stream in streams):
        raise BadInput(f"{parameter} must name states or labels")
    return {stream.name for stream in streams if stream.kind == kind}


def _read_states_of_unread(states: set[str]) -> set[str]:
    """Return {"read"} if "unread" is among the states: removing the one adds the other, and vice versa."""
    return {"read"} if "unread" in states else set()


def _wanted(state: str, added: set[str], removed: set[str]) -> bool | None:
    """Return whether to set (True), remove (False) or keep (None) the state. Raises BadInput."""
    if state in added and state in removed:
        raise BadInput(f"{state!r} cannot be added and removed at once")
    return True if state in added else False if state in removed else None


def _moment(number: int) -> datetime | None:
    """Parse microseconds, as the original API has, or milliseconds or seconds, recognised by their size.

    A second or millisecond includes all of it. Returns None for 0.
    """
    if not number:
        return None
    scale = 1_000_000 if number < 10**11 else 1000 if number < 10**14 else 1
    return from_microseconds((number + 1) * scale - 1)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= 18
