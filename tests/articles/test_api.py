"""The REST API of articles, subscriptions and personal feeds."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.models import Article, PersonalFeed, Subscription
from feeds.models import Category, Feed
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ann(client):
    subscriber = make_subscriber("ann")
    client.force_login(subscriber.user)
    client.subscriber = subscriber
    return client


def send(client, method, url, data=None):
    return getattr(client, method)(url, data or {}, content_type="application/json")


def test_an_article_has_what_scripts_rely_on(ann):
    article = make_article(
        identity="tag:x", title="T", url="https://x.example/1", text="Text.", language="en", author="A",
        category="News", published=NOW, fetched=NOW,
    )  # fmt: skip
    assert ann.get("/api/articles/").json()["results"] == [
        {
            "id": article.pk,
            "feed": article.feed_id,
            "identity": "tag:x",
            "url": "https://x.example/1",
            "title": "T",
            "published": "2026-03-01T12:00:00Z",
            "fetched": "2026-03-01T12:00:00Z",
            "language": "en",
            "author": "A",
            "category": "News",
            "text_length": 5,
        }
    ]


def test_a_list_of_500_is_one_query_without_texts(ann, django_assert_num_queries, django_db_blocker):
    feed = make_feed()
    for _ in range(20):
        make_article(feed)
    ann.get("/api/articles/")  # reads what operators chose, for two seconds
    with django_assert_num_queries(3) as queries:  # session, user, articles
        assert len(ann.get("/api/articles/?page_size=500").json()["results"]) == 20
    sql = queries.captured_queries[-1]["sql"]
    assert '"text_length"' in sql
    for column in ('"text"', '"content"', '"summary"', '"search"'):
        assert f'"articles_article".{column}' not in sql


def test_the_detail_has_the_text(ann):
    article = make_article(text="All of it.", content="<p>All of it.</p>")
    told = ann.get(f"/api/articles/{article.pk}/").json()
    assert (told["text"], told["content"]) == ("All of it.", "<p>All of it.</p>")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "rivers"}, ["river"]),
        ({"q": '"the river"'}, ["river"]),
        ({"q": "东京"}, ["东京塔"]),
        ({"language": "de"}, ["hill"]),
        ({"category": "Land"}, ["hill"]),
        ({"published_after": "2026-03-01T12:00:00Z"}, ["river", "东京塔"]),
        ({"published_before": "2026-03-01T12:00:00Z"}, ["hill"]),
    ],
)
def test_it_searches_and_filters(ann, query, found):
    feed = make_feed()
    day = timedelta(days=1)
    make_article(feed, title="东京塔", text="塔。", published=NOW)
    make_article(feed, title="river", text="Text: the river.", language="en", published=NOW + day)
    make_article(feed, title="hill", text="Text.", language="de", category="Land", published=NOW - day)
    assert [row["title"] for row in ann.get("/api/articles/", query).json()["results"]] == found


def test_a_feed_category_holds_those_inside_it(ann):
    outer = Category.objects.create(name="A")
    article = make_article(make_feed(category=Category.objects.create(name="B", parent=outer)))
    make_article()
    rows = ann.get(f"/api/articles/?feed_category={outer.pk}").json()["results"]
    assert [row["id"] for row in rows] == [article.pk]


def test_articles_are_not_changed_by_the_api(ann):
    article = make_article()
    assert send(ann, "delete", f"/api/articles/{article.pk}/").status_code == 405
    assert Article.objects.exists()


def test_it_follows_a_feed_that_is_here(ann):
    feed = make_feed()
    answer = send(ann, "post", "/api/subscriptions/", {"feed": feed.pk, "folder": " News / Tech "})
    assert (answer.status_code, answer.json()["folder"]) == (201, "News/Tech")
    feed.refresh_from_db()
    assert feed.subscribers == 1
    assert send(ann, "post", "/api/subscriptions/", {"feed": feed.pk}).status_code == 200


def test_it_follows_an_address_that_is_new_here(ann):
    assert send(ann, "post", "/api/subscriptions/", {"url": "https://a.example/"}).status_code == 201
    assert Feed.objects.get().subscribers == 1


@pytest.mark.parametrize("data", [{}, {"feed": 0}, {"url": "ftp://a/"}, {"url": "http://10.0.0.1/"}])
def test_following_nothing_usable_answers_400(ann, data):
    assert send(ann, "post", "/api/subscriptions/", data).status_code == 400
    assert not Subscription.objects.exists()


def test_it_refiles_and_unfollows(ann):
    feed = make_feed()
    row = send(ann, "post", "/api/subscriptions/", {"feed": feed.pk}).json()
    url = f"/api/subscriptions/{row['id']}/"
    assert send(ann, "patch", url, {"title": "Mine"}).json()["title"] == "Mine"
    assert send(ann, "delete", url).status_code == 204
    feed.refresh_from_db()
    assert feed.subscribers == 0


def test_personal_feeds_come_with_their_addresses(ann):
    data = {"name": "All", "include": ["river"], "exclude": [], "body": "summary"}
    made = send(ann, "post", "/api/personal-feeds/", data).json()
    assert ann.get(made["urls"]["atom"]).status_code == 200
    url = f"/api/personal-feeds/{made['id']}/"
    rotated = send(ann, "post", f"{url}rotate/").json()
    assert rotated["urls"]["rss"] != made["urls"]["rss"]
    assert ann.get(made["urls"]["rss"]).status_code == 410
    assert send(ann, "post", f"{url}revoke/").json()["urls"] is None
    assert ann.get(rotated["urls"]["rss"]).status_code == 410
    assert send(ann, "patch", url, {"folder": "F"}).json()["folder"] == "F"
    assert send(ann, "delete", url).status_code == 204


def test_names_of_personal_feeds_are_unique_for_each_subscriber(ann):
    make_personal_feed(make_subscriber("ben"), name="All")
    assert send(ann, "post", "/api/personal-feeds/", {"name": "All"}).status_code == 201
    assert send(ann, "post", "/api/personal-feeds/", {"name": "All"}).status_code == 400


@pytest.mark.parametrize("staff", [False, True])
def test_nobody_sees_or_changes_what_is_another_s(client, staff):
    ben = make_subscriber("ben", make_feed())
    theirs = make_personal_feed(ben)
    subscription = ben.subscriptions.get()
    client.force_login(make_user("ann", staff=staff))
    for name, key in (("subscriptions", subscription.pk), ("personal-feeds", theirs.pk)):
        assert client.get(f"/api/{name}/").json()["results"] == []
        for method in ("get", "patch", "delete"):
            assert send(client, method, f"/api/{name}/{key}/").status_code == 404
    assert send(client, "post", f"/api/personal-feeds/{theirs.pk}/rotate/").status_code == 404
    assert Subscription.objects.count() == PersonalFeed.objects.count() == 1


def test_staff_see_all_subscribers_others_themselves(ann, client):
    make_subscriber("ben")
    assert [row["username"] for row in ann.get("/api/subscribers/").json()["results"]] == ["ann"]
    client.force_login(make_user(staff=True))
    assert client.get("/api/subscribers/").json()["count"] == 2
