"""Resources and prompts: articles, feeds and collections by address, and requests that people make often."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused, call
from crawler.assistants.finding import article_hits, feed_row
from crawler.assistants.reading import ReadArguments, read
from crawler.assistants.tools import PAGE_ROWS
from crawler.assistants.words import NOTICE, phrase

SCHEME = "freshet://"
MARKDOWN, JSON = "text/markdown", "application/json"


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """Resources of one kind: how their addresses look, and what is behind them."""

    name: str
    title: str
    description: str
    media_type: str

    @property
    def template(self) -> str:
        """The pattern of their addresses (RFC 6570)."""
        return f"{SCHEME}{self.name}/{{id}}"


KINDS = (
    ResourceKind("article", "Article", "An article with its text.", MARKDOWN),
    ResourceKind("feed", "Feed", "A feed: when it is visited next, and its newest articles.", JSON),
    ResourceKind("collection", "Collection", "Articles that people have put together.", JSON),
)


@dataclass(frozen=True, slots=True)
class ResourceText:
    """Text behind an address, and of which kind it is."""

    media_type: str
    text: str


def resource_at(caller: Caller, address: str) -> ResourceText:
    """Return what is behind an address. Raises ToolRefused where there is nothing."""
    name, _, number = address.removeprefix(SCHEME).partition("/")
    if not address.startswith(SCHEME) or not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise ToolRefused(f"There is no resource {phrase(address, 100)}.")
    if name == "article":
        return ResourceText(MARKDOWN, read(caller, ReadArguments(id=f"article:{number}")).text)
    if name == "feed":
        data: dict[str, Any] = {"feed": feed_row(call(caller, f"/api/feeds/{number}/").data)}
        newest = call(caller, "/api/articles/", {"feed": number, "page_size": PAGE_ROWS}).data["results"]
        data["articles"] = article_hits(caller, [row["id"] for row in newest])
    elif name == "collection":
        row = call(caller, f"/api/collections/{number}/").data
        rows = call(caller, f"/api/collections/{number}/articles/").data["results"]
        data = {
            "collection": {"id": row["id"], "name": row["name"]},
            "articles": article_hits(caller, [each["article"] for each in rows]),
        }
    else:
        raise ToolRefused(f"There is no resource {phrase(address, 100)}.")
    return ResourceText(JSON, json.dumps({"about_quoted": NOTICE, **data}, ensure_ascii=False))


def listed_resources(caller: Caller, page: int) -> tuple[list[tuple[str, str, str]], bool]:
    """Return a page of a person's feeds and collections as address, title and media type; and if more follow.

    Collections stand on the first page.
    """
    rows: list[tuple[str, str, str]] = []
    if page == 1:
        rows = [
            (f"{SCHEME}collection/{row['id']}", phrase(row["name"], 100), JSON)
            for row in call(caller, "/api/collections/", {"page_size": 50}).data["results"]
        ]
    data = call(caller, "/api/subscriptions/", {"page": page, "page_size": 50}).data
    for row in data["results"]:
        title = row["title"] or row.get("feed_title") or f"feed {row['feed']}"
        rows.append((f"{SCHEME}feed/{row['feed']}", phrase(title, 60), JSON))
    return rows, bool(data["next"])


@dataclass(frozen=True, slots=True)
class PromptText:
    """A request that people make often; `argument` stands in the place of {word}, "" where there is none."""

    name: str
    title: str
    description: str
    text: str
    argument: str = ""
    about_argument: str = ""


PROMPTS = (
    PromptText(
        "morning-brief",
        "Morning brief",
        "What is new since yesterday, in a page.",
        "Call `stories` for the last day and `unread` with order=interest. Write a brief of at most ten"
        " points of what is new, the most important first: one or two sentences each, with the source and the"
        " address of the article. Read an article before you say more than its title does. Quote names and"
        " numbers exactly. Say at the end how many articles are unread.",
    ),
    PromptText(
        "topic-week",
        "A week of a topic",
        "What was written about something in a week, and how it went on.",
        "Call `search` for {word} with since= seven days ago, page by page. Read the most telling articles."
        " Tell how the week went, day by day; say where sources disagree, and which was first; give the"
        " address of each article that you use.",
        "topic",
        "Words to search for.",
    ),
    PromptText(
        "site-changes",
        "What changed on a site",
        "Which pages of a watched site changed, and how.",
        "Find the watched site {word} with `search` (kind=sites), then call `changes` for it and `read` the"
        " changes of the last week. Tell what was added, what went and what was reworded, with the words"
        " before and after and the address of each page. Leave out what is only layout.",
        "site",
        "Its name or address.",
    ),
)
