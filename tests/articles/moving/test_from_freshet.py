"""Moving in from another Freshet: what its own interfaces hand out comes whole."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from articles.greader.access import create_app_password
from articles.models import Mark
from articles.moving import http
from articles.moving.values import ForeignAccount, MovedFeed
from articles.personal.following import follow
from articles.personal.marking import mark_read, star
from tests.articles.moving.test_accounts import all_of
from tests.factories import make_article, make_feed, make_subscriber

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(http, "SPACING", 0.0)
    subscriber = make_subscriber("ann")
    feed = make_feed("https://news.example/feed", title="News")
    follow(subscriber, feed, folder="Water/Rivers")
    articles = [
        make_article(
            feed,
            title=f"Flood & {n}",
            url=f"https://news.example/{n}",
            content=f"<p>Water rose {n}.</p>",
            text=f"Water rose {n}.",
            published=NOW,
        )
        for n in range(12)
    ]
    mark_read(subscriber, [articles[0].pk], NOW)
    star(subscriber, [articles[1].pk], NOW)
    Mark.objects.update_or_create(subscriber=subscriber, article=articles[2], defaults={"labels": ["later"]})
    return subscriber


def test_by_google_reader_s_interface(ann: Any, live_server: Any) -> None:
    feeds, items = all_of(ForeignAccount("greader", live_server.url, "ann", "water", items=10))
    assert feeds == [MovedFeed("https://news.example/feed", "News", "Water/Rivers")]
    assert items[0].url == "https://news.example/1" and items[0].starred == 0.0
    assert items[1].url == "https://news.example/2" and items[1].labels == ("later",)
    rest = {item.url: item for item in items[2:]}
    assert len(rest) == 12
    assert {url for url, item in rest.items() if item.read} == {"https://news.example/0"}
    assert {url for url, item in rest.items() if item.labels} == {"https://news.example/2"}
    item = rest["https://news.example/0"]
    assert (item.title, item.content, item.published) == (
        "Flood & 0",
        "<p>Water rose 0.</p>",
        NOW.timestamp(),
    )
    assert item.feed_url == "https://news.example/feed"


def test_by_the_fever_interface(ann: Any, live_server: Any) -> None:
    password = create_app_password(ann, "another Freshet")
    feeds, items = all_of(ForeignAccount("fever", live_server.url, "ann", password))
    assert feeds == [MovedFeed("https://news.example/feed", "News", "Water/Rivers")]
    assert items[0].url == "https://news.example/1" and items[0].starred == 0.0
    assert [item.url for item in items[1:]] == [f"https://news.example/{n}" for n in range(12)]
    assert [item.read for item in items[1:3]] == [True, False]
    assert (items[1].title, items[1].content) == ("Flood & 0", "<p>Water rose 0.</p>")
