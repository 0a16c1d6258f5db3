"""Accounts at a Miniflux server, read over its own interface, which hands out filters. Knows no Django."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from articles.moving.http import Http, WaitError, typed_address
from articles.moving.values import (
    ForeignAccount,
    ForeignFilter,
    MovedFeed,
    MovedItem,
    MovedPart,
    MovingError,
    cursor_in,
    cursor_text,
    fields,
    first_time,
    moved_feed,
    moved_item,
    number,
    objects,
    text,
    web_url,
)
from crawler.text.characters import storable
from crawler.text.marking import gettext_noop

RULES = ("blocklist_rules", "keeplist_rules", "block_filter_entry_rules", "keep_filter_entry_rules")
"""Fields of a feed, and the last two of a user, that say which entries are kept."""
FEWEST = 10
UNKNOWN_TIMES = gettext_noop("The times at which items were starred: Miniflux does not hand them out.")
NO_REWRITING = gettext_noop("Rules by which Miniflux rewrites addresses and texts, or cuts pages.")
NO_PASSWORDS = gettext_noop("Names and passwords for feeds.")
_REWRITING = ("scraper_rules", "rewrite_rules", "urlrewrite_rules")


class MinifluxCursor(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place up to which an account was read: `after` is the id of the last entry."""

    phase: str = "feeds"
    after: int = 0
    about: int = -1


def step(account: ForeignAccount, http: Http) -> MovedPart:
    """Return the next part of an account: feeds and filters, starred items, then all. Raises MovingError.

    Without a login the secret is a token. A server that asks to wait gets an empty part with the cursor as it
    was.
    """
    cursor = cursor_in(account.cursor, MinifluxCursor)
    client = _Client(account, http)
    try:
        return _feeds(client, cursor) if cursor.phase == "feeds" else _items(client, cursor, account.items)
    except WaitError as error:
        return MovedPart(cursor=cursor_text(cursor), about=cursor.about, wait=error.seconds)


class _Client:
    """A client of the interface, signed in with every request."""

    def __init__(self, account: ForeignAccount, http: Http) -> None:
        self._base = typed_address(account.url).removesuffix("/v1")
        self._headers = {} if account.login else {"X-Auth-Token": account.secret.strip()}
        self._basic = (account.login, account.secret) if account.login else None
        self._http = http

    def get(self, path: str, **query: object) -> Any:
        response = self._http.get(f"{self._base}/v1/{path}", query, self._headers, self._basic)
        if response.is_page and response.status not in (401, 403):
            raise MovingError("no-interface", gettext_noop("no Miniflux server was found at this address"))
        return response.json()


def _feeds(client: _Client, cursor: MinifluxCursor) -> MovedPart:
    user, rows = fields(client.get("me")), objects(client.get("feeds"))
    feeds = [feed for row in rows if (feed := _feed(row))]
    after = msgspec.structs.replace(cursor, phase="starred")
    return MovedPart(
        feeds=tuple(feeds),
        filters=tuple(_filters(user, rows)),
        left_out=tuple(_left_out(rows)),
        cursor=cursor_text(after),
    )


def _feed(row: Mapping[str, Any]) -> MovedFeed | None:
    folder = fields(row.get("category")).get("title")
    return moved_feed(row.get("feed_url"), row.get("title"), folder)


def _filters(user: Mapping[str, Any], rows: list[Mapping[str, Any]]) -> Iterator[ForeignFilter]:
    """Yield the rules of the user, then those of each feed, as objects of the fields that are not empty."""
    for row, url in [(user, ""), *((row, web_url(row.get("feed_url"))) for row in rows)]:
        rules = {name: rule for name in RULES if (rule := storable(text(row.get(name))).strip())}
        if rules:
            yield ForeignFilter("miniflux", json.dumps(rules, ensure_ascii=False), url)


def _left_out(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    yield UNKNOWN_TIMES
    if any(text(row.get(name)) for row in rows for name in _REWRITING):
        yield NO_REWRITING
    if any(text(row.get(name)) for row in rows for name in ("username", "password", "cookie")):
        yield NO_PASSWORDS


def _items(client: _Client, cursor: MinifluxCursor, page_size: int) -> MovedPart:
    page = _page(client, cursor, page_size)
    rows = objects(page.get("entries"))
    last = max((key for row in rows if (key := number(row.get("id"))) is not None), default=cursor.after)
    # `total` counts the entries after the id, so only the first page's is that of all.
    total = number(page.get("total"))
    about = cursor.about
    if cursor.phase == "all" and not cursor.after and total is not None:
        about = total
    after: MinifluxCursor | None = msgspec.structs.replace(cursor, after=last, about=about)
    if last <= cursor.after:
        after = msgspec.structs.replace(cursor, phase="all", after=0) if cursor.phase == "starred" else None
    items = tuple(_item(row) for row in rows if row.get("status") != "removed")
    return MovedPart(items=items, cursor=cursor_text(after) if after else "", about=about)


def _page(client: _Client, cursor: MinifluxCursor, page_size: int) -> Mapping[str, Any]:
    """Return the entries after an id, fewer of them if they are too large together."""
    query: dict[str, object] = {"order": "id", "direction": "asc", "limit": max(page_size, FEWEST)}
    query["after_entry_id"] = cursor.after
    if cursor.phase == "starred":
        query["starred"] = "true"
    try:
        return fields(client.get("entries", **query))
    except MovingError as error:
        if error.kind != "too-large" or page_size <= FEWEST:
            raise
    return fields(client.get("entries", **query | {"limit": max(page_size // 10, FEWEST)}))


def _item(row: Mapping[str, Any]) -> MovedItem:
    return moved_item(
        feed_url=text(fields(row.get("feed")).get("feed_url")),
        url=row.get("url"),
        title=row.get("title"),
        author=row.get("author"),
        content=row.get("content"),
        published=first_time(row.get("published_at"), row.get("created_at")),
        read=row.get("status") == "read",
        starred=0.0 if row.get("starred") is True else None,
    )
