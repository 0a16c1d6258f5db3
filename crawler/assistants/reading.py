"""The tool that reads one thing whole: an article, a version of it, a story, a page of a site, a change."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused, call
from crawler.assistants.tools import Arguments, Tool, ToolAnswer, key_of
from crawler.assistants.words import NOTICE, address, cut, fenced, markdown, phrase
from crawler.database.readers import reading_as
from recrawl.changes.versions import version_at, version_count
from recrawl.models import WatchedPage

PART_CHARACTERS = 24_000
MAX_LINKS = 60


class ReadArguments(Arguments):
    """Arguments of `read`."""

    id: Annotated[
        str,
        Meta(
            description="`article:12`, `article:12/version:2`, `article:12/versions`, `story:3`, `page:7`,"
            " `page:7/version:2` or `change:9`, as other answers name them.",
            max_length=60,
        ),
    ]
    start: Annotated[int, Meta(description="`next_start` of the answer before, in a long text.", ge=0)] = 0


def read(caller: Caller, arguments: ReadArguments) -> ToolAnswer:
    """Read one thing as Markdown, with what is quoted and where it is from."""
    whole, _, part = arguments.id.strip().partition("/")
    kind = whole.partition(":")[0]
    if kind not in _READERS:
        raise ToolRefused(
            f'There is nothing of the kind "{kind[:30]}": read an article, story, page or change.'
        )
    data, head, text, source = _READERS[kind](caller, key_of(whole, kind), part)
    excerpt, following = cut(text, arguments.start, PART_CHARACTERS)
    data |= {"id": arguments.id, "characters": len(text), "next_start": following}
    lines = [f"- {name}: {value}" for name, value in head.items() if value not in (None, "", [])]
    if following:
        lines.append(f"- This is a part of it: go on with start={following}.")
    return ToolAnswer(data, "\n".join([*lines, "", NOTICE, "", fenced(excerpt, source)]))


Thing = tuple[dict[str, Any], dict[str, Any], str, str]
"""Facts for programs, facts for the head of the text, words of strangers, and whose words they are."""


def _article(caller: Caller, key: int, part: str) -> Thing:
    if part == "versions":
        return _versions(caller, key)
    if part:
        return _version(caller, key, key_of(part, "version"))
    row = call(caller, f"/api/articles/{key}/").data
    marks = call(caller, f"/api/articles/{key}/marks/").data
    feed = call(caller, f"/api/feeds/{row['feed']}/").data if _has_feed(caller, row) else {}
    text = markdown(row["content_html"]) or row["text"] or row["summary"]
    title, source = phrase(row["title"]), phrase(feed.get("title") or row["url"], 100)
    facts = {
        "url": address(row["url"]), "feed": f"feed:{row['feed']}", "published": row["published"],
        "language": row["language"], "read": marks["read"], "starred": marks["starred"],
        "labels": marks["labels"], "text_is_from": row["content_from"],
    }  # fmt: skip
    quoted = {"title": title, "author": phrase(row["author"], 100), "source": source}
    head = {"Article": f"article:{key}", "Address": address(row["url"]), "Published": row["published"]}
    words = "\n".join(["# " + title, f"By {quoted['author']}" if quoted["author"] else "", "", text])
    return {**facts, "quoted": quoted}, head, words, f"{source}, {address(row['url'])}"


def _has_feed(caller: Caller, row: dict[str, Any]) -> bool:
    """Return whether an article is of a feed that people know, not a page that somebody saved."""
    from feeds.models import Feed  # noqa: PLC0415 - its manager hides feeds of saved pages

    with reading_as(caller.user.pk):
        return Feed.objects.filter(pk=row["feed"]).exists()


def _versions(caller: Caller, key: int) -> Thing:
    data = call(caller, f"/api/articles/{key}/versions/").data
    rows = [
        {
            "id": f"article:{key}/version:{row['number']}", "seen": row["seen"], "shown_by": row["shown_by"],
            "kinds": row["kinds"], "words": row["words"],
        }
        for row in data["versions"]
    ]  # fmt: skip
    text = "\n".join(f"{row['number']}. {row['seen']}: {row['in_words']}" for row in data["versions"])
    head = {"Versions of": f"article:{key}", "Edited": f"{data['edited']} times"}
    return (
        {"versions": rows, "edited": data["edited"], "hashes_prove": data["proves"]},
        head,
        text,
        "the article",
    )


def _version(caller: Caller, key: int, number: int) -> Thing:
    data = call(caller, f"/api/articles/{key}/versions/").data
    row = next((each for each in data["versions"] if each["number"] == number), None)
    if row is None:
        raise ToolRefused(f"That article has {len(data['versions'])} versions kept.")
    facts = {name: row[name] for name in ("number", "seen", "shown_by", "kinds", "words", "sha256")}
    head = {"Version": f"{number} of {len(data['versions'])} of article:{key}", "Seen": row["seen"]}
    return facts, head, f"# {phrase(row['title'])}\n\n{row['text']}", f"article:{key}, version {number}"


def _story(caller: Caller, key: int, _: str) -> Thing:
    data = call(caller, f"/api/stories/{key}/").data
    members = [
        {"id": f"article:{row['article']}", "published": row["published"], "seconds_later": row["delay"]}
        for row in data["members"]
    ]
    text = "\n".join(
        f"- article:{row['article']}, {row['published']}, {phrase(row['source'], 99)}: {phrase(row['title'])}"
        for row in data["members"]
    )
    head = {"Story": f"story:{key}", "Articles": len(members)}
    return {"articles": members}, head, text, "feeds that tell it"


def _page(caller: Caller, key: int, part: str) -> Thing:
    row = call(caller, f"/api/pages/{key}/").data
    with reading_as(caller.user.pk):
        page = WatchedPage.objects.get(pk=key)
        number = key_of(part, "version") if part else version_count(page)
        version = version_at(page, number)
    if version is None:
        raise ToolRefused("Of that page no such version is kept.")
    facts = {
        "url": address(row["url"]), "site": f"site:{row['site']}", "state": row["state"],
        "fetched": row["fetched"],
        "version": number, "since": version.since.isoformat(), "price": row["price"],
        "currency": row["currency"], "quoted": {"title": phrase(version.title)},
    }  # fmt: skip
    head = {
        "Page": f"page:{key}", "Address": address(row["url"]), "Version": number,
        "As it was from": version.since.isoformat(),
        "Until": version.until.isoformat() if version.until else "now",
    }  # fmt: skip
    return facts, head, f"# {phrase(version.title)}\n\n" + "\n".join(version.texts), address(row["url"])


def _change(caller: Caller, key: int, _: str) -> Thing:
    row = call(caller, f"/api/changes/{key}/").data
    lines = []
    for hunk in row["hunks"]:
        for line in hunk:
            if line["old"] and line["kind"] != "equal" and line["old"] != line["new"]:
                lines.append(f"- {line['old']}")
            if line["new"] and line["old"] != line["new"]:
                lines.append(f"+ {line['new']}")
            elif line["new"]:
                lines.append(f"  {line['new']}")
        lines.append("")
    facts = {
        "url": address(row["url"]), "site": f"site:{row['site']}", "page": f"page:{row['page']}",
        "at": row["at"],
        "kind": row["kind"], "quoted": {"title": phrase(row["title"])},
    }  # fmt: skip
    head = {
        "Change": f"change:{key}", "Address": address(row["url"]), "Seen": row["at"], "Kind": row["kind"],
        "How to read it": "lines with - went, lines with + came",
    }  # fmt: skip
    return facts, head, "\n".join(lines), address(row["url"])


_READERS = {"article": _article, "story": _story, "page": _page, "change": _change}
TOOLS = (
    Tool(
        "read", "Read",
        "Read an article, one of its versions, a story, a page of a watched site or a change, as Markdown.",
        ReadArguments, read,
    ),
)  # fmt: skip
