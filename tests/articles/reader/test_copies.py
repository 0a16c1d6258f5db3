"""An article that several followed feeds have is one: in the page, the API, Google Reader and Fever alike.

Issue 56: "All read." beside "94 unread". The copies behind "+1 feed" stayed unread, and no list showed them.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from articles.enrichment.enrich import enrich
from articles.enrichment.models import Enrichment, Story
from articles.greader.access import create_app_password
from articles.interest.log import Kind, note
from articles.models import Article, Mark, Subscriber
from articles.personal.marking import mark_all_read, mark_read, star
from articles.reader.counts import unread_counts
from articles.reader.lists import ReadingList
from tests.factories import make_article, make_feed, make_subscriber, make_token

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
NOW = datetime.now(UTC)


@pytest.fixture
def reader() -> Subscriber:
    """A subscriber of two feeds in two folders, and of one beside them."""
    subscriber = make_subscriber("mara", make_feed(title="Courier"), folder="News/Local")
    subscriber.subscriptions.create(feed=make_feed(title="Gazette"), folder="Other")
    subscriber.subscriptions.create(feed=make_feed(title="Diary"))
    return subscriber


@pytest.fixture
def visitor(client: Client, reader: Subscriber) -> Client:
    client.force_login(reader.user)
    return client


def article_in(reader: Subscriber, title: str) -> Article:
    return make_article(reader.subscriptions.get(feed__title=title).feed, title=f"Flood in the {title}")


def put_in_story(*articles: Article) -> None:
    story = Story.objects.create()
    for article in articles:
        Enrichment.objects.update_or_create(article=article, defaults={"story": story})


@pytest.fixture
def copies(reader: Subscriber) -> list[Article]:
    """One article in two followed feeds and in a feed of somebody else."""
    rows = [article_in(reader, "Courier"), article_in(reader, "Gazette"), make_article(title="Elsewhere")]
    put_in_story(*rows)
    return rows


def read_by(subscriber: Subscriber) -> set[int]:
    return set(subscriber.marks.filter(read__isnull=False).values_list("article", flat=True))


def agree(reader: Subscriber) -> int:
    """Return the unread articles, which counts and lists tell alike."""
    counts = unread_counts(reader)

    def listed(**of: Any) -> int:
        return ReadingList(**of).articles(reader).count()

    assert counts.total == listed()
    for feed in counts.feeds:
        assert feed.unread == listed(feed=feed.feed) == counts.unread_of(feed.feed, "")
    for folder in counts.folders:
        assert folder.unread == listed(folder=folder.name) == counts.unread_of(None, folder.name)
    return counts.total


def test_counts_and_lists_agree(reader: Subscriber, copies: list[Article]) -> None:
    article_in(reader, "Diary")
    assert agree(reader) == 2
    note(reader, [copies[0].pk], Kind.HIDDEN, NOW)
    assert agree(reader) == 1
    mark_read(reader, [copies[1].pk], NOW)
    assert agree(reader) == 1


def test_counts_and_lists_agree_on_what_was_read_before_copies_were(
    reader: Subscriber, copies: list[Article]
) -> None:
    Mark.objects.create(subscriber=reader, article=copies[0], read=NOW)
    assert agree(reader) == 0


def test_topics_have_no_copies_of_what_is_followed(reader: Subscriber, copies: list[Article]) -> None:
    reader.topics.create(kind="keyword", value="Elsewhere")
    assert agree(reader) == 1


@pytest.mark.parametrize("opened", [0, 1])
def test_reading_a_copy_reads_it_everywhere(
    visitor: Client, reader: Subscriber, copies: list[Article], opened: int
) -> None:
    article = copies[opened]
    answer = visitor.get(f"/read/{article.pk}/?feed={article.feed_id}", headers=HTMX)
    first, second, elsewhere = copies
    assert json.loads(answer["HX-Trigger-After-Settle"])["freshet:unread"] == {
        "feeds": {str(first.feed_id): 0, str(second.feed_id): 0},
        "folders": {"News": 0, "News/Local": 0, "Other": 0},
        "topics": 0,
        "total": 0,
        "list": 0,
    }
    assert read_by(reader) == {first.pk, second.pk}
    assert "All read." in visitor.get("/read/").content.decode()
    assert agree(reader) == 0
    visitor.post(f"/read/{first.pk}/unread/")
    assert read_by(reader) == set()
    assert agree(reader) == 1
    assert elsewhere.pk not in set(reader.marks.values_list("article", flat=True))


def test_all_are_marked_and_undone_as_one(visitor: Client, reader: Subscriber, copies: list[Article]) -> None:
    diary, before = article_in(reader, "Diary"), article_in(reader, "Gazette")
    mark_read(reader, [before.pk], NOW - timedelta(days=1))
    put_in_story(diary, before)
    marked = visitor.post("/read/mark/", headers=HTMX)
    assert "2 articles marked as read." in marked.content.decode()
    assert agree(reader) == 0
    undone = visitor.post("/read/undo/", {"token": marked.context["toast"]["token"]}, headers=HTMX)
    assert "2 articles unread again." in undone.content.decode()
    assert read_by(reader) == {before.pk}  # which was read before


def test_a_star_stays_with_its_article(reader: Subscriber, copies: list[Article]) -> None:
    star(reader, [copies[0].pk], NOW)
    assert list(ReadingList(show="starred").articles(reader)) == [copies[0]]


def test_somebody_else_reads_for_themselves(reader: Subscriber, copies: list[Article]) -> None:
    other = make_subscriber("eve", copies[1].feed)
    mark_read(reader, [copies[0].pk], NOW)
    assert read_by(other) == set()


def test_a_copy_that_comes_later_is_read(reader: Subscriber) -> None:
    words = " ".join(
        f"The river rose by {number} metres in the night, says the warden." for number in range(60)
    )
    other = make_subscriber("eve", reader.subscriptions.get(feed__title="Gazette").feed)
    rows = []
    for title in ("Courier", "Gazette"):
        feed = reader.subscriptions.get(feed__title=title).feed
        rows.append(make_article(feed, title="Flood on the river", text=words, language="en"))
        enrich(NOW)
        mark_read(reader, [rows[0].pk], NOW)
    assert Enrichment.objects.filter(story__isnull=False).count() == 2
    assert read_by(reader) == {row.pk for row in rows}
    assert read_by(other) == set()


def test_the_api_marks_and_counts_copies(reader: Subscriber, client: Client, copies: list[Article]) -> None:
    own = {"Authorization": make_token(reader.user)}
    first, second, _ = copies
    counts = client.get("/api/unread/", headers=own).json()
    assert counts["total"] == 1
    assert counts["feeds"][str(first.feed_id)] == counts["feeds"][str(second.feed_id)] == 1

    def patch(article: Article, *, read: bool) -> None:
        path = f"/api/articles/{article.pk}/marks/"
        client.patch(path, {"read": read}, "application/json", headers=own)

    patch(second, read=True)
    assert read_by(reader) == {first.pk, second.pk}
    patch(first, read=False)
    assert read_by(reader) == set()


def test_reader_apps_mark_copies(reader: Subscriber, copies: list[Article]) -> None:
    password, state = create_app_password(reader, "phone"), "user/-/state/com.google/"
    client, first, second = Client(), copies[0].pk, copies[1].pk
    answer = client.post("/accounts/ClientLogin", {"Email": "mara", "Passwd": password}).content.decode()
    headers = {"Authorization": f"GoogleLogin auth={re.findall('Auth=(.+)', answer)[0]}"}

    def post(path: str, **form: Any) -> None:
        assert client.post(f"/reader/api/0/{path}", form, headers=headers).content == b"OK"

    post("edit-tag", i=str(second), a=f"{state}read")
    assert read_by(reader) == {first, second}
    post("edit-tag", i=str(first), r=f"{state}read")
    assert read_by(reader) == set()
    post("mark-all-as-read", s=f"feed/{copies[1].feed_id}")
    assert read_by(reader) == {first, second}


def test_fever_apps_mark_copies(reader: Subscriber, copies: list[Article]) -> None:
    text = f"mara:{create_app_password(reader, 'phone')}"
    key = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

    def unread(**form: Any) -> str:
        answer = Client().post("/fever/?api&unread_item_ids", {"api_key": key, **form}).json()
        return str(answer["unread_item_ids"])

    both = f"{copies[1].pk},{copies[0].pk}"
    assert unread() == both
    assert unread(mark="item", id=copies[1].pk, **{"as": "read"}) == ""
    assert unread(mark="item", id=copies[0].pk, **{"as": "unread"}) == both
    assert unread(mark="feed", id=copies[0].feed_id, **{"as": "read"}) == ""


def test_marking_takes_one_statement(
    reader: Subscriber, copies: list[Article], django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        mark_read(reader, [copies[0].pk], NOW)
    with django_assert_num_queries(1):
        mark_read(reader, [copies[0].pk], NOW, read=False)
    with django_assert_num_queries(4):  # topics, keys, marks, no more keys
        assert mark_all_read(reader, ReadingList().articles(reader), NOW) == 1
