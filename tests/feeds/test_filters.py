"""A parameter of the address means the same on the page and in the API."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from feeds.categories import category_at
from feeds.models import Category, Retrieval
from tests.factories import make_feed, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user())
    return client


@pytest.fixture
def three() -> dict[str, int]:
    now = datetime.now(UTC)
    make_feed("https://aaa.example/feed", title="A", language="de", format="RSS 2.0", last_success=now)
    make_feed(
        "https://bbb.example/feed", title="B news of the river", phase="normal", failure="dns",
        failure_streak=2, category=category_at(("News", "Tech")),
    )  # fmt: skip
    make_feed(
        "https://ccc.example/feed", title="C", status="paused", selected_at=now,
        last_success=now - timedelta(hours=5),
    )  # fmt: skip
    return {category.name: category.pk for category in Category.objects.all()}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", "ABC"),
        ("q=bbb.exam", "B"),
        ("q=river news", "B"),
        ('q="river news"', ""),
        ("category={News}", "B"),
        ("category={Tech}", "B"),
        ("category=none", "AC"),
        ("category=999999", ""),
        ("status=paused", "C"),
        ("phase=normal", "B"),
        ("failing=yes", "B"),
        ("failing=true", "B"),
        ("failing=no", "AC"),
        ("failing=false", "AC"),
        ("failure=dns", "B"),
        ("failure=http-404", ""),
        ("format=RSS 2.0", "A"),
        ("language=de", "A"),
        ("language=xx", ""),
        ("host=bbb.example", "B"),
        ("url=https://ccc.example/feed", "C"),
        ("retrieved=1", "A"),
        ("retrieved=24", "AC"),
        ("waiting=on", "C"),
        ("waiting=true", "C"),
        ("waiting=false", "AB"),
    ],
)
def test_feeds(reader: Client, three: dict[str, int], query: str, found: str) -> None:
    query = query.format(**three)
    page = [feed.title[0] for feed in reader.get(f"/feeds/?sort=title&{query}").context["feeds"]]
    rows = [row["title"][0] for row in reader.get(f"/api/feeds/?{query}").json()["results"]]
    assert (page, rows) == (list(found), list(found))


@pytest.mark.parametrize(
    "query", ["category=x", "status=asleep", "retrieved=soon", "retrieved=0", "retrieved=1e30"]
)
def test_what_makes_no_sense_is_left_out_by_the_page_and_refused_by_the_api(
    reader: Client, three: dict[str, int], query: str
) -> None:
    page = reader.get(f"/feeds/?{query}")
    assert len(page.context["feeds"]) == 3
    assert "It was left out" in page.content.decode()
    answer = reader.get(f"/api/feeds/?{query}")
    assert (answer.status_code, list(answer.json())) == (400, [query.partition("=")[0]])


def test_the_page_shows_what_was_asked_for_though_no_feed_has_it(reader: Client, three: None) -> None:
    html = reader.get("/feeds/?failure=http-404&failing=yes").content.decode()
    assert '<option value="http-404" selected>' in html
    assert '<option value="true" selected>failing</option>' in html


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["new", "failed", "not-modified"]),
        ("outcome=new", ["new"]),
        ("failure=dns", ["failed"]),
        ("failure=tls", []),
        ("hours=5", ["new", "failed"]),
        ("since={day}", ["new", "failed"]),
        ("until={day}", ["not-modified"]),
        ("status=304", ["not-modified"]),
        ("feed={feed}", ["new", "failed", "not-modified"]),
    ],
)
def test_retrievals(reader: Client, query: str, found: list[str]) -> None:
    feed, now = make_feed(), datetime.now(UTC)
    for hours, outcome, failure, status in (
        (1, "new", "", 200),
        (2, "failed", "dns", 0),
        (40, "not-modified", "", 304),
    ):
        Retrieval.objects.create(
            feed=feed, at=now - timedelta(hours=hours), outcome=outcome, failure=failure, status=status
        )
    query = query.format(feed=feed.pk, day=f"{now - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}")
    page = [visit.outcome for visit in reader.get(f"/feeds/visits/?{query}").context["page"]]
    rows = [row["outcome"] for row in reader.get(f"/api/retrievals/?{query}").json()["results"]]
    assert (page, rows) == (found, found)
