"""Items as Google Reader's interface and the files in its format write them. Knows no Django."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from articles.moving.values import (
    MovedFeed,
    MovedItem,
    fields,
    first_time,
    moved_feed,
    moved_item,
    objects,
    site_key,
    text,
    web_url,
)

UNKNOWN_TIME = 0.0
_FEED = "feed/"
_STATE = re.compile(r"user/[^/]*/(?:state/com\.google/|tag/global\.)(read|starred|saved)")
"""A mark as a category, or as a tag of Feedly."""
_TIMES = ("published", "updated", "timestampUsec", "crawlTimeMsec")
_LABEL = re.compile(r"user/[^/]*/label/(.+)", re.DOTALL)


class Subscriptions(msgspec.Struct, frozen=True):
    """The subscriptions of an account, their addresses by the ids of their streams, and their folders."""

    feeds: tuple[MovedFeed, ...] = ()
    urls: dict[str, str] = {}
    folders: frozenset[str] = frozenset()


def label_of(category: object) -> str:
    """Return the name of a folder or label in the id of its stream, "" for other streams."""
    match = _LABEL.fullmatch(text(category))
    return match[1] if match else ""


def subscriptions_of(reply: object) -> Subscriptions:
    """Read the answer to `subscription/list`. Of several folders of a feed the first is its folder."""
    feeds: list[MovedFeed] = []
    urls: dict[str, str] = {}
    folders: set[str] = set()
    for row in objects(fields(reply).get("subscriptions")):
        key = text(row.get("id"))
        around = [
            label_of(category.get("id")) or text(category.get("label"))
            for category in objects(row.get("categories"))
        ]
        around = [name for name in around if name]
        folders.update(around)
        title = html.unescape(text(row.get("title")))
        feed = moved_feed(_address(row, key), title, around[0] if around else "")
        if feed is not None:
            urls[key] = feed.url
            feeds.append(feed)
    return Subscriptions(tuple(feeds), urls, frozenset(folders))


def _address(row: Mapping[str, Any], key: str) -> str:
    """Return a subscription's address: that in the id of its stream, or the one that stands beside it."""
    return web_url(key.removeprefix(_FEED)) or web_url(row.get("url")) or web_url(row.get("feedUrl"))


def item_of(
    item: Mapping[str, Any],
    urls: Mapping[str, str],
    folders: Collection[str] = (),
    *,
    starred: bool = False,
    label: str = "",
) -> MovedItem:
    """Return an item of the stream that `starred` or `label` names. Names of `folders` are no labels.

    `urls` holds addresses of feeds by the ids of their streams, and may hold them by the keys of sites.
    """
    categories, tags = item.get("categories"), objects(item.get("tags"))
    names = [text(name) for name in categories] if isinstance(categories, list) else []
    states = {
        match[1]
        for name in [*names, *(tag.get("id") for tag in tags)]
        if (match := _STATE.fullmatch(text(name)))
    }
    labels = [item_label for name in names if (item_label := label_of(name)) and item_label not in folders]
    labels += [text(tag.get("label")) for tag in tags if not _STATE.fullmatch(text(tag.get("id")))]
    is_starred = starred or bool(states & {"starred", "saved"})
    # Inoreader and Feedly tell when; of others the time is unknown.
    star_time = first_time(item.get("starred"), item.get("actionTimestamp")) or UNKNOWN_TIME
    return moved_item(
        feed_url=_feed_url(fields(item.get("origin")), urls),
        # Not `html.unescape`, for which `&copy=1` has a sign in it.
        url=_link(item).replace("&amp;", "&"),
        title=html.unescape(text(item.get("title"))),
        identity=item.get("guid"),
        author=html.unescape(text(item.get("author"))),
        content=_content(item),
        # Without a date of its own an item has the time at which the other server saw it.
        published=first_time(*(item.get(name) for name in _TIMES)),
        read="read" in states or item.get("unread") is False,
        starred=star_time if is_starred else None,
        labels=[*labels, label],
    )


def _feed_url(origin: Mapping[str, Any], urls: Mapping[str, str]) -> str:
    key = text(origin.get("streamId"))
    url = urls.get(key) or web_url(origin.get("feedUrl")) or web_url(key.removeprefix(_FEED))
    return url or urls.get(site_key(origin.get("htmlUrl")), "")


def _link(item: Mapping[str, Any]) -> str:
    """Return the first web address among an item's own links."""
    links = [*objects(item.get("canonical")), *objects(item.get("alternate"))]
    url = next((url for link in links if (url := web_url(link.get("href")))), "")
    return url or web_url(item.get("canonicalUrl"))


def _content(item: Mapping[str, Any]) -> str:
    """Return the longer one of content and summary, of which servers fill one or both."""
    bodies = [item.get("content"), item.get("summary")]
    return max((text(fields(body).get("content")) or text(body) for body in bodies), key=len)
