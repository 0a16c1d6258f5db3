"""Servers of other feed readers on loopback: as much of their interfaces as moving in needs."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

LOGIN, SECRET, TOKEN = "ada@example.org", "open sésame", "ada/8e6845e089457af25303abc6f53356eb60bdb5f8"


@dataclass
class Asked:
    """A request: its path, its query and form with the first value of each name, and its headers."""

    method: str
    path: str
    query: dict[str, str]
    form: dict[str, list[str]]
    headers: dict[str, str]


@dataclass
class Said:
    """An answer."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


HTML = Said("<!DOCTYPE html><title>Hello</title>", headers={"Content-Type": "text/html"})
NOT_FOUND = Said("<html>nothing here", 404, {"Content-Type": "text/html"})


class ReaderServer:
    """Answers requests with `answer`, or with the next of `first` as long as there are any. Notes all."""

    def __init__(self, answer: Callable[[Asked], Said], first: list[Said | None] | None = None) -> None:
        self.answer, self.first, self.asked = answer, list(first or []), list[Asked]()

    def __enter__(self) -> Self:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                form = parse_qs(self.rfile.read(length).decode())
                parts = urlsplit(self.path)
                query = {name: v[0] for name, v in parse_qs(parts.query, keep_blank_values=True).items()}
                asked = Asked(self.command, unquote(parts.path), query, form, dict(self.headers))
                outer.asked.append(asked)
                said = (outer.first.pop(0) if outer.first else None) or outer.answer(asked)
                body = said.body if isinstance(said.body, str) else json.dumps(said.body)
                self.send_response(said.status)
                headers = {"Content-Type": "application/json"} | said.headers
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"


@dataclass
class GoogleReader:
    """An account at `base`. Streams by id are lists of items; numbers or addresses are ids of feeds."""

    base: str = ""
    streams: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    subscriptions: list[dict[str, Any]] = field(default_factory=list)
    tags: list[dict[str, Any]] = field(default_factory=list)
    repeats: bool = False
    names_first: bool = False
    """Has no `stream/contents`, as Miniflux."""
    elsewhere: Said = field(default_factory=lambda: NOT_FOUND)
    wrong: Said = field(default_factory=lambda: Said("Error=BadAuthentication\n", 401))

    def __call__(self, asked: Asked) -> Said:
        if not asked.path.startswith(f"{self.base}/") or asked.path.count("/reader/api/0/") > 1:
            return self.elsewhere
        path = asked.path.removeprefix(self.base)
        if path == "/accounts/ClientLogin":
            good = (asked.form.get("Email"), asked.form.get("Passwd")) == ([LOGIN], [SECRET])
            text = f"SID={TOKEN}\nLSID=null\nAuth={TOKEN}\n"
            return Said(text, headers={"Content-Type": "text/plain"}) if good else self.wrong
        if not path.startswith("/reader/api/0/"):
            return self.elsewhere
        if asked.headers.get("Authorization") != f"GoogleLogin auth={TOKEN}":
            return Said("Unauthorized", 401)
        return self._api(asked, path.removeprefix("/reader/api/0/"))

    def _api(self, asked: Asked, path: str) -> Said:
        lists = {
            "subscription/list": {"subscriptions": self.subscriptions},
            "tag/list": {"tags": self.tags},
            "token": TOKEN,
        }
        if path in lists:
            return Said(lists[path])
        if path == "stream/items/ids":
            items, answer = self._page(asked.query["s"], asked)
            return Said({"itemRefs": [{"id": item["id"]} for item in items]} | answer)
        if path == "stream/items/contents":
            every = {_long_form(item["id"]): item for items in self.streams.values() for item in items}
            assert asked.method == "POST" and asked.form["T"] == [TOKEN]
            return Said({"items": [every[key] for key in asked.form["i"]]})
        if path.startswith("stream/contents/") and not self.names_first:
            items, answer = self._page(path.removeprefix("stream/contents/"), asked)
            return Said({"items": items} | answer)
        return Said("[]") if self.names_first else NOT_FOUND

    def _page(self, stream: str, asked: Asked) -> tuple[list[dict[str, Any]], dict[str, str]]:
        start, size = int(asked.query.get("c", 0)), int(asked.query["n"])
        items = self.streams.get(stream, [])
        if self.repeats:
            return items[:size], {"continuation": "5"}
        more = {"continuation": str(start + size)} if start + size < len(items) else {}
        return items[start : start + size], more


def _long_form(key: str) -> str:
    """The id by which Miniflux knows an item that it names in decimal digits."""
    return f"tag:google.com,2005:reader/item/{int(key):016x}" if key.isdecimal() else key


@dataclass
class Fever:
    """A Fever account at the path `path`."""

    path: str = "/api/fever.php"
    items: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Said:
        if asked.path != self.path or "api" not in asked.query:
            return HTML
        key = hashlib.md5(f"{LOGIN}:{SECRET}".encode()).hexdigest()
        if asked.form.get("api_key") != [key]:
            return Said({"api_version": 3, "auth": 0})
        answer: dict[str, Any] = {"api_version": 3, "auth": 1}
        if "groups" in asked.query:
            answer["groups"] = [{"id": 1, "title": "Caf&eacute;"}]
            answer["feeds_groups"] = [{"group_id": 1, "feed_ids": "7,8"}]
        if "feeds" in asked.query:
            answer["feeds"] = [
                {"id": 7, "title": "One", "url": "https://one.example/feed"},
                {"id": 9, "title": "Nine", "url": "https://nine.example/feed"},
            ]
        if "saved_item_ids" in asked.query:
            answer["saved_item_ids"] = ",".join(str(i["id"]) for i in self.items if i["is_saved"])
        if "items" in asked.query:
            ids = asked.query.get("with_ids", "")
            since = int(asked.query.get("since_id", 0))
            wanted = {int(key) for key in ids.split(",") if key}
            chosen = [i for i in self.items if (i["id"] in wanted if ids else i["id"] > since)]
            answer |= {"items": chosen[:50], "total_items": len(self.items)}
        return Said(answer)


@dataclass
class Miniflux:
    """A Miniflux server, with a token and Basic authentication."""

    feeds: list[dict[str, Any]] = field(default_factory=list)
    user: dict[str, Any] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Said:
        basic = base64.b64encode(f"{LOGIN}:{SECRET}".encode()).decode()
        is_good = asked.headers.get("X-Auth-Token") == TOKEN
        if not is_good and asked.headers.get("Authorization") != f"Basic {basic}":
            return Said({"error_message": "Access Unauthorized"}, 401)
        if asked.path == "/v1/me":
            return Said(self.user)
        if asked.path == "/v1/feeds":
            return Said(self.feeds)
        if asked.path != "/v1/entries":
            return NOT_FOUND
        after, limit = int(asked.query["after_entry_id"]), int(asked.query["limit"])
        rows = [row for row in self.entries if row["id"] > after]
        if "starred" in asked.query:
            rows = [row for row in rows if row["starred"]]
        return Said({"total": len(rows), "entries": rows[:limit]})
