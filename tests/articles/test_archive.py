"""All that a subscriber owns as a file, and its way into another deployment."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from articles.interest.log import Kind, note
from articles.interest.stored import weights_of
from articles.models import Article, CarriedMark, Mark, Page, Subscriber
from articles.personal.archive import (
    ArchiveError,
    read_archive,
    settle_carried_marks,
    write_archive,
)
from articles.personal.following import subscriber_of
from articles.personal.marking import mark_read, star
from articles.personal.selection import create_personal_feed
from articles.personal.topics import follow_topic
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_subscriber, make_user

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)


@pytest.fixture
def mara() -> Subscriber:
    """A subscriber with something of every kind."""
    feeds = [make_feed(title=f"Feed {number}") for number in range(3)]
    subscriber = make_subscriber("mara", *feeds, folder="News/Local")
    articles = [make_article(feed, title=f"Of {feed.title}", url=f"{feed.url}/1") for feed in feeds]
    mark_read(subscriber, [articles[0].pk, articles[1].pk], NOW)
    star(subscriber, [articles[1].pk], NOW)
    note(subscriber, [articles[0].pk], Kind.OPENED, NOW)
    follow_topic(subscriber, "keyword", "rivers")
    create_personal_feed(subscriber, name="Short", include=["rivers"], body="summary")
    return subscriber


def archive_of(subscriber: Subscriber) -> bytes:
    out = io.BytesIO()
    write_archive(subscriber, out, NOW)
    return out.getvalue()


def test_everything_arrives_at_an_empty_deployment(mara: Subscriber) -> None:
    data = archive_of(mara)
    opened = weights_of(mara).beliefs
    urls = sorted(Feed.objects.values_list("url", flat=True))
    first = Article.objects.get(title="Of Feed 0")
    identity, address = first.identity, first.feed.url
    Article.objects.all().delete()
    Page.objects.all().delete()
    Feed.objects.all().delete()
    mara.user.delete()
    tom = subscriber_of(make_user("tom"))
    taken = read_archive(tom, data, NOW, makes_articles=True)
    assert sorted(Feed.objects.values_list("url", flat=True)) == urls
    assert set(tom.subscriptions.values_list("folder", flat=True)) == {"News/Local"}
    starred = Mark.objects.get(subscriber=tom, starred__isnull=False).article
    assert (starred.title, starred.page.status) == ("Of Feed 1", "waiting")
    assert (taken.feeds, taken.starred, taken.topics, taken.own_feeds) == (3, 1, 1, 1)
    assert tom.personal_feeds.get().include == ["rivers"]
    assert taken.waiting == 1
    assert "1 mark waits for its article." in taken.in_words()
    learned = weights_of(tom).beliefs
    assert len(learned) == len(opened)
    assert f"feed:{Feed.objects.get(url=address).pk}" in learned
    # What waits is given once the article arrives.
    arrived = make_article(Feed.objects.get(url=address), identity=identity)
    assert settle_carried_marks(NOW) == 1
    assert Mark.objects.get(subscriber=tom, article=arrived).read == NOW
    assert not CarriedMark.objects.exists()


def test_a_second_reading_changes_nothing(mara: Subscriber) -> None:
    data = archive_of(mara)
    before = [sorted(model.objects.values_list("pk", flat=True)) for model in (Feed, Article, Mark)]
    words = read_archive(mara, data, NOW, makes_articles=True).in_words()
    after = [sorted(model.objects.values_list("pk", flat=True)) for model in (Feed, Article, Mark)]
    assert before == after
    assert mara.personal_feeds.count() == mara.topics.count() == 1
    assert "feed" not in words


def test_marks_that_wait_too_long_are_dropped(mara: Subscriber) -> None:
    feed = Feed.objects.earliest("pk")
    CarriedMark.objects.create(subscriber=mara, feed=feed, identity_key="0" * 32, read=NOW)
    settle_carried_marks(NOW + timedelta(days=29))
    assert CarriedMark.objects.count() == 1
    settle_carried_marks(NOW + timedelta(days=31))
    assert CarriedMark.objects.count() == 0


def packed(**files: Any) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "-") + ".json", json.dumps(content))
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"", b"PK", b"<html>", packed(marks={"a": 1}), packed(marks=[{"feed_url": 1, "identity": "x"}]),
        packed(topics=[["keyword"]]), packed(interests={"version": 1, "learned": "x", "weights": {}}),
        packed(starred=[1]), packed(marks=[])[:-30],
    ],
)  # fmt: skip
def test_a_damaged_file_is_named(mara: Subscriber, data: bytes) -> None:
    with pytest.raises(ArchiveError):
        read_archive(mara, data, NOW, makes_articles=True)


def test_a_hostile_file_brings_nothing(mara: Subscriber) -> None:
    place = {"feed_url": "javascript:alert(1)", "identity": "x", "starred": NOW.isoformat()}
    far = {"feed_url": Feed.objects.earliest("pk").url, "identity": "y", "url": "javascript:alert(1)"}
    starred = [{"id": "1", "_freshet": place}, {"id": "2", "_freshet": far | {"starred": NOW.isoformat()}}]
    data = packed(
        starred={"items": starred},
        topics=[{"kind": "odd", "value": "x"}, {"kind": "keyword", "value": " "}],
        own__feeds=[{"name": " "}, {"name": "x", "order": "odd"}],
        interests={"version": 1, "learned": 5, "weights": {"odd": [1, 1, 1], "feed:9": [1, 1, 1]}},
    )
    read_archive(mara, data, NOW, makes_articles=True)
    assert not Article.objects.filter(url__startswith="javascript").exists()
    assert mara.topics.count() == mara.personal_feeds.count() == 1
    assert "odd" not in weights_of(mara).beliefs


def test_a_reader_makes_no_articles_of_others_feeds(mara: Subscriber) -> None:
    data = archive_of(mara)
    Article.objects.filter(title="Of Feed 1").delete()
    taken = read_archive(mara, data, NOW, makes_articles=False)
    assert not Article.objects.filter(title="Of Feed 1").exists()
    assert taken.waiting == 1


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00"]
)
def test_impossible_dates_become_now(mara: Subscriber, moment: str) -> None:
    article = Article.objects.get(title="Of Feed 2")
    mark = {"feed_url": article.feed.url, "identity": article.identity, "read": moment, "starred": moment}
    read_archive(mara, packed(marks=[mark]), NOW, makes_articles=True)
    stored = Mark.objects.get(subscriber=mara, article=article)
    assert (stored.read, stored.starred) == (NOW, NOW)


def test_odd_values_harm_only_themselves(mara: Subscriber) -> None:
    data = packed(
        own__feeds=[{"name": "a\0b", "include": ["x\0"]}],
        topics=[{"kind": "site", "value": "no host"}, {"kind": "keyword", "value": "sea\0"}],
        interests={"version": 1, "learned": 2**62, "weights": {}},
    )
    taken = read_archive(mara, data, NOW, makes_articles=True)
    assert (taken.own_feeds, taken.topics) == (1, 1)


def test_what_unpacks_to_too_much_is_refused(mara: Subscriber, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("articles.personal.archive.MAX_FILE_BYTES", {"marks.json": 1000})
    with pytest.raises(ArchiveError, match="larger"):
        read_archive(mara, packed(marks=[" " * 2000]), NOW, makes_articles=True)
    monkeypatch.setattr("articles.personal.archive.MAX_ARCHIVE_BYTES", 10)
    with pytest.raises(ArchiveError, match="larger"):
        read_archive(mara, packed(marks=[]), NOW, makes_articles=True)


def test_the_page_gives_the_file_and_takes_it(mara: Subscriber) -> None:
    client = Client()
    client.force_login(mara.user)
    answer = client.get("/me/account/export.zip")
    data = b"".join(answer.streaming_content)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("starred.json"))["items"][0]["title"] == "Of Feed 1"
    other = Client()
    other.force_login(make_user("tom"))
    page = other.post(
        "/me/account/import/", {"file": SimpleUploadedFile("freshet.zip", data)}, follow=True
    ).content.decode()
    assert "Taken over: 3 feeds, 1 star, 2 marks, 1 topic, 1 feed of your own." in page
    page = other.post("/me/account/import/", {"file": SimpleUploadedFile("x.zip", b"x")}, follow=True)
    assert "no ZIP archive" in page.content.decode()
    assert "no file was chosen" in other.post("/me/account/import/", follow=True).content.decode()


def test_commands_write_and_read_the_file(mara: Subscriber, tmp_path: Path) -> None:
    make_user("tom")
    call_command("export_account", "mara", tmp_path / "mara.zip", stdout=io.StringIO())
    call_command("import_account", "tom", tmp_path / "mara.zip", stdout=(out := io.StringIO()))
    assert "3 feeds" in out.getvalue()
    with pytest.raises(CommandError, match="nobody"):
        call_command("export_account", "ines", tmp_path / "x.zip")
    with pytest.raises(CommandError, match=r"x\.zip"):
        call_command("import_account", "tom", tmp_path / "x.zip")
