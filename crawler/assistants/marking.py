"""Tools that change what is the person's own: save, mark, label and highlight."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from msgspec import Meta

from articles.models import Article
from articles.personal.following import subscriber_of
from articles.personal.marking import mark_read, star
from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused, call
from crawler.assistants.tools import Arguments, Tool, ToolAnswer, key_of
from crawler.assistants.words import address, phrase
from crawler.database.readers import reading_as
from crawler.web.scopes import MARK

MAX_AT_ONCE = 100


class SaveArguments(Arguments):
    """Arguments of `save`."""

    url: Annotated[str, Meta(description="Address of the page, http or https.", max_length=4_000)]
    tags: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=20)] = []
    note: Annotated[str, Meta(max_length=4_000)] = ""


class MarkArguments(Arguments):
    """Arguments of `mark`."""

    articles: Annotated[
        list[str], Meta(description="Their ids, as `article:12`.", min_length=1, max_length=MAX_AT_ONCE)
    ]
    # `as` is a word of the language
    state: Annotated[Literal["read", "unread", "starred", "unstarred"], Meta(description="What they become.")]


class LabelArguments(Arguments):
    """Arguments of `label`."""

    article: Annotated[str, Meta(description="Its id, as `article:12`.", max_length=30)]
    add: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=20)] = []
    remove: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=20)] = []


class HighlightArguments(Arguments):
    """Arguments of `highlight`."""

    article: Annotated[str, Meta(description="Its id, as `article:12`.", max_length=30)]
    quote: Annotated[
        str, Meta(description="Words that stand in it, letter by letter.", min_length=1, max_length=5_000)
    ]
    note: Annotated[str, Meta(max_length=4_000)] = ""


def save(caller: Caller, arguments: SaveArguments) -> ToolAnswer:
    """Save a page for the person; it is read in a moment."""
    sent = {"url": arguments.url, "tags": arguments.tags, "note": arguments.note}
    reply = call(caller, "/api/saved/", method="POST", data=sent)
    row = reply.data
    return ToolAnswer(
        {
            "id": f"article:{row['article']}", "url": address(row["url"]), "state": row["state"],
            "tags": row["tags"],
            "was_saved_already": reply.status == 200,
        }
    )  # fmt: skip


def mark(caller: Caller, arguments: MarkArguments) -> ToolAnswer:
    """Mark articles as read, unread, starred or not."""
    keys = [key_of(each, "article") for each in arguments.articles]
    with reading_as(caller.user.pk):
        existing_keys = list(Article.objects.filter(pk__in=keys).values_list("pk", flat=True))
        if missing := sorted(set(keys) - set(existing_keys)):
            raise ToolRefused("There is no " + ", ".join(f"article:{key}" for key in missing[:10]) + ".")
        subscriber, now = subscriber_of(caller.user), datetime.now(UTC)
        if arguments.state in {"read", "unread"}:
            mark_read(subscriber, existing_keys, now, read=arguments.state == "read")
        else:
            star(subscriber, existing_keys, now, starred=arguments.state == "starred")
    return ToolAnswer({"marked": len(existing_keys), "as": arguments.state})


def label(caller: Caller, arguments: LabelArguments) -> ToolAnswer:
    """Give an article labels of the person, and take others away."""
    path = f"/api/articles/{key_of(arguments.article, 'article')}/marks/"
    labels = [each for each in call(caller, path).data["labels"] if each not in arguments.remove]
    labels += [each for each in arguments.add if each not in labels]
    data = call(caller, path, method="PATCH", data={"labels": labels}).data
    return ToolAnswer({"article": arguments.article, "labels": data["labels"]})


def highlight(caller: Caller, arguments: HighlightArguments) -> ToolAnswer:
    """Highlight words of an article; they must stand in it."""
    sent = {"article": key_of(arguments.article, "article"), "quote": arguments.quote, "note": arguments.note}
    row = call(caller, "/api/highlights/", method="POST", data=sent).data
    return ToolAnswer(
        {
            "id": f"highlight:{row['id']}",
            "article": arguments.article,
            "quoted": {"words": phrase(row["quote"], 500)},
        }
    )


TOOLS = (
    Tool("save", "Save a page", "Save a page for the person, with tags and a note.", SaveArguments, save,
         MARK, asks_the_web=True),
    Tool("mark", "Mark articles", "Mark articles as read, unread, starred or unstarred.", MarkArguments, mark,
         MARK),
    Tool("label", "Label an article", "Add and remove the person's labels of an article.", LabelArguments,
         label, MARK),
    Tool("highlight", "Highlight words", "Highlight words of an article, with a note.", HighlightArguments,
         highlight, MARK),
)  # fmt: skip
