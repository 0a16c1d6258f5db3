"""The feeds table, a feed's page, adding feeds, and actions on feeds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client

from crawler.web.pagination import BoundedPaginator
from feeds.categories import category_at
from feeds.models import Feed, FeedAlias, Retrieval
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user())
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
        ("", ["B", "A", "C"]),  # by folder: B is in one
        ("sort=title", ["A", "B", "C"]),
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
    for days in (90, 180):
        make_article(slow, published=now - timedelta(days=days))
    answer = reader.get("/feeds/?sort=-rate")
    assert [feed.title for feed in answer.context["feeds"]] == ["Busy", "Slow"]
    assert answer.context["posts"] == {busy.id: "7 a week", slow.id: "about 2 a year"}
    assert reader.get(busy.get_absolute_url()).context["rate"] == 1.0


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
    monkeypatch.setattr("crawler.web.pagination.MOST", 3)
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
    assert "How the next visit is planned" in html
    assert "the server asked to wait 3 hours" in html


def test_the_feed_page_tells_a_failure_in_words(reader: Client) -> None:
    since = datetime.now(UTC) - timedelta(days=2)
    feed = make_feed(failure="http-404", failure_streak=4, failing_since=since, failure_detail="<b>x</b>")
    html = reader.get(feed.get_absolute_url()).content.decode()
    for words in ("404 Not Found", "the document is not there", feed.url, "4 visits in a row", "&lt;b&gt;x"):
        assert words in html


def test_the_feed_page_says_and_draws_when_it_posts(reader: Client) -> None:
    feed = make_feed(phase="normal", last_success=datetime.now(UTC))
    day = (datetime.now(UTC) - timedelta(days=1)).replace(hour=23, minute=5)
    for number in range(8):
        make_article(feed, published=day - timedelta(days=7 * number), dating="feed")
    make_article(feed, published=day - timedelta(hours=9), dating="fetched")
    html = reader.get(f"{feed.get_absolute_url()}?by=hour").content.decode()
    assert f"It posts nearly always on a {day:%A} between 23:00 and 00:00, about 4 articles a month." in html
    assert "most from 23:00 to 24:00" in html
    assert f"8, most on {day:%a} at 23:00" in html


def test_the_feed_page_of_a_new_feed_says_what_is_not_known_yet(reader: Client) -> None:
    html = reader.get(make_feed().get_absolute_url()).content.decode()
    assert "new feed: its first visit" in html
    assert "It was not visited yet." in html


def test_the_pictures_by_hour_come_alone_when_htmx_asks_for_them(reader: Client) -> None:
    feed = make_feed(phase="normal", last_success=datetime.now(UTC))
    for number in range(8):
        make_article(feed, published=datetime.now(UTC) - timedelta(days=number, hours=1), dating="feed")
    address = feed.get_absolute_url()
    assert 'class="heat"' not in reader.get(address).content.decode()
    part = reader.get(f"{address}?by=hour", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and 'class="heat"' in part and 'class="clock"' in part


def test_the_page_of_a_busy_feed_is_small_and_takes_as_many_queries_as_another(
    reader: Client, django_assert_max_num_queries
) -> None:  # type: ignore[no-untyped-def]
    now = datetime.now(UTC)
    feed = make_feed(phase="normal", last_success=now)
    for hours in range(300):
        make_article(feed, published=now - timedelta(hours=hours), dating="feed", title="A headline " * 8)
        Retrieval.objects.create(
            feed=feed, at=now - timedelta(hours=hours), outcome="new", new=1, m=2.0, t=2.0, toe=2,
            because="rank 12 of 124: 0.42 new articles expected", expected=1.0,
        )  # fmt: skip
    reader.get(feed.get_absolute_url())
    with django_assert_max_num_queries(32):
        html = reader.get(feed.get_absolute_url()).content
    assert len(html) < 60_000
    assert len(reader.get(f"{feed.get_absolute_url()}?by=hour").content) < 120_000


def test_what_is_read_and_unread_is_told_apart(reader: Client) -> None:
    feed = make_feed(phase="normal", last_success=datetime.now(UTC))
    for number in range(12):
        make_article(feed, published=datetime.now(UTC) - timedelta(days=number), title=f"Headline {number}")
    html = reader.get(feed.get_absolute_url()).content.decode()
    assert "Follow</button>" in html and "All 12" in html and "Headline 10" not in html
    reader.post(f"/me/follow/{feed.pk}/")
    html = reader.get(feed.get_absolute_url()).content.decode()
    assert "Read 12 new" in " ".join(html.split())
    newest = feed.articles.latest("published")
    reader.post(f"/read/{newest.pk}/read/")
    html = " ".join(reader.get(feed.get_absolute_url()).content.decode().split())
    assert "Read 11 new" in html and html.count('<li class="old"') == 1


def test_the_log_is_paged_and_tells_shares(reader: Client) -> None:
    now = datetime.now(UTC)
    feed = make_feed()
    for i in range(35):
        Retrieval.objects.create(
            feed=feed, at=now - timedelta(hours=i), lease=uuid4(), conditional=True, bytes=100,
            outcome="not-modified" if i % 3 else "new", new=0 if i % 3 else 2,
        )  # fmt: skip
    FeedAlias.objects.create(canonical_url="https://old.example/rss", feed=feed)
    answer = reader.get(f"{feed.get_absolute_url()}?page=4")
    assert len(answer.context["page"].object_list) == 5
    log = answer.context["log"]
    assert (log["visits"], log["not_modified"], log["useful"], log["new"], log["bytes"]) == (
        35,
        23,
        12,
        24,
        3500,
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


def test_the_log_of_all_visits_is_filtered(reader: Client) -> None:
    now = datetime.now(UTC)
    sound, broken = make_feed(title="Sound"), make_feed(title="Broken")
    Retrieval.objects.create(feed=sound, at=now, outcome="new", new=2)
    Retrieval.objects.create(feed=broken, at=now, outcome="failed", failure="dns", detail="no such name")
    Retrieval.objects.create(feed=sound, at=now - timedelta(days=3), outcome="not-modified")

    def found(query: str) -> list[tuple[str, str]]:
        page = reader.get(f"/feeds/visits/?{query}").context["page"]
        return [(visit.feed.title, visit.outcome) for visit in page.object_list]

    assert found("") == [("Broken", "failed"), ("Sound", "new"), ("Sound", "not-modified")]
    assert found("hours=24&outcome=new") == [("Sound", "new")]
    assert found("failure=dns") == [("Broken", "failed")]
    assert found("outcome=strange&hours=-1") == found("")


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
