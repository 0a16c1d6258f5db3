"""The feeds table, a feed's page, adding feeds, and actions on feeds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from crawler.listing import BoundedPaginator
from crawler.models import Pulse
from feeds.categories import category_at
from feeds.models import Feed, FeedAlias, PostingHistory, Retrieval
from feeds.scheduling.history import pack
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


def shown(client: Client, query: str) -> list[str]:
    return [feed.title for feed in client.get(f"/feeds/?{query}").context["feeds"]]


@pytest.fixture
def three() -> None:
    """A in training, B normal and failing in News / Tech, C paused."""
    now = datetime.now(UTC)
    make_feed(title="A", language="de", format="RSS 2.0", last_success=now, last_new=now)
    make_feed(
        "https://bbb.example/b", title="B", phase="normal", failure="dns", failure_streak=2,
        failing_since=now - timedelta(hours=3), category=category_at(("News", "Tech")),
        last_new=now - timedelta(days=2),
    )  # fmt: skip
    make_feed(title="C", status="paused", last_success=now - timedelta(hours=5))


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["A", "B", "C"]),
        ("q=bbb.exam", ["B"]),
        ("status=paused", ["C"]),
        ("phase=normal", ["B"]),
        ("failing=yes", ["B"]),
        ("failing=no", ["A", "C"]),
        ("failure=dns", ["B"]),
        ("language=de&format=RSS+2.0", ["A"]),
        ("host=bbb.example", ["B"]),
        ("retrieved=1", ["A"]),
        ("retrieved=24", ["A", "C"]),
        ("category=none", ["A", "C"]),
        ("sort=-title", ["C", "B", "A"]),
        ("sort=-new", ["A", "B", "C"]),
        ("sort=new", ["B", "A", "C"]),
        ("sort=failing", ["B", "A", "C"]),
    ],
)
def test_the_table_is_filtered_and_sorted_by_its_address(
    reader: Client, three: None, query: str, titles: list[str]
) -> None:
    assert shown(reader, query) == titles


def test_a_category_includes_the_categories_inside_it(reader: Client, three: None) -> None:
    outer = category_at(("News",))
    assert outer is not None
    assert shown(reader, f"category={outer.pk}") == ["B"]


def test_a_filter_that_makes_no_sense_is_left_out_and_said(reader: Client, three: None) -> None:
    answer = reader.get("/feeds/?status=asleep&retrieved=soon&page=nine&sort=colour&phase=normal")
    assert [feed.title for feed in answer.context["feeds"]] == ["B"]
    assert "It was left out" in answer.content.decode()


def test_articles_a_day_are_those_published_within_a_week(reader: Client) -> None:
    now = datetime.now(UTC)
    slow, busy = make_feed(title="Slow"), make_feed(title="Busy")
    for days in range(14):
        make_article(busy, published=now - timedelta(days=days, hours=1))
    make_article(slow, published=now - timedelta(days=90))
    answer = reader.get("/feeds/?sort=-rate")
    assert [feed.title for feed in answer.context["feeds"]] == ["Busy", "Slow"]
    assert answer.context["rates"] == {busy.id: 1.0, slow.id: 0.0}


def test_htmx_gets_the_table_alone_and_a_short_address(reader: Client, three: None) -> None:
    answer = reader.get("/feeds/?q=&status=paused&sort=", headers={"HX-Request": "true"})
    assert answer.headers["HX-Push-Url"] == "/feeds/?status=paused"
    assert "HX-Request" in answer.headers["Vary"]
    assert "<html" not in answer.content.decode()


def test_going_back_in_history_gets_the_whole_page(reader: Client, three: None) -> None:
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in reader.get("/feeds/", headers=headers).content.decode()


def test_a_long_table_takes_as_many_queries_as_a_short_one(
    reader: Client, django_assert_max_num_queries
) -> None:  # type: ignore[no-untyped-def]
    for _ in range(30):
        make_feed()
    with django_assert_max_num_queries(18):
        reader.get("/feeds/")


def test_lists_do_not_count_beyond_what_can_be_paged_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.listing.MOST", 3)
    for _ in range(5):
        make_feed()
    pages = BoundedPaginator(Feed.objects.order_by("id"), 2)
    assert (pages.count, pages.num_pages, pages.more) == (3, 2, True)


def test_the_feed_page_says_when_and_why_the_next_visit_is(reader: Client) -> None:
    now = datetime.now(UTC)
    feed = make_feed(floor="retry-after", floor_detail="the server asked to wait 3 hours", last_success=now)
    feed.not_before = now + timedelta(hours=3)
    feed.save()
    html = reader.get(feed.get_absolute_url()).content.decode()
    assert "Next retrieval" in html and "in 3 h" in html
    assert "the server asked to wait 3 hours" in html


def test_the_feed_page_tells_a_failure_in_words(reader: Client) -> None:
    since = datetime.now(UTC) - timedelta(days=2)
    feed = make_feed(failure="http-404", failure_streak=4, failing_since=since, failure_detail="<b>x</b>")
    html = reader.get(feed.get_absolute_url()).content.decode()
    for words in ("404 Not Found", "the document is not there", feed.url, "4 visits in a row", "&lt;b&gt;x"):
        assert words in html


def test_the_feed_page_draws_its_habits(reader: Client) -> None:
    feed = make_feed()
    hourly, week = np.linspace(0.1, 1, 24)[None, :], np.ones((1, 168))
    PostingHistory.objects.create(
        feed=feed, hourly=pack(hourly)[0], week_counts=pack(week * 3)[0], week_exposure=pack(week)[0],
        updated=datetime.now(UTC),
    )  # fmt: skip
    html = reader.get(feed.get_absolute_url()).content.decode()
    assert "most from 23:00 to 24:00" in html
    assert "168 of 168 hours watched, at most 3.0 articles an hour" in html


def test_the_feed_page_of_a_new_feed_says_what_is_not_known_yet(reader: Client) -> None:
    html = reader.get(make_feed().get_absolute_url()).content.decode()
    assert "new feed: its first visit" in html
    assert "It was not visited yet." in html


def test_the_log_is_paged_and_tells_shares(reader: Client) -> None:
    now = datetime.now(UTC)
    feed = make_feed()
    for i in range(30):
        Retrieval.objects.create(
            feed=feed, at=now - timedelta(hours=i), lease=uuid4(), conditional=True, bytes=100,
            outcome="not-modified" if i % 3 else "new", new=0 if i % 3 else 2,
        )  # fmt: skip
    FeedAlias.objects.create(canonical_url="https://old.example/rss", feed=feed)
    answer = reader.get(f"{feed.get_absolute_url()}?page=2")
    assert len(answer.context["page"].object_list) == 5
    log = answer.context["log"]
    assert (log["visits"], log["not_modified"], log["useful"], log["new"], log["bytes"]) == (
        30,
        20,
        10,
        20,
        3000,
    )
    assert "https://old.example/rss" in answer.content.decode()


def test_the_charts_get_training_and_predictions_oldest_first(reader: Client) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    feed = make_feed()
    for hours, m, new in ((2, 1.6, 1), (1, 1.9, 0)):
        at = now - timedelta(hours=hours)
        Retrieval.objects.create(feed=feed, at=at, outcome="new", m=m, t=1, toe=2, expected=0.5 * m, new=new)
    training = reader.get(f"{feed.get_absolute_url()}training.json").json()
    assert training["x"] == [(now - timedelta(hours=h)).timestamp() for h in (2, 1)]
    assert {each["label"]: each["values"] for each in training["series"]}["M"] == [1.6, 1.9]
    forecast = reader.get(f"{feed.get_absolute_url()}forecast.json").json()
    assert [each["values"] for each in forecast["series"]] == [[0.8, 0.95], [1, 0]]
    assert reader.get(f"{feed.get_absolute_url()}weather.json").status_code == 404


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
    assert "1 feed to be retrieved now." in answer.content.decode()


def test_feeds_that_cannot_be_retrieved_now_are_counted(keeper: Client) -> None:
    feed = make_feed(status="paused")
    answer = keeper.post("/feeds/actions/", {"action": "retrieve", "feed": feed.id}, follow=True)
    assert "0 feeds to be retrieved now. 1 feed not: paused" in answer.content.decode()


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


def test_the_feeds_can_be_taken_along_as_opml(reader: Client, tmp_path: Path) -> None:
    make_feed("https://mine.example/rss")
    answer = reader.get("/feeds/feeds.opml")
    assert answer["Content-Disposition"].startswith("attachment")
    assert b'xmlUrl="https://mine.example/rss"' in answer.content


def test_what_feeds_say_of_themselves_is_only_text(reader: Client) -> None:
    feed = make_feed(
        title="<script>alert(1)</script>", site_url="javascript:alert(1)", description="<img src=x>"
    )
    for path in ("/feeds/", feed.get_absolute_url(), "/"):
        html = reader.get(path).content.decode()
        assert "<script>alert" not in html and "<img src=x>" not in html
        assert 'href="javascript:' not in html
