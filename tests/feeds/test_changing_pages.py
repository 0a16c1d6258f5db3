"""Adding feeds by form, following their first visits, and actions on feeds; staff only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from crawler.engine.models import Pulse
from feeds.categories import category_at
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db

OPML = b"""<?xml version="1.0"?><opml version="2.0"><head/><body><outline text="News">
<outline text="One" xmlUrl="https://one.example/rss"/><outline text="Two" xmlUrl="https://two.example/rss"/>
</outline></body></opml>"""


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user())
    return client


@pytest.fixture
def keeper(client: Client) -> Client:
    client.force_login(make_user("keeper", staff=True))
    return client


@pytest.mark.parametrize("path", ["/feeds/add/", "/feeds/actions/"])
def test_people_who_are_not_staff_change_nothing(reader: Client, path: str) -> None:
    feed = make_feed()
    values = {"action": "pause", "feed": feed.id, "addresses": "https://new.example/rss"}
    assert reader.post(path, values).status_code == 403
    assert "only staff" in reader.post(path, values).content.decode()
    assert Feed.objects.get().status == "active"
    assert "Pick all feeds" not in reader.get("/feeds/").content.decode()


def test_picked_feeds_are_paused_and_resumed(keeper: Client) -> None:
    picked, other = [make_feed(), make_feed()], make_feed()
    values = {"action": "pause", "feed": [feed.id for feed in picked], "next": "/feeds/?phase=training"}
    answer = keeper.post("/feeds/actions/", values)
    assert answer["Location"] == "/feeds/?phase=training"
    assert set(Feed.objects.filter(status="paused")) == set(picked)
    keeper.post("/feeds/actions/", {"action": "resume", "feed": [picked[0].id]})
    assert set(Feed.objects.active()) == {picked[0], other}


def test_retrieve_now_selects_a_feed_and_names_who_asked(keeper: Client) -> None:
    feed = make_feed(not_before=datetime.now(UTC) + timedelta(hours=2))
    answer = keeper.post("/feeds/actions/", {"action": "retrieve", "feed": feed.id}, follow=True)
    feed.refresh_from_db()
    assert feed.selected_because == "asked for by keeper"
    assert "1 feed to be checked now." in answer.content.decode()


def test_feeds_that_cannot_be_retrieved_now_are_counted(keeper: Client) -> None:
    feed = make_feed(status="paused")
    answer = keeper.post("/feeds/actions/", {"action": "retrieve", "feed": feed.id}, follow=True)
    assert "0 feeds to be checked now. 1 feed not: paused" in answer.content.decode()


def test_feeds_move_to_a_category_and_out_of_it(keeper: Client) -> None:
    feed, target = make_feed(), category_at(("Science",))
    assert target is not None
    keeper.post("/feeds/actions/", {"action": "move", "feed": feed.id, "category": target.pk})
    assert Feed.objects.get().category == target
    keeper.post("/feeds/actions/", {"action": "move", "feed": feed.id, "category": ""})
    assert Feed.objects.get().category is None


@pytest.mark.parametrize(
    "values",
    [
        {"action": "pause"},
        {"action": "delete", "feed": "1"},
        {"action": "pause", "feed": "9" * 400},
        {"feed": "x"},
    ],
)
def test_an_action_that_makes_no_sense_changes_nothing_and_says_so(
    keeper: Client, values: dict[str, str]
) -> None:
    make_feed()
    answer = keeper.post("/feeds/actions/", values, follow=True)
    assert "Nothing was changed" in answer.content.decode()
    assert Feed.objects.active().count() == 1


def test_an_action_never_leads_to_another_site(keeper: Client) -> None:
    values = {"action": "pause", "feed": make_feed().id, "next": "https://evil.example/"}
    assert keeper.post("/feeds/actions/", values)["Location"] == "/feeds/"


def test_every_pasted_address_is_listed_with_its_outcome(keeper: Client) -> None:
    known = make_feed("https://known.example/rss", title="Known")
    lines = "https://new.example/rss\n\n  known.example/rss \nftp://old.example/\nhttp://127.0.0.1/"
    html = keeper.post("/feeds/add/", {"addresses": lines, "category": "News / Tech"}).content.decode()
    assert "1 added, 1 known already, 2 refused" in html
    assert known.get_absolute_url() in html and "ftp://old.example/" in html
    new = Feed.objects.get(url="https://new.example/rss")
    assert new.category is not None and new.category.path == ("News", "Tech")
    assert f'hx-get="/feeds/added/?ids={new.id}"' in html


def test_an_opml_file_adds_its_feeds_in_their_folders(keeper: Client) -> None:
    file = SimpleUploadedFile("feeds.opml", OPML)
    html = keeper.post("/feeds/add/", {"opml": file}).content.decode()
    assert "2 added" in html
    assert {str(feed.category) for feed in Feed.objects.all()} == {"News"}


def test_of_many_feeds_a_count_is_followed(keeper: Client) -> None:
    lines = "\n".join(f"https://site{i}.example/rss" for i in range(60))
    html = keeper.post("/feeds/add/", {"addresses": lines}).content.decode()
    assert "0 of 60 read, 0 failed, 60 to come" in html
    assert 'hx-get="/feeds/added/?since=' in html


@pytest.mark.parametrize("content", [b"<opml><body><outline", b"GIF89a", b"<opml><body/></opml>"])
def test_a_broken_opml_file_is_refused_and_nothing_is_stored(keeper: Client, content: bytes) -> None:
    answer = keeper.post(
        "/feeds/add/", {"opml": SimpleUploadedFile("x.opml", content), "addresses": "a.example"}
    )
    assert answer.status_code == 422
    assert "Nothing was added: " in answer.content.decode()
    assert not Feed.objects.exists()


def test_an_empty_form_says_what_to_give(keeper: Client) -> None:
    assert "Give at least one address" in keeper.post("/feeds/add/", {}).content.decode()


def followed(client: Client, feed: Feed) -> str:
    return client.get(f"/feeds/added/?ids={feed.id}").content.decode()


def test_a_first_visit_is_followed_until_it_has_brought_articles(keeper: Client) -> None:
    feed = make_feed(selected_at=datetime.now(UTC))
    assert "every 2s" in followed(keeper, feed) and "reading" in followed(keeper, feed)
    feed.last_success, feed.selected_at, feed.title, feed.format = (
        datetime.now(UTC),
        None,
        "The Title",
        "RSS 2.0",
    )
    feed.save()
    make_article(feed)
    html = " ".join(followed(keeper, feed).split())
    assert "1 article from" in html and "The Title</a> (RSS 2.0)" in html
    assert "every 2s" not in html


def test_a_first_visit_that_failed_is_told_with_what_comes_next(keeper: Client) -> None:
    now = datetime.now(UTC)
    feed = make_feed(failure="not-a-feed", failure_streak=1, failing_since=now, last_attempt=now)
    feed.not_before = now + timedelta(minutes=20)
    feed.save()
    html = followed(keeper, feed)
    assert "The document is not a feed." in html and "in 20 min" in html
    assert "every 2s" not in html


def test_an_address_that_led_to_a_known_feed_is_said_so(keeper: Client) -> None:
    assert "known already" in keeper.get("/feeds/added/?ids=99").content.decode()


def test_following_warns_when_no_worker_answers(keeper: Client) -> None:
    feed = make_feed(selected_at=datetime.now(UTC))
    assert "No worker has answered lately" in followed(keeper, feed)
    Pulse.objects.create(queue="fetch", answered=datetime.now(UTC))
    assert "No worker has answered lately" not in followed(keeper, feed)


@pytest.mark.parametrize("query", ["", "?since=nan", "?since=1e400", "?ids=x"])
def test_following_nothing_in_particular_is_not_found(keeper: Client, query: str) -> None:
    assert keeper.get(f"/feeds/added/{query}").status_code == 404
