"""Runners of reports about the door for assistants: words of strangers, schemas of tools, and sign-in."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from crawler.assistants.words import fenced, phrase
from tests.reports.runners import Input, runner, whole_way


@runner
def quoted(given: Input) -> Any:
    """A `text` of a stranger -> how it stands in a block, and as a title."""
    return {"block": fenced(given["text"], "a page"), "title": phrase(given["text"])}


@runner
def tool_schemas(given: Input) -> Any:
    """The schemas of all tools -> tools `having` a keyword that is asked for, and those `lacking` another."""
    from crawler.assistants.server import TOOLS  # noqa: PLC0415 - the official package takes a second

    schemas = {tool.name: tool.schema() for tool in TOOLS}
    texts = {name: json.dumps(schema) for name, schema in schemas.items()}
    return {
        "having": [
            name
            for name, schema in schemas.items()
            if any(word in schema for word in given.get("at_the_top", ()))
            or any(f'"{word}"' in texts[name] for word in given.get("anywhere", ()))
        ],
        "lacking": [name for name, schema in schemas.items() if given.get("needs", "type") not in schema],
        "types": sorted({schema["type"] for schema in schemas.values()}),
    }


@whole_way
def door(given: Input) -> Any:
    """Requests without a sign-in, [method, path, JSON] -> of each its status, JSON and challenge."""
    client, answers = Client(headers={"host": "news.example"}), []
    for method, path, *rest in given["requests"]:
        answer = client.generic(
            method, path, json.dumps(rest[0]) if rest else "", "application/json",
            headers={"host": "localhost", "accept": "application/json, text/event-stream"},
        )  # fmt: skip
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        answers.append(
            {
                "status": answer.status_code,
                "json": answer.json() if is_json else None,
                "challenge": answer.headers.get("WWW-Authenticate", ""),
            }
        )
    return answers
