"""The search over articles, feeds, people and sites, and searches that are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from articles.models import Mark, PersonalFeed, Subscriber
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user("reader"))
    return client


def titles(client: Client, query: str, **headers: str) -> list[str]:
    answer = client.get(f"/search/?{query}", headers=headers)
    assert answer.status_code == 200
    return [article.title for article in answer.context.get("articles", [])]


def test_one_box_finds_articles_feeds_people_and_sites(reader: Client) -> None:
    make_article(make_feed(title="Kestrel News"), title="A kestrel", author="Ann Kestrel")
    make_article(title="Another", author="Bo", text="No bird of prey.")
    html = reader.get("/search/?q=kestrel").content.decode()
    assert "<mark>kestrel</mark>" in html.lower() or "A kestrel" in html
    assert "Kestrel News" in html and "Ann Kestrel" in html and "Another" not in html
    answer = reader.get("/search/?q=kestrel&in=people")
    assert [row["author"] for row in answer.context["people"]] == ["Ann Kestrel"]
    assert answer.context["numbers"] == {"articles": 1, "feeds": 1, "sites": 0, "people": 1}


def test_while_typing_the_beginning_of_a_word_is_enough(reader: Client) -> None:
    make_article(title="Kestrels above the town")
    assert titles(reader, "q=kestr", **{"HX-Request": "true"}) == ["Kestrels above the town"]
    assert titles(reader, "q=kestr") == []
    assert titles(reader, "q=town+kestr", **{"HX-Request": "true"}) == ["Kestrels above the town"]


def test_results_are_narrowed_by_time_language_and_marks(reader: Client) -> None:
    now = datetime.now(UTC)
    old = make_article(title="Old owl", published=now - timedelta(days=40), language="de")
    make_article(title="New owl", language="en-GB")
    assert titles(reader, "q=owl&order=new") == ["New owl", "Old owl"]
    assert titles(reader, "q=owl&when=month") == ["New owl"]
    assert titles(reader, "q=owl&lang=de") == ["Old owl"]
    assert titles(reader, "q=owl&lang=en") == ["New owl"]
    subscriber = Subscriber.objects.get()
    Mark.objects.create(subscriber=subscriber, article=old, read=now, starred=now)
    assert titles(reader, "q=owl&unread=1") == ["New owl"]
    assert titles(reader, "q=owl&starred=1") == ["Old owl"]
    assert titles(reader, "q=owl+has:audio") == []


@pytest.mark.parametrize(
    "query",
    ["", "q=", "q=%22", "q=-", "q=or", "q=" + "a+" * 400, "q='%3AB*", "q=a%27%3A*", "q=\\", "q=%25_",
     "q=" + "%E9%B3%A5" * 50, "in=x&when=y&lang=z&order=w&page=nine&q=a", "q=author:", "q=lang:xx+%26+|+!"],
)  # fmt: skip
@pytest.mark.parametrize("part", [{}, {"HX-Request": "true"}])
def test_nothing_that_is_typed_breaks_it(reader: Client, query: str, part: dict[str, str]) -> None:
    make_article(title="An article")
    assert reader.get(f"/search/?{query}", headers=part).status_code == 200


def test_a_search_that_is_too_long_is_refused_in_a_sentence(reader: Client) -> None:
    assert (
        "A search takes at most"
        in reader.get("/search/?q=" + "+".join(f"w{n}" for n in range(40))).content.decode()
    )


def test_recent_searches_are_remembered_and_forgotten(reader: Client) -> None:
    for words in ("one", "two", "one"):
        reader.get(f"/search/?q={words}")
    reader.get("/search/?q=thr", headers={"HX-Request": "true"})
    assert reader.get("/search/").context["recent"] == ["one", "two"]
    reader.post("/search/forget/")
    assert reader.get("/search/").context["recent"] == []


def test_a_kept_search_stands_in_the_sidebar_and_has_a_feed(reader: Client) -> None:
    make_article(title="A heron", language="en")
    assert (
        reader.post("/search/keep/", {"q": "heron", "lang": "en"})["Location"] == "/search/?q=heron&lang=en"
    )
    kept = PersonalFeed.objects.get()
    assert kept.query == "heron lang:en"
    assert 'href="/search/?q=heron%20lang%3Aen"' in reader.get("/read/").content.decode()
    address = f"/personal/{kept.tokens.get().token}.atom"
    first = Client().get(address)
    assert "A heron" in first.content.decode()
    assert Client().get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    make_article(title="Another heron", language="en")
    again = Client().get(address, headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 200 and "Another heron" in again.content.decode()
    reader.post("/search/keep/", {"q": "heron", "lang": "en"})
    assert PersonalFeed.objects.count() == 1
    reader.post("/undo/", {"token": reader.session["undo"]["token"]})
    assert not PersonalFeed.objects.exists()


@pytest.mark.parametrize("words", ["", " ".join(f"w{n}" for n in range(40))])
def test_no_search_or_too_long_a_search_is_not_kept(reader: Client, words: str) -> None:
    reader.post("/search/keep/", {"q": words})
    assert not PersonalFeed.objects.exists()
