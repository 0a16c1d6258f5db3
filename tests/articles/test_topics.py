"""Following keywords, categories and sites."""

from datetime import UTC, datetime

import pytest

from articles.enrichment.enrich import enrich
from articles.enrichment.models import Enrichment
from articles.models import Topic
from articles.personal.selection import followed_articles, selection
from articles.personal.topics import MAX_TOPICS, TopicError, follow_topic
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber, make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    return make_subscriber("ann")


def titles(articles):
    return sorted(article.title for article in articles)


def test_a_keyword_brings_articles_of_any_feed(ann):
    make_article(title="Flood", text="The river rose.")
    make_article(title="Drought", text="It did not rain.")
    assert titles(followed_articles(ann)) == []
    follow_topic(ann, "keyword", "river")
    assert titles(followed_articles(ann)) == ["Flood"]
    assert titles(selection(make_personal_feed(ann))) == ["Flood"]


def test_a_category_brings_what_is_filed_under_it(ann):
    article = make_article(title="Flood")
    make_article(title="Tagged", categories=["Weather"])
    make_article(title="Other")
    enrich(datetime.now(UTC))
    Enrichment.objects.filter(article=article).update(category="Weather")
    follow_topic(ann, "category", "Weather")
    assert titles(followed_articles(ann)) == ["Flood", "Tagged"]


def test_a_site_brings_what_stands_there(ann):
    make_article(make_feed("https://news.example/feed"), title="There")
    make_article(make_feed("https://other.example/feed"), title="Elsewhere")
    topic, _ = follow_topic(ann, "site", "https://News.example/about")
    assert topic.value == "news.example"
    assert titles(followed_articles(ann)) == ["There"]


def test_topics_are_in_no_folder(ann):
    make_article(title="Flood", text="The river rose.")
    follow_topic(ann, "keyword", "river")
    assert titles(followed_articles(ann, "News")) == []


@pytest.mark.parametrize(("kind", "value"), [("colour", "red"), ("keyword", "  "), ("site", "http://[bad")])
def test_what_makes_no_sense_is_refused(ann, kind, value):
    with pytest.raises(TopicError):
        follow_topic(ann, kind, value)


def test_there_is_a_limit_and_following_twice_is_once(ann):
    Topic.objects.bulk_create(
        Topic(subscriber=ann, kind="keyword", value=f"word{n}") for n in range(MAX_TOPICS)
    )
    assert follow_topic(ann, "keyword", "word1")[1] is False
    with pytest.raises(TopicError, match="200 topics"):
        follow_topic(ann, "keyword", "one more")


def test_topics_are_followed_on_the_page(client, ann):
    client.force_login(ann.user)
    client.post("/me/following/topics/", {"kind": "keyword", "value": "river"})
    assert "river" in client.get("/me/following/").content.decode()
    client.post(f"/me/following/topics/{ann.topics.get().pk}/unfollow/")
    assert not ann.topics.exists()


def test_nobody_unfollows_for_another(client, ann):
    topic, _ = follow_topic(ann, "keyword", "river")
    client.force_login(make_subscriber("ben").user)
    assert client.post(f"/me/following/topics/{topic.pk}/unfollow/").status_code == 404
    assert ann.topics.exists()


def test_topics_in_the_api(client, ann):
    headers = {"Authorization": make_token(ann.user)}
    made = client.post("/api/topics/", {"kind": "keyword", "value": "river"}, headers=headers)
    assert made.status_code == 201
    assert (
        client.post("/api/topics/", {"kind": "keyword", "value": "river"}, headers=headers).status_code == 200
    )
    refused = client.post("/api/topics/", {"kind": "site", "value": "http://[bad"}, headers=headers)
    assert refused.status_code == 400
    other = {"Authorization": make_token(make_subscriber("ben").user)}
    assert client.get("/api/topics/", headers=other).json()["results"] == []
    assert client.delete(f"/api/topics/{made.json()['id']}/", headers=other).status_code == 404
    assert client.delete(f"/api/topics/{made.json()['id']}/", headers=headers).status_code == 204
