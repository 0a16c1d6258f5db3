"""Tools that find: search, unread, stories, changes and feeds."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from django.urls import reverse
from msgspec import Meta

from articles.models import Subscriber
from articles.personal.following import subscriber_of
from articles.reader.lists import ReadingList, Row, rows_of
from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused, call, parameters_of
from crawler.assistants.tools import PAGE_ROWS, Arguments, Cursor, Rows, Tool, ToolAnswer, key_of
from crawler.assistants.words import NOTICE, address, phrase
from crawler.database.readers import reading_as
from feeds.models import Feed

MAX_STORY_DAYS = 30
EXCERPT = 300


class SearchArguments(Arguments):
    """Arguments of `search`."""

    query: Annotated[
        str,
        Meta(
            description='Words; "a phrase", -without, OR. For articles also author:name, site:host, lang:de,'
            " after:2026-01-31, before:2026-02-28, has:audio, is:saved, is:highlighted, is:edited.",
            max_length=500,
        ),
    ]
    kind: Annotated[
        Literal["articles", "saved", "highlights", "feeds", "sites", "pages", "people"],
        Meta(description="What to search; `pages` are those of watched sites."),
    ] = "articles"
    feed: Annotated[str, Meta(description="Only this feed, as `feed:12`.", max_length=30)] = ""
    since: Annotated[str, Meta(description="A day, 2026-01-31: not older.", max_length=10)] = ""
    until: Annotated[str, Meta(description="A day: not newer.", max_length=10)] = ""
    language: Annotated[str, Meta(description="Two letters, such as de.", max_length=20)] = ""
    limit: Rows = PAGE_ROWS
    cursor: Cursor = ""


class UnreadArguments(Arguments):
    """Arguments of `unread`."""

    feed: Annotated[str, Meta(description="Only this feed, as `feed:12`.", max_length=30)] = ""
    folder: Annotated[str, Meta(description="Only this folder of the person.", max_length=200)] = ""
    order: Annotated[
        Literal["newest", "oldest", "interest"], Meta(description="`interest`: what they like most first.")
    ] = "newest"
    cursor: Cursor = ""


class StoriesArguments(Arguments):
    """Arguments of `stories`."""

    days: Annotated[int, Meta(description="Of the last days.", ge=1, le=MAX_STORY_DAYS)] = 2
    limit: Rows = PAGE_ROWS
    cursor: Cursor = ""


class ChangesArguments(Arguments):
    """Arguments of `changes`."""

    site: Annotated[str, Meta(description="Only this watched site, as `site:3`.", max_length=30)] = ""
    page: Annotated[str, Meta(description="Only this page, as `page:7`.", max_length=30)] = ""
    limit: Rows = PAGE_ROWS
    cursor: Cursor = ""


class FeedsArguments(Arguments):
    """Arguments of `feeds`."""

    feed: Annotated[
        str, Meta(description="One feed, as `feed:12`, with what is known of it.", max_length=30)
    ] = ""
    query: Annotated[str, Meta(description="Words of titles or addresses.", max_length=200)] = ""
    only_mine: Annotated[bool, Meta(description="Those that the person follows.")] = True
    limit: Rows = PAGE_ROWS
    cursor: Cursor = ""


def search(caller: Caller, arguments: SearchArguments) -> ToolAnswer:
    """Search articles, saved pages, highlights, feeds, sites, their pages, or people."""
    if not arguments.query.strip() and arguments.kind != "saved":
        raise ToolRefused("There is nothing to search for: give words.")
    results = _SEARCHES[arguments.kind](caller, arguments)
    return ToolAnswer({"about_quoted": NOTICE, **results})


def _articles(caller: Caller, arguments: SearchArguments) -> dict[str, Any]:
    parameters = {
        "q": arguments.query, "feed": _number(arguments.feed, "feed"),
        "since": arguments.since, "until": arguments.until,
        "language": arguments.language, "page_size": arguments.limit, "cursor": arguments.cursor,
    }  # fmt: skip
    data = call(caller, "/api/articles/", parameters).data
    keys = [row["id"] for row in data["results"]]
    return {"articles": article_hits(caller, keys), "next": parameters_of(data["next"]).get("cursor", "")}


def _saved(caller: Caller, arguments: SearchArguments) -> dict[str, Any]:
    parameters = {"q": arguments.query, "since": arguments.since, "until": arguments.until}
    data = call(caller, "/api/saved/", {**parameters, **_page(arguments)}).data
    return {
        "saved": [
            {
                "id": f"article:{row['article']}", "state": row["state"], "saved": row["saved"],
                "url": address(row["url"]), "tags": row["tags"], "highlights": row["highlights"],
                "note": row["note"],
                "quoted": {"title": phrase(row["title"]), "author": phrase(row["author"])},
            }
            for row in data["results"]
        ],
        "next": _next(data),
    }  # fmt: skip


def _highlights(caller: Caller, arguments: SearchArguments) -> dict[str, Any]:
    data = call(caller, "/api/highlights/", {"q": arguments.query, **_page(arguments)}).data
    return {
        "highlights": [
            {
                "id": f"highlight:{row['id']}", "article": f"article:{row['article']}", "note": row["note"],
                "tags": row["tags"], "quoted": {"words": phrase(row["quote"], 1_000)},
            }
            for row in data["results"]
        ],
        "next": _next(data),
    }  # fmt: skip


def _feeds(caller: Caller, arguments: SearchArguments) -> dict[str, Any]:
    data = call(caller, "/api/feeds/", {"q": arguments.query, **_page(arguments)}).data
    return {"feeds": [feed_row(row) for row in data["results"]], "next": _next(data)}


def _sites(caller: Caller, arguments: SearchArguments) -> dict[str, Any]:
    data = call(caller, "/api/sites/", {"search": arguments.query, **_page(arguments)}).data
    return {
        "sites": [
            {
                "id": f"site:{row['id']}", "url": address(row["url"]), "state": row["state"],
                "visited": row["visited"], "next_visit": row["next_visit"],
                "quoted": {"title": phrase(row["title"])},
            }
            for row in data["results"]
        ],
        "next": _next(data),
    }  # fmt: skip


def _pages(caller: Caller, arguments: SearchArguments) -> dict[str, Any]:
    data = call(caller, "/api/pages/", {"search": arguments.query, **_page(arguments)}).data
    return {
        "pages": [
            {
                "id": f"page:{row['id']}", "site": f"site:{row['site']}", "url": address(row["url"]),
                "state": row["state"], "fetched": row["fetched"], "changed": row["changed"],
                "changes": row["changes"], "quoted": {"title": phrase(row["title"])},
            }
            for row in data["results"]
        ],
        "next": _next(data),
    }  # fmt: skip


def _people(caller: Caller, arguments: SearchArguments) -> dict[str, Any]:
    data = call(caller, "/api/things/", {"kind": "person", "name": arguments.query}).data
    keys = data["articles"][: arguments.limit]
    return {
        "people": [
            {
                "sites": data["sites"], "number_of_articles": len(data["articles"]),
                "quoted": {"name": phrase(data["name"])},
            }
        ],
        "articles": article_hits(caller, keys),
        "next": "",
    }  # fmt: skip


_SEARCHES = {
    "articles": _articles, "saved": _saved, "highlights": _highlights, "feeds": _feeds, "sites": _sites,
    "pages": _pages, "people": _people,
}  # fmt: skip


def unread(caller: Caller, arguments: UnreadArguments) -> ToolAnswer:
    """List what the person has not read, as their reader does: a story once, hidden articles not at all."""
    place = _opened(arguments.cursor)
    orders = {"newest": "new", "oldest": "old", "interest": "interest"}
    reading_list = ReadingList(
        feed=key_of(arguments.feed, "feed") if arguments.feed else None,
        folder=arguments.folder.strip().strip("/"),
        order=orders[arguments.order],
        page=place.get("page", 1),
        after=place.get("after", 0),
    )
    with reading_as(caller.user.pk):
        page = reading_list.keys(subscriber_of(caller.user))
    counts = call(caller, "/api/unread/").data
    following = ""
    if page.has_next:
        following = _sealed({"page": reading_list.page + 1, "after": page.keys[-1]})
    data = {
        "unread_in_all": counts["total"],
        "articles": article_hits(caller, page.keys),
        "next": following,
    }
    return ToolAnswer({"about_quoted": NOTICE, **data})


def stories(caller: Caller, arguments: StoriesArguments) -> ToolAnswer:
    """List stories of the last days, each with who was first and who followed when."""
    data = call(caller, "/api/stories/", _page(arguments)).data
    since = datetime.now(UTC) - timedelta(days=arguments.days)
    rows = [row for row in data["results"] if datetime.fromisoformat(row["created"]) >= since]
    is_more = len(rows) == len(data["results"])
    story_rows = [
        {
            "id": f"story:{row['id']}",
            "began": row["first"] and row["first"]["published"],
            "seconds_to_the_next": row["delay"],
            "articles": [_member(member) for member in row["members"][:10]],
            "number_of_articles": len(row["members"]),
        }
        for row in rows
    ]
    return ToolAnswer({"about_quoted": NOTICE, "stories": story_rows, "next": _next(data) if is_more else ""})


def _member(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"article:{row['article']}", "published": row["published"], "seconds_later": row["delay"],
        "quoted": {"title": phrase(row["title"]), "source": phrase(row["source"], 100)},
    }  # fmt: skip


def changes(caller: Caller, arguments: ChangesArguments) -> ToolAnswer:
    """List changes of watched sites, the last first."""
    parameters = {
        "site": _number(arguments.site, "site"), "page": _number(arguments.page, "page"),
        "page_size": arguments.limit, "cursor": arguments.cursor,
    }  # fmt: skip
    data = call(caller, "/api/changes/", parameters).data
    change_rows = [
        {
            "id": f"change:{row['id']}", "site": f"site:{row['site']}", "page": f"page:{row['page']}",
            "url": address(row["url"]), "at": row["at"], "kind": row["kind"],
            "lines_added": row["added"], "lines_removed": row["removed"],
            "quoted": {"title": phrase(row["title"]), "summary": phrase(row["summary"] or "", 500)},
        }
        for row in data["results"]
    ]  # fmt: skip
    following = parameters_of(data["next"]).get("cursor", "")
    return ToolAnswer({"about_quoted": NOTICE, "changes": change_rows, "next": following})


def feeds(caller: Caller, arguments: FeedsArguments) -> ToolAnswer:
    """List feeds with why and when each is visited next; one of them with more."""
    if arguments.feed:
        key = key_of(arguments.feed, "feed")
        row = feed_row(call(caller, f"/api/feeds/{key}/").data)
        schedule = call(caller, f"/api/feeds/{key}/schedule/").data
        last = call(caller, "/api/retrievals/", {"feed": key, "page_size": 5}).data["results"]
        visits = [{name: each.get(name) for name in ("at", "outcome", "status", "failure")} for each in last]
        return ToolAnswer({"about_quoted": NOTICE, "feed": row, "schedule": schedule, "last_visits": visits})
    if arguments.only_mine:
        return ToolAnswer({"about_quoted": NOTICE, **_followed(caller, arguments)})
    data = call(caller, "/api/feeds/", {"q": arguments.query, **_page(arguments)}).data
    rows = [feed_row(row) for row in data["results"]]
    return ToolAnswer({"about_quoted": NOTICE, "feeds": rows, "next": _next(data)})


def _followed(caller: Caller, arguments: FeedsArguments) -> dict[str, Any]:
    """Return a page of the feeds that the person follows, with their folders and unread counts."""
    number = (
        max(int(arguments.cursor), 1) if arguments.cursor.isascii() and arguments.cursor.isdecimal() else 1
    )
    with reading_as(caller.user.pk):
        mine = subscriber_of(caller.user).subscriptions.filter(feed__removed__isnull=True)
        if arguments.query.strip():
            matches = Feed.objects.filter(title__icontains=arguments.query.strip())
            mine = mine.filter(feed__in=matches) | mine.filter(title__icontains=arguments.query.strip())
        first = (number - 1) * arguments.limit
        rows = list(
            mine.order_by("id").values("feed", "folder", "title")[first : first + arguments.limit + 1]
        )
    unread_of = call(caller, "/api/unread/").data["feeds"]
    feed_rows = []
    for row in rows[: arguments.limit]:
        entry = feed_row(call(caller, f"/api/feeds/{row['feed']}/").data)
        entry |= {"folder": row["folder"], "unread": unread_of.get(str(row["feed"]), 0)}
        if row["title"]:
            entry["called"] = row["title"]
        feed_rows.append(entry)
    return {"feeds": feed_rows, "next": str(number + 1) if len(rows) > arguments.limit else ""}


def feed_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return what an assistant gets of a feed: no address that may hold a key, and no rules."""
    return {
        "id": f"feed:{row['id']}", "kind": row["kind"], "site": address(row["site_url"] or row["host"]),
        "state": row["phase"], "language": row["language"], "last_new_article": row["last_new"],
        "last_visit": row["last_attempt"], "next_visit": row["next_retrieval"],
        "why_then": row["reason"], "failing_since": row["failing_since"], "failure": row["failure"],
        "quoted": {"title": phrase(row["title"]), "description": phrase(row["description"] or "", 200)},
    }  # fmt: skip


def article_hits(caller: Caller, keys: Sequence[int]) -> list[dict[str, Any]]:
    """Return what an assistant gets of these articles in a list, in this order."""
    with reading_as(caller.user.pk):
        subscriber = subscriber_of(caller.user)
        rows = rows_of(subscriber, keys, names_of_feeds(subscriber))
        return [_hit(row) for row in rows]


def names_of_feeds(subscriber: Subscriber) -> dict[int, str]:
    """Return the names that a person gives to feeds, by feed."""
    return dict(subscriber.subscriptions.exclude(title="").values_list("feed", "title"))


def _hit(row: Row) -> dict[str, Any]:
    article = row.article
    hit: dict[str, Any] = {
        "id": f"article:{article.pk}",
        "feed": f"feed:{article.feed_id}",
        "published": article.published and article.published.isoformat(),
        "language": article.language,
        "url": address(article.url),
        "read_here": reverse("read-article", args=[article.pk]),
        "unread": not row.is_read,
        "starred": row.is_starred,
        "quoted": {
            "title": phrase(row.title),
            "source": phrase(row.source, 100),
            "author": phrase(article.author, 100),
            "excerpt": phrase(article.excerpt, EXCERPT),  # type: ignore[attr-defined]  # annotated by `lean`
        },
    }
    if row.story:
        hit |= {"story": f"story:{row.story}", "also_in_feeds": row.also_in}
    return hit


def _number(reference: str, kind: str) -> int | str:
    return key_of(reference, kind) if reference else ""


def _page(arguments: Any) -> dict[str, Any]:
    """Return the parameters of a numbered page of the API."""
    if arguments.cursor and not (arguments.cursor.isascii() and arguments.cursor.isdecimal()):
        raise ToolRefused("That is no cursor: give `next` of the answer before.")
    return {"page": arguments.cursor, "page_size": arguments.limit}


def _next(data: dict[str, Any]) -> str:
    return parameters_of(data["next"]).get("page", "")


def _sealed(place: dict[str, int]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def _opened(cursor: str) -> dict[str, int]:
    """Return the place that a cursor of ours names. Raises ToolRefused for another text."""
    if not cursor:
        return {}
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return {"page": max(int(place["page"]), 1), "after": int(place["after"])}
    except (ValueError, TypeError, KeyError) as error:
        raise ToolRefused("That is no cursor: give `next` of the answer before.") from error


TOOLS = (
    Tool("search", "Search", "Search articles, saved pages, highlights, feeds, sites or people.",
         SearchArguments, search),
    Tool("unread", "Unread articles", "List what the person has not read yet.", UnreadArguments, unread),
    Tool("stories", "Stories", "List news that several feeds tell: who was first, who followed.",
         StoriesArguments, stories),
    Tool("changes", "Changes", "List changes of watched sites; `read` shows the lines of one.",
         ChangesArguments, changes),
    Tool("feeds", "Feeds", "List feeds: when each is visited next, and why; what fails.",
         FeedsArguments, feeds),
)  # fmt: skip
