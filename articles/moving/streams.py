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
    moved_feed,
    moved_item,
    objects,
    text,
    time_of,
    web_url,
)

UNKNOWN_TIME = 0.0
_FEED = "feed/"
_STATE = re.compile(r"user/[^/]*/state/com\.google/(read|starred)")
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
    """Return an item of the stream that `starred` or `label` names. Names of `folders` are no labels."""
    categories = item.get("categories")
    names = [text(name) for name in categories] if isinstance(categories, list) else []
    states = {match[1] for name in names if (match := _STATE.fullmatch(name))}
    labels = [item_label for name in names if (item_label := label_of(name)) and item_label not in folders]
    return moved_item(
        feed_url=_feed_url(fields(item.get("origin")), urls),
        # Not `html.unescape`, for which `&copy=1` has a sign in it.
        url=_link(item).replace("&amp;", "&"),
        title=html.unescape(text(item.get("title"))),
        identity=item.get("guid"),
        author=html.unescape(text(item.get("author"))),
        content=_content(item),
        published=time_of(item.get("published")),
        read="read" in states,
        starred=UNKNOWN_TIME if starred or "starred" in states else None,
        labels=[*labels, label],
    )


def _feed_url(origin: Mapping[str, Any], urls: Mapping[str, str]) -> str:
    key = text(origin.get("streamId"))
    return urls.get(key) or web_url(origin.get("feedUrl")) or web_url(key.removeprefix(_FEED))


def _link(item: Mapping[str, Any]) -> str:
    """Return the first web address among an item's own links."""
    links = [*objects(item.get("canonical")), *objects(item.get("alternate"))]
    return next((url for link in links if (url := web_url(link.get("href")))), "")


def _content(item: Mapping[str, Any]) -> str:
    """Return the longer one of content and summary, of which servers fill one or both."""
    bodies = [item.get("content"), item.get("summary")]
    return max((text(fields(body).get("content")) or text(body) for body in bodies), key=len)
