"""Pages of people, topics and sites."""

import json
import uuid
import zlib
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from articles.enrichment.models import Enrichment
from articles.models import Article, Mark, PersonalFeed, Topic
from articles.personal.following import subscriber_of
from articles.things.pages import person_thing
from crawler.engine.models import Host
from crawler.pipeline.index import index
from crawler.pipeline.models import Document
from crawler.text.keys import digest
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
FOAF = "http://xmlns.com/foaf/0.1/"
EVIL = '"><script>alert(1)</script>'


@pytest.fixture(autouse=True)
def empty_graph():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM pipeline_quad; DELETE FROM pipeline_term")


def state(url: str, name: str, homepage: str) -> None:
    """Store a document that says that a person has a home page."""
    triples = f"_:p <{FOAF}name> {json.dumps(name)} .\n_:p <{FOAF}homepage> <{homepage}> ."
    host = Host.objects.get_or_create(name=url.split("/")[2])[0]
    row = Document.objects.create(
        key=digest(url), host=host, url=url, source="address", fetched=NOW, state="transformed", type="html",
        triples=zlib.compress(triples.encode()), lease=uuid.uuid4(), sha256="0" * 64,
    )  # fmt: skip
    assert index(row.lease, "test") == 1


def write(site: str, author: str, title: str, **values) -> Article:
    feed = make_feed(f"http://{site}/feed/{title}")
    values.setdefault("published", NOW - timedelta(days=1))
    return make_article(feed, title=title, author=author, url=f"http://{site}/{title}", **values)


def test_a_person_on_two_sites_is_one_when_their_documents_share_an_address(client):
    write("news.example", "Ada Example", "one")
    write("www.news.example", "By Ada Example and Bob Other", "two")
    write("blog.example", "ada example", "three")
    write("elsewhere.example", "Ada Example", "four")
    write("news.example", "Ada Exampleson", "five")
    state("http://news.example/team", "Ada Example", "https://ada.example/me")
    state("http://blog.example/", "Ada Example", "https://ada.example/me")
    state("http://elsewhere.example/", "Ada Example", "http://elsewhere.example/")
    client.force_login(make_user())
    page = client.get("/about/person/Ada Example/").content.decode()
    assert "<b>3 articles</b>" in page
    assert "Why are these one?" in page
    assert "https://ada.example/me" in page
    assert "Others of this name" in page
    assert "Bob Other" in page
    found = client.get(
        "/api/things/", {"kind": "person", "name": "ADA EXAMPLE", "site": "blog.example"}
    ).json()
    assert found["name"] == "Ada Example"
    assert found["sites"] == ["news.example", "blog.example"]
    assert found["reasons"] == [
        {"sites": ["news.example", "blog.example"], "address": "https://ada.example/me"}
    ]
    assert found["others"] == [["elsewhere.example"]]
    assert [Article.objects.get(pk=key).title for key in found["articles"]] == ["three", "two", "one"]
    other = client.get("/about/person/Ada Example/?site=elsewhere.example").content.decode()
    assert "<b>1 article</b>" in other
    assert "Why are these one?" not in other


def test_a_person_is_followed_by_a_feed_of_ones_own(client):
    write("news.example", "Ada Example", "one")
    write("other.example", "Bob", "two", text="What Ada Example said")
    client.force_login(make_user())
    page = client.get("/about/person/Ada Example/").content.decode()
    assert "has this name" in page
    client.post("/search/keep/", {"q": person_thing("Ada Example").search})
    feed = PersonalFeed.objects.get()
    assert feed.query == 'author:"Ada Example"'
    assert "Follow</button></form></span>" not in client.get("/about/person/Ada Example/").content.decode()


def test_a_topic_is_a_category_a_keyword_or_a_tag(client):
    first = write("news.example", "Ada", "one", categories=["Harbours"])
    second = write("news.example", "Ada", "two")
    third = write("news.example", "Ada", "three")
    Enrichment.objects.filter(article=second).update(category="Sport")
    Enrichment.objects.filter(article=third).update(terms=["harbours", "quays"])
    user = make_user()
    client.force_login(user)
    Mark.objects.create(subscriber=subscriber_of(user), article=first, read=NOW)
    page = client.get("/about/topic/Harbours/").content.decode()
    assert "<b>2 articles</b>, 1 of them unread" in page
    page = client.get("/about/topic/Sport/").content.decode()
    assert "IPTC" in page
    address = "/about/topic/Sport/"
    answer = client.post("/me/following/topics/", {"kind": "category", "value": "Sport", "next": address})
    assert answer["Location"] == address
    assert Topic.objects.get().value == "Sport"
    page = client.get(address).content.decode()
    assert "You follow it" in page
    answer = client.post(
        f"/me/following/topics/{Topic.objects.get().pk}/unfollow/", {"next": "https://evil.example/"}
    )
    assert answer["Location"] == "/me/following/"


def test_a_site_has_the_articles_of_its_feeds(client):
    article = write("news.example", "Ada Example", "one")
    write("other.example", "Bob", "two")
    client.force_login(make_user())
    page = client.get("/about/site/www.news.example/").content.decode()
    assert "<b>1 article</b>" in page
    assert "/about/person/Ada%20Example/" in page
    assert client.get("/api/things/?kind=site&name=news.example").json()["articles"] == [article.pk]


@pytest.mark.parametrize("kind", ["person", "organisation", "topic", "site"])
@pytest.mark.parametrize("name", ["nobody", EVIL, "a" * 2000, '"', "%00x", "..", "a/b/c", "'; --", "-" * 400])
def test_unknown_and_strange_names_are_not_found(client, kind, name):
    client.force_login(make_user())
    assert client.get(f"/about/{kind}/{name}/").status_code in {400, 404}
    assert client.get("/api/things/", {"kind": kind, "name": name}).status_code in {400, 404}


def test_markup_in_names_stays_text(client):
    article = write("news.example", EVIL, "one")
    client.force_login(make_user())
    shown = client.get(f"/read/{article.pk}/?show=all").content.decode()
    assert "<script>alert" not in shown
    assert "/about/person/" in shown
    link = shown.split('href="/about/person/')[1].split('"')[0]
    page = client.get(f"/about/person/{link}").content.decode()
    assert "<script>alert" not in page


def test_the_search_leads_to_people(client):
    write("news.example", "Ada Example and Bob Other", "one")
    client.force_login(make_user())
    page = client.get("/search/?q=example&in=people").content.decode()
    assert "/about/person/Ada%20Example/" in page
    assert "Bob Other" not in page
