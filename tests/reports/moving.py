"""Runners of reports about moving from one reader to another: exported files, recorded accounts, watchers."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import unquote_plus, urlencode

from articles.moving.files import read_export
from articles.moving.http import Http, ServerAnswer
from articles.moving.program import STEPS
from articles.moving.values import ForeignAccount, MovedItem, MovedPart, MovingError
from recrawl.importing.urlwatch import jobs_of
from tests.reports.runners import Input, runner

MAX_STEPS = 40
USUAL_ANSWERS: Mapping[str, list[dict[str, Any]]] = {
    "greader": [
        {"at": ["tag/list"], "json": {"tags": []}},
        {"at": ["subscription/list"], "json": {"subscriptions": []}},
        {"at": ["stream/contents/"], "json": {"items": []}},
        {"at": ["0/token"], "text": "token"},
    ],
    "fever": [{"at": ["api="], "json": {"api_version": 3, "auth": 1}}],
    "miniflux": [
        {"at": ["/v1/me"], "json": {}},
        {"at": ["/v1/feeds"], "json": []},
        {"at": ["/v1/entries"], "json": {"total": 0, "entries": []}},
    ],
}
"""Answers of an empty account, behind those of a report."""


class RecordedServer:
    """Answers each request with the first recorded reply whose texts all stand in it, else with 404."""

    def __init__(self, replies: list[dict[str, Any]]) -> None:
        self._replies = replies

    def get(
        self, url: str, query: Mapping[str, Any] | None = None, headers: object = None, basic: object = None
    ) -> ServerAnswer:
        """Return the answer to a GET."""
        return self._answer(f"GET {url}?{_form(query)}")

    def post(
        self,
        url: str,
        form: Mapping[str, Any],
        query: Mapping[str, Any] | None = None,
        headers: object = None,
    ) -> ServerAnswer:
        """Return the answer to a POST with a form."""
        return self._answer(f"POST {url}?{_form(query)}&{_form(form)}&")

    def _answer(self, request: str) -> ServerAnswer:
        for reply in self._replies:
            if all(text in request for text in reply["at"]):
                body = reply["text"] if "text" in reply else json.dumps(reply["json"])
                return ServerAnswer(reply.get("status", 200), "application/json", body.encode())
        return ServerAnswer(404, "text/plain", b"")


def _form(values: Mapping[str, Any] | None) -> str:
    return unquote_plus(urlencode(values or {}, doseq=True))


@runner
def moved_file(report: Input) -> dict[str, Any]:
    """An exported file, or the members of a zip file -> its feeds, items, filters and what is left out.

    A file is `text`, `json` or `base64` under its `name`, and packed by gzip if `gzip` is set.
    """
    if "members" in report:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path, content in report["members"].items():
                archive.writestr(path, content if isinstance(content, str) else json.dumps(content))
        data = packed.getvalue()
    elif "base64" in report:
        data = base64.b64decode(report["base64"])
    else:
        text = report["text"] if "text" in report else json.dumps(report["json"])
        data = text.encode(report.get("encoding", "utf-8"))
    data = gzip.compress(data) if report.get("gzip") else data
    try:
        return _facts([read_export(report.get("name", "export"), data)])
    except MovingError as error:
        return {"refused": error.kind}


@runner
def moved_account(report: Input) -> dict[str, Any]:
    """A `kind` of account with recorded `replies` -> its feeds, items, filters and what is left out."""
    kind = report["kind"]
    server = cast("Http", RecordedServer([*report["replies"], *USUAL_ANSWERS[kind]]))
    account = ForeignAccount(kind, "https://reader.example", secret="token", items=report.get("items", 50))
    parts, cursor = list[MovedPart](), ""
    for _ in range(MAX_STEPS):
        try:
            part = STEPS[kind](
                ForeignAccount(kind, account.url, secret="token", cursor=cursor, items=account.items), server
            )
        except MovingError as error:
            return _facts(parts) | {"refused": error.kind}
        parts.append(part)
        cursor = part.cursor
        if not cursor:
            return _facts(parts)
    return _facts(parts) | {"refused": "no end"}


@runner
def moved_watches(report: Input) -> Any:
    """Jobs of urlwatch or webchanges as `text` -> addresses, titles, settings and what is lost."""
    try:
        return [
            {"url": job.url, "title": job.title, "settings": job.settings, "lost": job.lost}
            for job in jobs_of(report["text"])
        ]
    except ValueError as error:
        return {"refused": str(error)}


def _facts(parts: list[MovedPart]) -> dict[str, Any]:
    """Return what parts hold together. An item that comes in several lists is joined, as its marks are."""
    items: dict[tuple[str, str, str], dict[str, Any]] = {}
    for item in (item for part in parts for item in part.items):
        facts = _item(item)
        before = items.setdefault((item.feed_url, item.url, item.title), facts)
        before["labels"] = list(dict.fromkeys([*before["labels"], *facts["labels"]]))
        before["starred"] = before["starred"] or facts["starred"]
    return {
        "feeds": [
            {"url": feed.url, "title": feed.title, "folder": feed.folder}
            for part in parts
            for feed in part.feeds
        ],
        "items": list(items.values()),
        "filters": [
            {"program": rule.program, "text": rule.text, "feed": rule.feed_url, "folder": rule.folder}
            for part in parts
            for rule in part.filters
        ],
        "left_out": [words for part in parts for words in part.left_out],
    }


def _item(item: MovedItem) -> dict[str, Any]:
    return {
        "feed": item.feed_url,
        "url": item.url,
        "title": item.title,
        "identity": item.identity,
        "author": item.author,
        "content": item.content,
        "published": _time(item.published),
        "read": item.read,
        "starred": "unknown" if item.starred == 0 else _time(item.starred),
        "labels": list(item.labels),
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
