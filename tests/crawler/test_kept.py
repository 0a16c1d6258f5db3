"""What is kept: on its page, in the API, by the command; and what nobody wants to lose."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from articles.models import Article
from articles.personal.marking import star
from crawler.operation.site import retention
from crawler.operation.site.retention_rules import RETENTIONS, kept
from feeds.models import Retrieval
from tests.factories import make_article, make_feed, make_subscriber, make_user

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)


@pytest.fixture
def old() -> Article:
    """An article and a visit of a hundred days ago, beside ones of today."""
    feed = make_feed()
    make_article(feed)
    Retrieval.objects.create(feed=feed, at=NOW, outcome="new")
    Retrieval.objects.create(feed=feed, at=NOW - timedelta(days=100), outcome="new")
    return make_article(feed, fetched=NOW - timedelta(days=100))


def deleted(days: int) -> dict[str, int]:
    return {row.name: row.deleted for row in kept(days, NOW)}


def test_rows_are_counted_and_none_is_deleted(old: Article) -> None:
    assert (deleted(99)["articles"], deleted(99)["retrievals"]) == (1, 1)
    assert (deleted(101)["articles"], deleted(101)["retrievals"]) == (0, 0)
    assert Article.objects.count() == Retrieval.objects.count() == 2


def test_many_are_said_to_be_more(old: Article, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.operation.site.retention_rules.MAX_COUNTED", 1)
    (row,) = [row for row in kept(1, NOW) if row.name == "retrievals"]
    assert row.is_more


def test_what_is_counted_is_what_goes(old: Article, settings: Any) -> None:
    for row in RETENTIONS:
        setattr(settings, row.setting, 50)
    counted = deleted(50)
    gone = retention.tidy(NOW)
    assert {
        name: gone[name] for name in ("articles", "retrievals", "checks", "changes", "versions", "shown")
    } == {name: count for name, count in counted.items() if name != "html"}
    assert gone["bodies"] == counted["html"]


def test_starred_and_labelled_articles_stay(old: Article, settings: Any) -> None:
    subscriber = make_subscriber("ann", old.feed)
    star(subscriber, [old.pk], NOW)
    settings.RETENTION_ARTICLES_DAYS = 50
    assert deleted(50)["articles"] == 0
    assert retention.tidy(NOW)["articles"] == 0
    subscriber.marks.update(starred=None, labels=["later"])
    assert retention.tidy(NOW)["articles"] == 0
    subscriber.marks.update(labels=[])
    assert retention.tidy(NOW)["articles"] == 1


def test_the_page_tells(client: Client, old: Article) -> None:
    assert client.get("/tools/kept/").status_code == 302
    client.force_login(make_user())
    page = client.get("/tools/kept/?days=99").content.decode()
    assert "99 days would delete" in page
    assert "RETENTION_ARTICLES_DAYS" in page
    assert "for ever" in page
    for days in ("0", "x", "-1", "99999999", "٣"):
        assert client.get("/tools/kept/", {"days": days}).status_code == 200


def test_the_api_tells(client: Client, old: Article) -> None:
    client.force_login(make_user())
    rows = client.get("/api/kept/?days=99").json()
    assert {row["name"]: row["deleted"] for row in rows}["articles"] == 1
    for days in ("0", "x", "99999999"):
        assert client.get("/api/kept/", {"days": days}).status_code == 400


def test_the_command_tells(old: Article) -> None:
    out = io.StringIO()
    call_command("retention", days=99, stdout=out)
    assert "99 days would delete 1 now" in out.getvalue()
    out = io.StringIO()
    call_command("retention", days=99, json=True, stdout=out)
    assert json.loads(out.getvalue())[0]["deleted"] == 1
    with pytest.raises(CommandError):
        call_command("retention", days=0)
