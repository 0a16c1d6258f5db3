"""The Fever API: what its clients send (Reeder, ReadKit, FeedMe, Fluent Reader, by their public sources)."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from articles.greader.access import create_app_password
from articles.models import Mark, Subscriber
from tests.factories import make_article, make_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)


class Fever:
    """A client of the API."""

    def __init__(self, subscriber: Subscriber, password: str) -> None:
        text = f"{subscriber.user.username}:{password}"
        self.key = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        self.client = Client(enforce_csrf_checks=True)

    def ask(self, query: str = "", **form: Any) -> dict[str, Any]:
        answer = self.client.post(f"/fever/?api&{query}", {"api_key": self.key, **form})
        assert answer.status_code == 200
        values: dict[str, Any] = answer.json()
        return values


@pytest.fixture
def ann() -> Subscriber:
    return make_subscriber("ann", make_feed(title="Courier"), folder="News")


@pytest.fixture
def app(ann: Subscriber) -> Fever:
    return Fever(ann, create_app_password(ann, "phone"))


def articles(ann: Subscriber, number: int) -> list[int]:
    feed = ann.subscriptions.get().feed
    rows = [
        make_article(feed, title=f"News {n}", published=NOW, fetched=NOW - timedelta(minutes=n))
        for n in range(number)
    ]
    return [row.pk for row in rows]


def test_only_the_right_key_gets_in(ann: Subscriber, app: Fever) -> None:
    assert app.ask()["auth"] == 1
    assert app.client.get("/fever/?api").json() == {"api_version": 3, "auth": 0}
    for key in ("", "0" * 32, "x" * 9000, app.key[:-1]):
        assert app.client.post("/api/fever.php?api&items", {"api_key": key}).json() == {
            "api_version": 3,
            "auth": 0,
        }
    assert app.client.post("/api/fever.php?api", {"api_key": app.key.upper()}).json()["auth"] == 1
    ann.app_passwords.all().delete()
    assert app.ask()["auth"] == 0


def test_the_first_synchronisation(ann: Subscriber, app: Fever) -> None:
    keys = articles(ann, 60)
    make_article(make_feed(), title="Not followed")
    feed = ann.subscriptions.get().feed
    answer = app.ask("groups&feeds&favicons&links")
    (group,) = answer["groups"]
    assert answer["feeds_groups"] == [{"group_id": group["id"], "feed_ids": str(feed.pk)}]
    assert group["title"] == "News"
    assert [(row["id"], row["title"], row["url"]) for row in answer["feeds"]] == [
        (feed.pk, "Courier", feed.url)
    ]
    assert answer["favicons"][0]["data"].startswith("image/")
    first = app.ask("items&since_id=0")
    assert [item["id"] for item in first["items"]] == keys[:50]
    assert first["total_items"] == 60
    rest = app.ask(f"items&since_id={keys[49]}")
    assert [item["id"] for item in rest["items"]] == keys[50:]
    assert [item["id"] for item in app.ask("items&max_id=0")["items"]] == keys[:9:-1]
    chosen = app.ask(f"items&with_ids={keys[3]},{keys[1]},x,999999999999")["items"]
    assert [item["id"] for item in chosen] == [keys[1], keys[3]]
    assert set(app.ask("unread_item_ids")["unread_item_ids"].split(",")) == set(map(str, keys))
    assert app.ask("saved_item_ids")["saved_item_ids"] == ""


def test_marks_of_items(ann: Subscriber, app: Fever) -> None:
    one, two = articles(ann, 2)
    assert app.ask(mark="item", **{"as": "read", "id": one})["unread_item_ids"] == str(two)
    assert app.ask(mark="item", **{"as": "saved", "id": two})["saved_item_ids"] == str(two)
    items = {item["id"]: item for item in app.ask("items")["items"]}
    assert (items[one]["is_read"], items[two]["is_saved"]) == (1, 1)
    app.ask(mark="item", **{"as": "unread", "id": one})
    app.ask(mark="item", **{"as": "unsaved", "id": two})
    assert not Mark.objects.filter(subscriber=ann).exclude(read=None, starred=None).exists()


def test_marks_of_feeds_and_groups_keep_what_came_later(ann: Subscriber, app: Fever) -> None:
    newest, _ = articles(ann, 2)
    feed, group = ann.subscriptions.get().feed_id, app.ask("groups")["groups"][0]["id"]
    before = int((NOW - timedelta(seconds=30)).timestamp())
    app.ask(mark="feed", **{"as": "read", "id": feed, "before": before})
    assert app.ask("unread_item_ids")["unread_item_ids"] == str(newest)
    app.ask(mark="group", **{"as": "read", "id": group, "before": int(NOW.timestamp()) + 5})
    assert app.ask("unread_item_ids")["unread_item_ids"] == ""


def test_milliseconds_are_a_time_too(ann: Subscriber, app: Fever) -> None:
    newest, _ = articles(ann, 2)
    before = int((NOW - timedelta(seconds=30)).timestamp() * 1000)
    app.ask(mark="group", **{"as": "read", "id": 0, "before": before})
    assert app.ask("unread_item_ids")["unread_item_ids"] == str(newest)


@pytest.mark.parametrize(
    "form",
    [
        {"mark": "item", "as": "read", "id": "x"}, {"mark": "item", "as": "odd", "id": "1"},
        {"mark": "feed", "as": "read", "id": "9" * 18, "before": "9" * 40},
        {"mark": "group", "as": "read", "id": "-1"}, {"mark": "group", "as": "read", "id": "--"},
        {"mark": "all", "as": "read", "id": "0"},
    ],
)  # fmt: skip
def test_odd_marks_change_nothing(ann: Subscriber, app: Fever, form: dict[str, str]) -> None:
    articles(ann, 1)
    assert app.ask(**form)["auth"] == 1
    assert not Mark.objects.exists()


def test_nobody_marks_the_articles_of_others(ann: Subscriber, app: Fever) -> None:
    other = make_article(make_feed(), title="Not followed")
    app.ask(mark="item", **{"as": "saved", "id": other.pk})
    assert not Mark.objects.exists()
