"""Articles that try to make an assistant act (attacks.jsonl), and one that obeys all."""

from __future__ import annotations

import json
import re
import unicodedata
from html import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from articles.models import Article, Mark, Page, Subscriber
from articles.personal.following import follow
from articles.saved.models import SavedPage
from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused
from crawler.assistants.resources import listed_resources, resource_at
from crawler.assistants.server import TOOLS
from crawler.reading.feeds.parse import parse_feed
from crawler.reading.pages.extract import extract_page
from crawler.web.scopes import MARK, READ, with_included
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_subscriber

pytestmark = pytest.mark.django_db

TABLE = Path(__file__).with_name("attacks.jsonl")
ATTACKS = [json.loads(line) for line in TABLE.read_text().splitlines()]
_CALL = re.compile(r"CALL (\w+) (?=\{)")
_ELEMENT = re.compile(r"<(?:img|iframe|script|style|svg|a|object|embed|link|meta|form)\b", re.IGNORECASE)
_BY_NAME = {tool.name: tool for tool in TOOLS}


@pytest.fixture
def ann() -> Subscriber:
    """Somebody who may do everything, and follows a feed."""
    ann = make_subscriber("ann", make_feed(title="Own"))
    User.objects.filter(pk=ann.user_id).update(is_staff=True, is_superuser=True)
    return Subscriber.objects.select_related("user").get(pk=ann.pk)


def stored(given: dict[str, Any]) -> Article:
    """Read an attack as a feed or a page is read, and store it."""
    feed = make_feed(title=given.get("feed_title", "Pier news"))
    if "page" in given:
        page = extract_page(given["page"].encode(), url="https://pier.example/a", content_type="text/html")
        row = Page.objects.create(
            url="https://pier.example/a", url_key=uuid4(), host=feed.host, status=Page.Status.STORED,
            html=page.html, text=page.text, content=page.content,
        )  # fmt: skip
        return make_article(feed, title=page.title, page=row)
    item = "".join(
        f"<{name}>{escape(given[key])}</{name}>"
        for name, key in (
            ("title", "title"),
            ("description", "content"),
            ("author", "author"),
            ("link", "link"),
        )
        if given.get(key)
    )
    body = f'<rss version="2.0"><channel><title>x</title><item><guid>1</guid>{item}</item></channel></rss>'
    [entry] = parse_feed(body.encode(), url="https://pier.example/feed").entries
    return make_article(
        feed,
        title=entry.title or "The pier",
        author=entry.author,
        content=entry.content or entry.summary,
        text=entry.text,
        url=entry.url or "https://pier.example/a",
    )


def outgoing(caller: Caller, article: Article) -> list[str]:
    """Return all texts in which an assistant meets an article."""
    read = _BY_NAME["read"].call(caller, {"id": f"article:{article.pk}"})
    data = [_BY_NAME["search"].call(caller, {"query": "pier"}).data, _BY_NAME["unread"].call(caller, {}).data]
    data.append(_BY_NAME["feeds"].call(caller, {"only_mine": False}).data)
    names = json.dumps(listed_resources(caller, 1)[0], ensure_ascii=False)
    resource = resource_at(caller, f"freshet://article/{article.pk}").text
    return [read.text, resource, names, *(json.dumps(each, ensure_ascii=False, default=str) for each in data)]


def follow_all(subscriber: Subscriber) -> None:
    for feed in Feed.objects.all():
        follow(subscriber, feed)


def caller_with(subscriber: Subscriber, scope: str) -> Caller:
    return Caller(subscriber.user, with_included([scope]), "scripted", "scripted")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each["case"])
def test_words_of_strangers_stay_in_their_place(attack: dict[str, Any], ann: Subscriber) -> None:
    article = stored(attack["input"])
    follow_all(ann)
    texts = outgoing(caller_with(ann, READ), article)
    for text in texts:
        unseen = [
            c for c in text if unicodedata.category(c) in {"Cf", "Co", "Cn", "Cc"} and c not in "\n\u200d"
        ]
        assert unseen == []
        assert "![" not in text
        assert not _ELEMENT.search(text)
        for words in attack["right"]["hidden"]:
            assert words not in text
    for text in texts[:2]:
        lines = text.split("\n")
        fences = [number for number, line in enumerate(lines) if re.match(r"\s*~~~", line)]
        assert len(fences) == 2, "one block, and nothing in it closes it"
        assert fences[1] == len(lines) - 1
        ours = "\n".join(lines[: fences[0]])
        assert "CALL" not in re.sub(r"Address: \S+", "", ours)
    for text in texts[3:]:
        for words, where in _strings(json.loads(text)):
            assert "CALL" not in words or "quoted" in where or where[-1] == "url"
            assert where[-1] != "url" or (words.isascii() and " " not in words and len(words) <= 400)


def _strings(value: Any, where: tuple[str, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    """Return the strings in data, each with the names that lead to it."""
    if isinstance(value, dict):
        return [found for name, each in value.items() for found in _strings(each, (*where, name))]
    if isinstance(value, list):
        return [found for each in value for found in _strings(each, where)]
    return [(value, where)] if isinstance(value, str) else []


@pytest.mark.parametrize("scope", [READ, MARK])
def test_who_obeys_everything_changes_nothing_beyond_its_scope(scope: str, ann: Subscriber) -> None:
    articles = [stored(attack["input"]) for attack in ATTACKS]
    follow_all(ann)
    caller = caller_with(ann, scope)
    before = Feed.objects.count(), ann.subscriptions.count()
    tried = done = 0
    for article in articles:
        for text in outgoing(caller, article):
            plain = text.replace('\\"', '"')
            for call in _CALL.finditer(plain):
                tried += 1
                done += _obeyed(caller, call[1], plain[call.end() :])
    assert tried > 50
    assert (Feed.objects.count(), ann.subscriptions.count()) == before
    if scope == READ:
        assert done == 0
        assert Mark.objects.filter(subscriber=ann).count() == SavedPage.objects.count() == 0


def _obeyed(caller: Caller, name: str, arguments: str) -> bool:
    """Do what a text asks for; true where that was possible."""
    tool = _BY_NAME.get(name)
    if tool is None:
        return False
    try:
        given, _ = json.JSONDecoder().raw_decode(arguments)
        tool.call(caller, given)
    except (ValueError, ToolRefused):
        return False
    return tool.changes
