"""Feeds, what hubs push, the hubs, and the pages of articles."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from html import escape, unescape
from typing import Any
from urllib.parse import urlsplit

from benchmarks.hostile.api import Api
from benchmarks.hostile.documents import Content, hub_links
from benchmarks.hostile.kind import (
    FULL_TEXT,
    GOOD,
    Cell,
    Kind,
    Seen,
    World,
    document,
    healthy,
    named_on_page,
    poisonous,
)
from benchmarks.hostile.poisons import Poison
from benchmarks.hostile.server import Answer


def feeds_site(world: World, cell: Cell) -> dict[str, Answer]:
    return {path: healthy(world, cell, "feed", path) for path in (cell.kind.path, *GOOD)}


def add_feeds(world: World, paths: Sequence[str], cells: Sequence[Cell]) -> None:
    rows = (f'<outline xmlUrl="{escape(world.url(cell, path))}"/>' for cell in cells for path in paths)
    opml = f'<opml version="2.0"><head/><body>{"".join(rows)}</body></opml>'.encode()
    headers = {"Authorization": f"Token {world.api.token}", "Content-Type": "text/x-opml"}
    reply = world.api.request("POST", "/api/feeds/import-opml/", opml, headers)
    if reply.status != 200 or reply.json()["refused"]:
        raise RuntimeError(f"feeds are refused: {reply.status} {reply.body[:500]!r}")


def begin_feeds(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    add_feeds(world, (kind.path, *GOOD), cells)


def _stored_feeds(world: World) -> dict[str, dict[str, Any]]:
    """Feeds by address."""
    return {row["url"]: row for row in world.rows("/api/feeds/")}


def _articles(world: World) -> dict[int, list[dict[str, Any]]]:
    """Articles by feed."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in world.rows("/api/articles/"):
        found.setdefault(row["feed"], []).append(row)
    return found


def _missing_feeds(world: World, cell: Cell, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the feeds of a host that have no articles yet, each with its failure if it has one."""
    feeds, articles = _stored_feeds(world), _articles(world)
    missing = []
    for path in paths:
        row = feeds.get(world.url(cell, path))
        if row is None or len(articles.get(row["id"], ())) < 2:
            missing.append(f"{path} ({row['failure']})" if row and row["failure"] else path)
    return tuple(missing)


def look_at_feeds(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    feeds, articles = _stored_feeds(world), _articles(world)
    found = {}
    for cell in cells:
        row = feeds.get(world.url(cell, kind.path))
        missing = _missing_feeds(world, cell, GOOD)
        if row is None:  # it may have been renamed by what it says of itself
            found[cell] = Seen(missing=missing, trouble="the feed is not there")
            continue
        said = {"feed": row, "articles": articles.get(row["id"], [])}
        page = f"/feeds/{row['id']}/"
        found[cell] = Seen(bool(row["last_success"]), row["failure"], missing, said=said, page=page)
    return found


def hub_site(world: World, cell: Cell) -> dict[str, Answer]:
    origin = world.server.origin(cell.address)
    answers = {}
    for path, hub in (("/feed", "/hub"), *((path, "/good-hub") for path in GOOD)):
        links = hub_links(origin, path).replace(b"/hub", hub.encode())
        answers[path] = healthy(world, cell, "feed", path, extra=links)
    for hub in ("/hub", "/good-hub"):
        answers[hub] = Answer(lambda: b"", "text/plain", status=202)
    return answers


def begin_hubs(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    add_feeds(world, ("/feed", *GOOD), cells)


def _subscribed(row: dict[str, Any] | None) -> bool:
    return bool(row and row["websub"] and row["websub"]["state"] == "active")


def look_at_hubs(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    feeds = _stored_feeds(world)
    found = {}
    for cell in cells:
        row = feeds.get(world.url(cell, "/feed"))
        websub = (row or {}).get("websub") or {}
        said = re.match(r"([a-z0-9-]+): ", websub.get("detail", ""))
        missing = [path for path in GOOD if not _subscribed(feeds.get(world.url(cell, path)))]
        missing += _missing_feeds(world, cell, ("/feed", *GOOD))
        page = f"/feeds/{row['id']}/" if row else ""
        answered = _subscribed(row) and world.sent(cell) > 0
        found[cell] = Seen(answered, said[1] if said else "", tuple(missing), said=websub, page=page)
    return found


def push(world: World, cell: Cell) -> None:
    """Push to all three feeds of the host: the poison first."""
    origin = world.server.origin(cell.address)
    answer = poisonous(world, cell)
    given = answer.headers.get(b"Content-Type", answer.content_type.encode())
    world.replies[cell] = _pushed(world, cell, "/feed", answer.body(), given)
    for path in GOOD:
        body = document("feed", origin, path, Content(f"Pushed {path}"), [f"/new{path}", f"/newer{path}"])
        _pushed(world, cell, path, body, b"application/rss+xml")


def _pushed(world: World, cell: Cell, path: str, body: bytes, content_type: bytes) -> str:
    """The status that came back, or what went wrong."""
    form = world.forms[world.url(cell, path)]
    signature = hmac.new(form["hub.secret"].encode(), body, hashlib.sha256).hexdigest()
    parts = urlsplit(form["hub.callback"])
    headers = {"Content-Type": content_type.decode("latin-1"), "X-Hub-Signature": f"sha256={signature}"}
    try:
        return str(Api(f"http://{parts.netloc}").request("POST", parts.path, body, headers).status)
    except OSError as error:
        return f"no answer: {error}"


def look_at_pushes(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    feeds = _stored_feeds(world)
    pushed = {row["feed"]: row for row in world.rows("/api/retrievals/") if row["pushed"]}
    found = {}
    for cell in cells:
        rows = {path: feeds.get(world.url(cell, path)) for path in ("/feed", *GOOD)}
        seen = found[cell] = Seen(ready=all(map(_subscribed, rows.values())))
        logs = {path: pushed.get(row["id"]) for path, row in rows.items() if row}
        seen.missing = tuple(path for path in GOOD if not (logs.get(path) or {}).get("new"))
        log, reply = logs.get("/feed"), world.replies.get(cell, "")
        if log is not None:
            seen.stored, seen.failure, seen.said = not log["failure"], log["failure"], log
            seen.page = f"/feeds/visits/?feed={log['feed']}"
        elif reply.startswith("4"):
            seen.stored = True  # refused at the door, and the hub is told so
        elif reply.startswith(("5", "no answer")):
            seen.trouble = f"the push was answered with {reply}"
    return found


def articles_site(world: World, cell: Cell) -> dict[str, Answer]:
    paths = (cell.kind.path, *GOOD)
    pages = {path: healthy(world, cell, "page", path) for path in paths}
    return {"/feed": healthy(world, cell, "feed", "/feed", paths), **pages}


def begin_articles(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    add_feeds(world, ("/feed",), cells)


_PAGE_STATE = re.compile(r"<dt>page</dt><dd>\s*([^<]*?)\s*(?:<br><small[^>]*>\s*([^<:]*):|</dd>)")


def look_at_articles(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    by_url = {row["url"]: row for row in world.rows("/api/articles/")}
    found = {}
    for cell in cells:
        missing = tuple(path for path in GOOD if not full(by_url.get(world.url(cell, path))))
        row = by_url.get(world.url(cell, kind.path))
        seen = found[cell] = Seen(missing=missing)
        if row is None or missing or not world.sent(cell):
            continue
        seen.said, seen.page = world.api.get(f"/api/articles/{row['id']}/"), f"/articles/{row['id']}/"
        told = _PAGE_STATE.search(world.api.page(seen.page).body.decode("utf-8", "replace"))
        seen.stored = bool(told and told[1] == "stored")
        shown = named_on_page(unescape(told[2])) if told and told[2] else ""
        seen.failure = str(seen.said.get("page_failure") or shown)
        seen.named = "page_failure" in seen.said
    return found


def full(row: dict[str, Any] | None) -> bool:
    return row is not None and int(row["text_length"]) > FULL_TEXT


def pushable(kind: Kind, poison: Poison) -> bool:
    return poison.concerns("feed") and poison.in_document
