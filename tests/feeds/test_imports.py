"""Lists of feeds: refused beyond a limit before anything is stored, added in the background where long."""

from __future__ import annotations

import io
import resource
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from articles.personal.following import follow, subscriber_of
from crawler.web.limits import LimitReached
from crawler.web.roles import EDITOR, OPERATOR, give_role
from feeds.adding import imports
from feeds.adding.add import add_feed
from feeds.adding.imports import go_on, progress_of, start_import, unfinished
from feeds.adding.opml import Outline, outlines_in
from feeds.models import Category, Feed, FeedImport, ImportLine
from tests.factories import make_feed, make_user

pytestmark = pytest.mark.django_db


def opml(number: int) -> bytes:
    rows = b"".join(b'<outline xmlUrl="https://%d.a.b/"/>\n' % key for key in range(number))
    return b"<opml><body>" + rows + b"</body></opml>"


@pytest.mark.parametrize(
    ("address", "field"), [("/me/following/opml/import/", "file"), ("/add/", "opml"), ("/feeds/add/", "opml")]
)
def test_a_list_of_19_mb_is_refused_at_once_in_words(
    client: Client, settings: Any, address: str, field: str
) -> None:
    settings.LIMIT_FEEDS = 5000
    user = make_user("mara")
    give_role(user, EDITOR)
    client.force_login(user)
    file = SimpleUploadedFile("a.opml", opml(500_000))
    assert 16_000_000 < (file.size or 0) < 20_000_000
    began, before = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = client.post(address, {field: file, "follow": "on"})
    assert answer.status_code == 403
    assert "more than the 5000 feeds that one person may have here" in answer.content.decode()
    assert process_time() - began < 5
    # The client of tests holds the request a few times over.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
    assert not Feed.objects.exists() and not FeedImport.objects.exists()


def test_a_long_list_is_read_without_a_tree() -> None:
    code = (
        "import io, resource; from feeds.adding.opml import outlines_in\n"
        "rows = b''.join(b'<outline xmlUrl=\"https://%d.a.b/\"/>' % key for key in range(500_000))\n"
        "data = io.BytesIO(b'<opml><body>' + rows + b'</body></opml>'); del rows\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in outlines_in(data))\n"
        "print(count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    setup = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'crawler.settings'; django.setup()\n"
    done = subprocess.run([sys.executable, "-c", setup + code], capture_output=True, text=True, check=True)
    count, megabytes = map(int, done.stdout.split())
    assert count == 500_000
    assert megabytes < 50


def test_only_the_feeds_that_are_not_followed_yet_need_room(settings: Any) -> None:
    settings.LIMIT_FEEDS = 3
    user = make_user()
    for number in range(3):
        feed = add_feed(f"https://{number}.a.example/").feed
        assert feed is not None
        follow(subscriber_of(user), feed)
    start_import(user, [Outline(f"https://{number}.a.example") for number in range(3)])
    before = FeedImport.objects.count()
    with pytest.raises(LimitReached, match="4 feeds, and one person may have 3"):
        start_import(user, [Outline("https://0.a.example"), Outline("https://new.example/")])
    assert FeedImport.objects.count() == before
    assert not Feed.objects.filter(url__contains="new.example").exists()


def test_a_long_list_is_added_in_parts_in_the_background(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any, client: Client
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", 4)
    monkeypatch.setattr(imports, "_PART", 3)
    sent: list[int] = []
    monkeypatch.setattr(imports, "_send", sent.append)
    user = make_user("mara", staff=True)
    known = make_feed("https://1.a.example/")
    with django_capture_on_commit_callbacks(execute=True):
        made = start_import(user, [Outline(f"https://{n}.a.example/", folder=("A/B", "C")) for n in range(8)])
    assert sent == [made.pk]
    assert Feed.objects.count() == 1
    progress = progress_of(made)
    assert (progress.total, progress.open) == (8, 8)
    client.force_login(user)
    assert "<b>0 of 8</b> are read" in client.get(made.get_absolute_url()).content.decode()
    assert unfinished(datetime.now(UTC) + timedelta(minutes=6)) == [made.pk]
    assert not go_on(made.pk)
    assert unfinished(datetime.now(UTC) + timedelta(minutes=6)) == []
    assert (progress_of(made).known, Feed.objects.count()) == (1, 8)
    assert {feed.category.path for feed in Feed.objects.exclude(pk=known.pk)} == {("A/B", "C")}
    assert {*subscriber_of(user).subscriptions.values_list("folder", flat=True)} == {"A/B/C"}


def test_a_part_beyond_the_limit_by_then_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", 1)
    settings.LIMIT_FEEDS = 3
    user = make_user()
    made = start_import(user, [Outline(f"https://{number}.a.example/") for number in range(3)])
    follow(subscriber_of(user), make_feed())
    assert not go_on(made.pk)
    assert progress_of(made).refused == 3
    assert "one person may have 3" in ImportLine.objects.first().message
    assert Feed.objects.count() == 1


def test_a_readers_long_list_leads_to_its_progress_and_makes_no_folders(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", 2)
    monkeypatch.setattr("articles.personal.views.AT_ONCE", 2)
    client.force_login(user := make_user("mara"))
    list_file = b'<opml><body><outline text="F">' + opml(3)[12:-14] + b"</outline></body></opml>"
    answer = client.post("/me/following/opml/import/", {"file": SimpleUploadedFile("a.opml", list_file)})
    made = FeedImport.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, made.get_absolute_url())
    go_on(made.pk)
    ImportLine.objects.filter(text__contains="0.a").update(
        outcome="refused", message="not a valid URL", feed=None
    )
    page = client.get(made.get_absolute_url()).content.decode()
    assert "Not a valid URL" in page and "Use this address" not in page
    assert [*subscriber_of(user).subscriptions.values_list("folder", flat=True)] == ["F"] * 3
    assert not Category.objects.exists()
    client.force_login(make_user("tom"))
    assert client.get(made.get_absolute_url()).status_code == 404


def test_the_api_says_how_many_feeds_it_adds_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feeds.adding.opml.MAX_AT_ONCE", 2)
    user = make_user("mara")
    give_role(user, OPERATOR)
    client.force_login(user)
    answer = client.post("/api/feeds/import-opml/", opml(3), content_type="text/x-opml")
    assert answer.status_code == 400
    assert "more than 2 feeds" in answer.content.decode()
    assert not Feed.objects.exists()


def test_two_spellings_in_one_list_are_one_feed() -> None:
    spellings = [
        "https://a.example/feed", "http://a.example/feed", "https://A.example:443/feed/",
        "feed:https://a.example/feed#top", "feed://a.example/feed",
    ]  # fmt: skip
    made = start_import(make_user(), [Outline(text) for text in spellings])
    assert [feed.url for feed in Feed.objects.all()] == ["https://a.example/feed"]
    assert made.lines.count() == 1


def test_a_known_feed_is_followed_in_the_folder_of_the_list_and_the_page_says_so(client: Client) -> None:
    feed = add_feed("https://a.example/feed").feed
    client.force_login(user := make_user("mara", staff=True))
    rows = [Outline("https://a.example/feed", folder=("News",))]
    made = start_import(user, [*rows, *(Outline(f"https://{number}.b.example/") for number in range(51))])
    subscription = subscriber_of(user).subscriptions.get(feed=feed)
    assert subscription.folder == "News"
    page = client.get(made.get_absolute_url()).content.decode()
    assert "1 was known already, and you follow it" in page and "nothing was changed" not in page


def test_reading_stops_where_the_caller_does() -> None:
    file = io.BytesIO(opml(100_000))
    next(outlines_in(file))
    assert file.tell() < 200_000
