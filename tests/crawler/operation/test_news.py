"""What is new is told once after an upgrade, in one line, and listed on a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from crawler.accounts.models import Account
from crawler.operation.site import news
from crawler.operation.site.models import VersionStart
from crawler.operation.site.news import NEWS, newest_news, news_for, note_version
from tests.factories import make_feed, make_user

pytestmark = pytest.mark.django_db

LINE = "See what changed"
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def runs_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "version", lambda: NEWS[0].version)
    monkeypatch.setattr(news, "_read", {})


@pytest.fixture
def person() -> User:
    """Somebody who has been here for long."""
    return make_user("ada", date_joined=datetime.now(UTC) - 100 * DAY)


@pytest.fixture
def reader(client: Client, person: User) -> Client:
    make_feed()
    client.force_login(person)
    return client


def upgraded(ago: timedelta = DAY) -> None:
    note_version(datetime.now(UTC) - ago)


def line(client: Client) -> bool:
    return LINE in client.get("/read/").content.decode()


def test_news_are_short_and_their_links_lead_somewhere(reader: Client) -> None:
    for each in NEWS:
        assert 1 <= len(each.lines) <= 6
        for one in each.lines:
            needed = 404 if one.needs_model else 200
            assert reader.get(one.address, follow=True).status_code == needed
            assert "!" not in str(one.sentence)
    versions = [news._numbers(each.version) for each in NEWS]
    assert versions == sorted(versions, reverse=True)


def test_the_page_lists_them_and_ends_the_line(reader: Client, person: User) -> None:
    upgraded()
    assert line(reader)
    html = reader.get("/new/").content.decode()
    assert f"Freshet {NEWS[0].version}" in html
    assert str(NEWS[0].lines[0].sentence) in html
    assert Account.objects.get(user=person).news_seen == NEWS[0].version
    assert not line(reader)


def test_questions_are_news_where_a_model_answers_them(reader: Client, settings: Any) -> None:
    assert "Ask a question" not in reader.get("/new/").content.decode()
    settings.MODEL_URL = "http://127.0.0.1:1/v1"
    assert "Ask a question" in reader.get("/new/").content.decode()


def test_the_line_can_be_put_away(reader: Client) -> None:
    upgraded()
    part = reader.post("/new/seen/", headers={"HX-Request": "true"})
    assert (part.status_code, part.content) == (200, b"")
    assert not line(reader)
    assert reader.post("/new/seen/", {"next": "/read/?show=all"})["Location"] == "/read/?show=all"
    assert reader.post("/new/seen/", {"next": "https://evil.example/"})["Location"] == "/read/"


def test_it_names_the_day_of_the_upgrade(person: User) -> None:
    upgraded(timedelta())
    start = VersionStart.objects.get()
    start.since = datetime(2026, 11, 25, 12, tzinfo=UTC)
    start.save()
    told = {days: news_for(person, start.since + days * DAY, UTC) for days in (0, 1, 3, 9)}
    beginnings = {days: offer.sentence.partition(":")[0] for days, offer in told.items() if offer}
    assert beginnings == {
        0: "Freshet is new since today",
        1: "Freshet is new since yesterday",
        3: "Freshet is new since Wednesday",
        9: "Freshet has something new",
    }
    assert news_for(person, start.since + 15 * DAY, UTC) is None


def test_who_comes_after_the_upgrade_is_told_nothing(reader: Client) -> None:
    upgraded()
    reader.force_login(make_user())
    assert not line(reader)


def test_a_first_installation_has_no_news(client: Client) -> None:
    now = datetime.now(UTC)
    admin = make_user("admin", date_joined=now - timedelta(minutes=2))
    note_version(now)
    assert VersionStart.objects.get().is_first
    assert news_for(admin, now + DAY, UTC) is None


def test_the_upgrade_after_a_first_installation_is_told_of(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    VersionStart.objects.create(version="0.9.0", since=datetime.now(UTC) - 90 * DAY, is_first=True)
    upgraded()
    assert not VersionStart.objects.get(version=NEWS[0].version).is_first
    assert line(reader)


def test_a_version_is_noted_once(person: User) -> None:
    upgraded()
    since = VersionStart.objects.get().since
    news.forget()
    note_version(datetime.now(UTC))
    with CaptureQueriesContext(connection) as queries:
        note_version(datetime.now(UTC))
    assert VersionStart.objects.get().since == since
    assert len(queries) == 0


@pytest.mark.parametrize(
    ("running", "told"),
    [("0.1.0", None), ("1.0.0.dev7", "1.0.0"), ("1.0.3", "1.0.0"), ("2.1", "1.0.0"), ("x", None)],
)
def test_news_are_those_of_the_release_that_runs(
    monkeypatch: pytest.MonkeyPatch, running: str, told: str | None
) -> None:
    monkeypatch.setattr(news, "version", lambda: running)
    found = newest_news()
    assert (found.version if found else None) == told


def test_read_asks_one_query_more_while_there_is_news_and_none_without(
    reader: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgraded()
    now = datetime.now(UTC)
    news_for(person, now, UTC)
    with CaptureQueriesContext(connection) as queries:
        assert news_for(person, now, UTC)
    assert len(queries) == 1
    monkeypatch.setattr(news, "version", lambda: "0.1.0")
    with CaptureQueriesContext(connection) as queries:
        assert news_for(person, now, UTC) is None
    assert len(queries) == 0


def test_a_demonstration_tells_of_none(person: User, settings: Any) -> None:
    upgraded()
    settings.DEMO = True
    assert news_for(person, datetime.now(UTC), UTC) is None
