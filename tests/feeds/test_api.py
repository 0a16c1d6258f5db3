"""The REST API of feeds: who may do what, and what comes back."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from feeds.adding.opml import read_opml
from feeds.models import Category, Feed, FeedAlias, Retrieval
from tests.factories import make_article, make_feed, make_token, make_user

pytestmark = pytest.mark.django_db
OPML = b'<opml><body><outline text="F"><outline xmlUrl="https://a.example/"/></outline></body></opml>'
BIN = "application/octet-stream"


@pytest.fixture
def reader(client):
    client.force_login(make_user("reader"))
    return client


@pytest.fixture
def staff(client):
    client.force_login(make_user("staff", staff=True))
    return client


def post(client, url, data=None):
    return client.post(url, data or {}, content_type="application/json")


def test_it_lists_feeds_with_what_scripts_rely_on(reader):
    feed = make_feed("https://a.example/feed", title="A", selected_at=datetime.now(UTC))
    row = reader.get("/api/feeds/").json()["results"][0]
    assert row["id"] == feed.pk
    assert row["url"] == "https://a.example/feed"
    assert (row["title"], row["phase"]) == ("A", "training")
    assert row["next_retrieval"] is not None
    assert "waiting for its host" in row["reason"]


def test_a_token_opens_it(client):
    headers = {"Authorization": make_token(make_user())}
    assert client.get("/api/feeds/").status_code == 401
    assert client.get("/api/feeds/", headers=headers).status_code == 200
    assert client.get("/api/feeds/", headers={"Authorization": "Token wrong"}).status_code == 401


@pytest.mark.parametrize(("status", "phase"), [("active", "normal"), ("paused", "paused"), ("gone", "gone")])
def test_the_phase_of_a_feed_that_is_not_active_is_its_status(reader, status, phase):
    feed = make_feed(status=status, phase="normal")
    assert reader.get(f"/api/feeds/{feed.pk}/").json()["phase"] == phase


def test_pages_follow_next_and_hold_up_to_500(reader):
    for _ in range(7):
        make_feed()
    seen, url = [], "/api/feeds/?page_size=3"
    while url:
        page = reader.get(url).json()
        seen += [row["id"] for row in page["results"]]
        url = page["next"]
    assert seen == list(Feed.objects.order_by("id").values_list("id", flat=True))
    assert len(reader.get("/api/feeds/?page_size=9999").json()["results"]) == 7


def test_listing_takes_no_query_per_feed(reader, django_assert_max_num_queries):
    category = Category.objects.create(name="C", parent=Category.objects.create(name="P"))
    for _ in range(30):
        make_feed(category=category)
    with django_assert_max_num_queries(12):
        rows = reader.get("/api/feeds/?page_size=500").json()["results"]
    assert rows[0]["category"] == "P/C"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=paused", ["paused"]),
        ("failing=true", ["failing"]),
        ("failing=false", ["tech", "news", "paused"]),
        ("failure=http-404", ["failing"]),
        ("language=de", ["news"]),
        ("search=TECH", ["tech"]),
        ("host=news.example", ["news"]),
        ("ordering=-title", ["tech", "paused", "news", "failing"]),
    ],
)
def test_it_filters_searches_and_orders(reader, query, found):
    make_feed("https://tech.example/", title="tech")
    make_feed("https://news.example/", title="news", language="de")
    make_feed("https://p.example/", title="paused", status="paused")
    make_feed("https://f.example/", title="failing", failure="http-404", failure_streak=2)
    assert [row["title"] for row in reader.get(f"/api/feeds/?{query}").json()["results"]] == found


def test_a_category_holds_the_feeds_of_those_inside_it(reader):
    outer = Category.objects.create(name="News")
    feed = make_feed(category=Category.objects.create(name="Tech", parent=outer))
    make_feed()
    rows = reader.get(f"/api/feeds/?category={outer.pk}").json()["results"]
    assert [row["id"] for row in rows] == [feed.pk]


@pytest.mark.parametrize(
    "query",
    ["category=x", "status=nonsense", "failing=maybe", "language=%00", "search=%00", "page=x", "page=999"],
)
def test_nonsense_is_answered_by_400_or_404(reader, query):
    make_feed()
    assert reader.get(f"/api/feeds/?{query}").status_code in {200, 400, 404}


def test_staff_add_a_feed(staff):
    answer = post(staff, "/api/feeds/", {"url": "https://a.example/feed", "category": "News/Tech"})
    assert answer.status_code == 201
    assert answer.json()["category"] == "News/Tech"
    assert Feed.objects.get().url == "https://a.example/feed"


def test_a_duplicate_answers_200_with_the_feed_there_is(staff):
    feed = make_feed("https://a.example/feed")
    answer = post(staff, "/api/feeds/", {"url": "HTTPS://A.example:443/feed"})
    assert (answer.status_code, answer.json()["id"]) == (200, feed.pk)


@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "http://10.0.0.1/", "https://u%3A:p@a.example/", "", None]
)
def test_a_bad_address_answers_400_with_the_reason(staff, url):
    answer = post(staff, "/api/feeds/", {"url": url})
    assert answer.status_code == 400
    assert answer.json()["url"]
    assert not Feed.objects.exists()


def test_staff_change_a_feed(staff):
    feed = make_feed(title="old")
    change = {"title": "new", "category": "A/B", "status": "paused"}
    answer = staff.patch(f"/api/feeds/{feed.pk}/", change, content_type="application/json")
    assert answer.status_code == 200
    assert {name: answer.json()[name] for name in change} == change
    staff.patch(
        f"/api/feeds/{feed.pk}/", {"status": "active", "category": ""}, content_type="application/json"
    )
    feed.refresh_from_db()
    assert (feed.status, feed.category) == ("active", None)


def test_a_paused_feed_no_longer_waits_for_its_visit(staff):
    feed = make_feed(selected_at=datetime.now(UTC))
    staff.patch(f"/api/feeds/{feed.pk}/", {"status": "paused"}, content_type="application/json")
    feed.refresh_from_db()
    assert feed.selected_at is None


def test_a_new_address_leaves_the_old_one_as_alias(staff):
    feed, other = make_feed("https://old.example/"), make_feed("https://other.example/")
    change = {"url": "https://new.example/"}
    assert staff.patch(f"/api/feeds/{feed.pk}/", change, content_type="application/json").status_code == 200
    assert FeedAlias.objects.get(canonical_url="https://old.example/").feed_id == feed.pk
    taken = staff.patch(f"/api/feeds/{feed.pk}/", {"url": other.url}, content_type="application/json")
    assert taken.status_code == 400


def test_staff_delete_a_feed_with_its_articles(staff):
    article = make_article()
    assert staff.delete(f"/api/feeds/{article.feed_id}/").status_code == 204
    assert not Feed.objects.exists()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", "/api/feeds/"),
        ("patch", "/api/feeds/{id}/"),
        ("delete", "/api/feeds/{id}/"),
        ("post", "/api/feeds/{id}/retrieve-now/"),
        ("post", "/api/feeds/import-opml/"),
        ("post", "/api/categories/"),
    ],
)
def test_others_change_nothing(reader, method, path):
    feed = make_feed()
    answer = getattr(reader, method)(path.format(id=feed.pk), {}, content_type="application/json")
    assert answer.status_code == 403
    assert Feed.objects.count() == 1


def test_retrieve_now_selects_the_feed(staff):
    feed = make_feed(not_before=datetime.now(UTC) + timedelta(days=1))
    answer = post(staff, f"/api/feeds/{feed.pk}/retrieve-now/").json()
    feed.refresh_from_db()
    assert (answer["selected"], feed.selected_because) == (True, "asked for by staff")


def test_retrieve_now_keeps_the_minimum_gap_and_says_why(staff):
    feed = make_feed(last_attempt=datetime.now(UTC))
    answer = post(staff, f"/api/feeds/{feed.pk}/retrieve-now/").json()
    assert answer["selected"] is False
    assert answer["message"]


def test_the_schedule_tells_its_reason_and_numbers(reader):
    feed = make_feed()
    told = reader.get(f"/api/feeds/{feed.pk}/schedule/").json()
    assert told["next_retrieval"]
    assert "first visit" in told["reason"]
    assert told["training"] == {"m": 4.0, "t": 1.0}


def test_the_history_has_24_rates_and_168_hours(reader):
    told = reader.get(f"/api/feeds/{make_feed().pk}/history/").json()
    assert len(told["hourly"]) == 24
    assert len(told["week_counts"]) == len(told["week_exposure"]) == 168
    assert told["updated"] is None


@pytest.mark.parametrize("kind", ["text/x-opml", "application/xml", BIN])
def test_opml_comes_in_as_body(staff, kind):
    answer = staff.post("/api/feeds/import-opml/", OPML, content_type=kind)
    assert answer.json() == {"added": 1, "duplicates": 0, "refused": []}
    assert Feed.objects.get().category.name == "F"


def test_opml_comes_in_as_file(staff):
    file = SimpleUploadedFile("feeds.opml", OPML)
    assert staff.post("/api/feeds/import-opml/", {"file": file}).json()["added"] == 1
    assert staff.post("/api/feeds/import-opml/", {}).status_code == 400


def test_big_opml_is_not_kept_out_by_the_limit_for_forms(staff):
    padding = b"<!--" + b" " * (3 * 1024 * 1024) + b"-->"
    answer = staff.post("/api/feeds/import-opml/", padding + OPML, content_type="text/x-opml")
    assert answer.json()["added"] == 1


def test_broken_opml_answers_400_and_stores_nothing(staff):
    answer = staff.post("/api/feeds/import-opml/", OPML[:-3], content_type="text/x-opml")
    assert answer.status_code == 400
    assert "line 1" in answer.json()["file"][0]
    assert not Feed.objects.exists()


@pytest.mark.parametrize("accept", ["*/*", "text/x-opml", "application/xml, */*;q=0.1"])
def test_opml_goes_out(reader, accept):
    make_feed("https://a.example/feed", title="A")
    answer = reader.get("/api/feeds/export-opml/", headers={"Accept": accept})
    assert answer["Content-Type"].startswith("text/x-opml")
    assert read_opml(answer.content)[0].url == "https://a.example/feed"


def test_retrievals_are_listed_newest_first_and_filtered(reader):
    feed, now = make_feed(), datetime.now(UTC)
    for hours, outcome in ((1, "new"), (2, "failed"), (3, "not-modified")):
        Retrieval.objects.create(feed=feed, at=now - timedelta(hours=hours), outcome=outcome)
    Retrieval.objects.create(feed=make_feed(), at=now, outcome="new")
    rows = reader.get(f"/api/retrievals/?feed={feed.pk}").json()["results"]
    assert [row["outcome"] for row in rows] == ["new", "failed", "not-modified"]
    assert len(reader.get("/api/retrievals/?outcome=new").json()["results"]) == 2
    assert reader.post("/api/retrievals/", {}).status_code == 405


def test_categories_nest_but_not_in_themselves(staff):
    outer = post(staff, "/api/categories/", {"name": "A", "parent": None}).json()
    inner = post(staff, "/api/categories/", {"name": "B", "parent": outer["id"]}).json()
    assert inner["path"] == "A/B"
    answer = staff.patch(
        f"/api/categories/{outer['id']}/", {"parent": inner["id"]}, content_type="application/json"
    )
    assert answer.status_code == 400
    assert post(staff, "/api/categories/", {"name": "A", "parent": None}).status_code == 400


def test_the_api_root_lists_its_parts(reader):
    assert "feeds" in reader.get(reverse("api-root")).json()
