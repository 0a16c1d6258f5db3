"""Accounts at servers that speak the Fever interface: FreshRSS, Miniflux, tt-rss, Freshet. Knows no Django.

Its key is the MD5 of name and password, as Fever has it. Starred items come first, then all by their ids.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from articles.moving.http import Http, WaitError, typed_address, wrong_login
from articles.moving.values import (
    ForeignAccount,
    MovedFeed,
    MovedItem,
    MovedPart,
    MovingError,
    cursor_in,
    cursor_text,
    fields,
    ids,
    moved_feed,
    moved_item,
    number,
    objects,
    text,
    time_of,
)
from crawler.text.marking import gettext_noop

PAGE = 50
"""Items that a server gives at once."""
MAX_REQUESTS = 10
PLACES = ("", "/api/fever.php", "/p/api/fever.php", "/fever/", "/plugins/fever/")
"""Ends of addresses at which servers have the interface, behind the one that a person types."""
NO_LABELS = gettext_noop("Labels, filters and rules: this interface does not hand them out.")
UNKNOWN_TIMES = gettext_noop("The times at which items were starred: this interface does not hand them out.")


class FeverCursor(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place up to which an account was read: `after` is the last id of the `phase`."""

    base: str = ""
    phase: str = "feeds"
    after: int = 0
    about: int = -1


def step(account: ForeignAccount, http: Http) -> MovedPart:
    """Return the next part of an account: its feeds, then its starred items, then all. Raises MovingError.

    A server that asks to wait gets an empty part with the cursor as it was.
    """
    cursor = cursor_in(account.cursor, FeverCursor)
    try:
        client = _client(account, cursor.base, http)
        cursor = msgspec.structs.replace(cursor, base=client.base)
        if cursor.phase == "feeds":
            return _feeds(client, cursor)
        requests = min(max(account.items // PAGE, 1), MAX_REQUESTS)
        return (
            _starred(client, cursor, requests)
            if cursor.phase == "starred"
            else _all(client, cursor, requests)
        )
    except WaitError as error:
        return MovedPart(cursor=cursor_text(cursor), wait=error.seconds)


@dataclass(frozen=True, slots=True)
class _Client:
    """A client of the interface at `base`."""

    http: Http
    base: str
    key: str

    def ask(self, *lists: str, **query: object) -> Mapping[str, Any]:
        """Return an answer with these lists. Raises MovingError, "wrong-place" if no Fever is here."""
        parameters: dict[str, object] = {"api": "", **dict.fromkeys(lists, ""), **query}
        response = self.http.post(self.base, {"api_key": self.key}, parameters)
        if response.is_page or response.status in (404, 405, 410):
            raise MovingError("wrong-place", gettext_noop("the server has no such interface at this address"))
        value = fields(response.json())
        if "api_version" not in value and "auth" not in value:
            raise MovingError("wrong-place", gettext_noop("the server has no such interface at this address"))
        if number(value.get("auth")) != 1 and value.get("auth") is not True:
            raise wrong_login()
        return value


def _client(account: ForeignAccount, base: str, http: Http) -> _Client:
    """Return a client at a known base, or at the first usual place that answers."""
    # The interface's own key, no choice of ours.
    key = hashlib.md5(f"{account.login}:{account.secret}".encode(), usedforsecurity=False).hexdigest()
    if base:
        return _Client(http, base, key)
    for place in places(account.url):
        client = _Client(http, place, key)
        try:
            client.ask()
            return client
        except MovingError as error:
            if error.kind not in ("wrong-place", "not-understood", "elsewhere"):
                raise
    raise MovingError(
        "no-interface",
        gettext_noop("no Fever interface was found at this address; it may be switched off there"),
    )


def places(url: str) -> list[str]:
    """Return the addresses at which the interface may be, the likeliest first. Raises MovingError."""
    base = typed_address(url)
    if base.endswith("/fever"):
        return [f"{base}/", base]
    return [base, *(f"{base}{place}" for place in PLACES if place and not base.endswith(place))]


def _feeds(client: _Client, cursor: FeverCursor) -> MovedPart:
    groups, feeds = client.ask("groups"), client.ask("feeds")
    after = msgspec.structs.replace(cursor, phase="starred")
    return MovedPart(
        feeds=tuple(_moved_feeds(groups, feeds)),
        left_out=(NO_LABELS, UNKNOWN_TIMES),
        cursor=cursor_text(after),
    )


def _moved_feeds(groups: Mapping[str, Any], feeds: Mapping[str, Any]) -> Iterable[MovedFeed]:
    names = {number(row.get("id")): text(row.get("title")) for row in objects(groups.get("groups"))}
    folders: dict[int | None, str] = {}
    for row in objects(groups.get("feeds_groups")) or objects(feeds.get("feeds_groups")):
        for key in ids(row.get("feed_ids")):
            folders.setdefault(key, names.get(number(row.get("group_id")), ""))
    for row in objects(feeds.get("feeds")):
        folder = html.unescape(folders.get(number(row.get("id")), ""))
        if feed := moved_feed(row.get("url"), html.unescape(text(row.get("title"))), folder):
            yield feed


def _starred(client: _Client, cursor: FeverCursor, requests: int) -> MovedPart:
    """Return starred items by their ids, some pages at once."""
    reply = client.ask("feeds", "saved_item_ids")
    pending_ids = sorted({key for key in ids(reply.get("saved_item_ids")) if key > cursor.after})
    now = pending_ids[: PAGE * requests]
    items: list[MovedItem] = []
    for start in range(0, len(now), PAGE):
        page = client.ask("items", with_ids=",".join(map(str, now[start : start + PAGE])))
        items += _moved(page, _urls(reply), starred=True)
    if len(pending_ids) > len(now):
        after = msgspec.structs.replace(cursor, after=now[-1])
    else:
        after = msgspec.structs.replace(cursor, phase="all", after=0)
    return MovedPart(items=tuple(items), cursor=cursor_text(after), about=cursor.about)


def _all(client: _Client, cursor: FeverCursor, requests: int) -> MovedPart:
    """Return the items after an id, some pages at once."""
    reply = client.ask("feeds")
    items: list[MovedItem] = []
    last, about, is_done = cursor.after, cursor.about, False
    for _ in range(requests):
        page = client.ask("items", since_id=last)
        about = _total(page, about)
        keys = ids([row.get("id") for row in objects(page.get("items"))])
        items += _moved(page, _urls(reply))
        is_done = max(keys, default=last) <= last
        if is_done:
            break
        last = max(keys)
    after = msgspec.structs.replace(cursor, after=last, about=about)
    return MovedPart(items=tuple(items), cursor="" if is_done else cursor_text(after), about=about)


def _total(page: Mapping[str, Any], before: int) -> int:
    total = number(page.get("total_items"))
    return total if total is not None and total >= 0 else before


def _urls(reply: Mapping[str, Any]) -> dict[int | None, str]:
    return {number(row.get("id")): text(row.get("url")) for row in objects(reply.get("feeds"))}


def _moved(
    page: Mapping[str, Any], urls: Mapping[int | None, str], *, starred: bool = False
) -> list[MovedItem]:
    return [
        moved_item(
            feed_url=urls.get(number(row.get("feed_id")), ""),
            url=row.get("url"),
            title=html.unescape(text(row.get("title"))),
            author=html.unescape(text(row.get("author"))),
            content=row.get("html"),
            published=time_of(row.get("created_on_time")),
            read=_is_set(row.get("is_read")),
            starred=0.0 if starred or _is_set(row.get("is_saved")) else None,
        )
        for row in objects(page.get("items"))
    ]


def _is_set(value: object) -> bool:
    return value is True or number(value) == 1
