"""Collections of articles that people gather together, and who told a story first."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from articles.enrichment.firsts import additions, how_often_first
from articles.enrichment.models import Enrichment, Story
from articles.models import Article
from articles.personal.archive import read_archive, write_archive
from articles.personal.following import follow, subscriber_of
from articles.saved.collecting import add_to, make_collection
from articles.saved.models import Collection
from articles.saved.saving import PageToSave, save_page
from tests.articles.test_saved import with_text
from tests.factories import make_article, make_feed, make_user
from tests.html import flat

NOW = datetime.now(UTC)


def api_of(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


@pytest.mark.django_db
def test_two_people_gather_and_a_third_sees_nothing() -> None:
    ann, ben, eve = (make_user(name) for name in ("ann", "ben", "eve"))
    anns, bens, eves = api_of(ann), api_of(ben), api_of(eve)
    row = save_page(subscriber_of(ann), PageToSave("https://paper.example/x"), NOW).page
    with_text(row.article)
    common = make_article(title="Common")
    made = anns.post(
        "/api/collections/", {"name": " Harbour  lights ", "about": "for the paper"}, format="json"
    )
    assert (made.status_code, made.json()["name"]) == (201, "Harbour lights")
    key = made.json()["id"]
    assert anns.post("/api/collections/", {"name": "Harbour lights"}, format="json").status_code == 200
    added = anns.post(
        f"/api/collections/{key}/articles/",
        {"articles": [row.article_id, common.pk], "note": "see"},
        format="json",
    )
    assert added.json()["size"] == 2
    assert bens.get(f"/api/collections/{key}/").status_code == 404
    assert anns.post(f"/api/collections/{key}/share/", {"name": "nobody"}, format="json").status_code == 400
    anns.post(f"/api/collections/{key}/share/", {"name": "ben"}, format="json")
    assert bens.get("/api/collections/").json()["results"][0]["owner"] == "ann"
    titles = {each["title"] for each in bens.get(f"/api/collections/{key}/articles/").json()["results"]}
    assert titles == {"Lamps", "Common"}
    refused = bens.post(f"/api/collections/{key}/articles/", {"articles": [common.pk]}, format="json")
    assert refused.status_code == 403
    anns.post(f"/api/collections/{key}/share/", {"name": "ben", "may_add": True}, format="json")
    other = make_article(title="Ben's find")
    bens.post(f"/api/collections/{key}/articles/", {"articles": [other.pk]}, format="json")
    found = anns.get(f"/api/collections/{key}/articles/").json()["results"][0]
    assert (found["title"], found["added_by"]) == ("Ben's find", "ben")
    bens.post(f"/api/collections/{key}/articles/remove/", {"articles": [other.pk, common.pk]}, format="json")
    assert anns.get(f"/api/collections/{key}/").json()["size"] == 2  # his own alone
    assert bens.delete(f"/api/collections/{key}/").status_code == 403
    for path in (f"/api/collections/{key}/", f"/api/collections/{key}/articles/"):
        assert eves.get(path).status_code == 404
    assert (
        eves.post(f"/api/collections/{key}/articles/", {"articles": [common.pk]}, format="json").status_code
        == 404
    )
    csv = b"".join(bens.get("/api/collections/export/?as=csv").streaming_content).decode()
    assert "Lamps" in csv
    assert "Common" in csv
    anns.post(f"/api/collections/{key}/unshare/", {"name": "ben"}, format="json")
    assert bens.get(f"/api/collections/{key}/").status_code == 404


@pytest.mark.django_db
def test_nobody_adds_what_they_cannot_see() -> None:
    ann, ben = make_user("ann"), make_user("ben")
    hidden = save_page(subscriber_of(ben), PageToSave("https://secret.example/x"), NOW).page
    anns = api_of(ann)
    key = anns.post("/api/collections/", {"name": "Mine"}, format="json").json()["id"]
    anns.post(f"/api/collections/{key}/articles/", {"articles": [hidden.article_id]}, format="json")
    assert anns.get(f"/api/collections/{key}/").json()["size"] == 0


@pytest.mark.django_db
def test_the_pages_of_a_collection(client: Client) -> None:
    ann, ben = make_user("ann"), make_user("ben")
    client.force_login(ann)
    assert "There is no collection yet." in flat(client.get("/collections/").content)
    article = make_article(title="Boats", content="<p>About boats.</p>", text="About boats.")
    client.post(f"/read/{article.pk}/gather/", {"name": "Sea", "note": "<i>look</i>"})
    row = Collection.objects.get()
    html = client.get(f"/collections/{row.pk}/").content.decode()
    assert "&lt;i&gt;look&lt;/i&gt;" in html
    client.post(f"/collections/{row.pk}/change/", {"person": "ben", "role": "read"})
    assert "Nobody here has this name." in flat(
        client.post(f"/collections/{row.pk}/change/", {"person": "zoe"}, follow=True).content
    )
    reader = Client()
    reader.force_login(ben)
    assert "About boats." in flat(reader.get(f"/collections/{row.pk}/{article.pk}/").content)
    assert reader.post(f"/collections/{row.pk}/change/", {"delete": "1"}).status_code == 404
    exported = b"".join(reader.get(f"/collections/{row.pk}/export/?as=markdown").streaming_content)
    assert b"Boats" in exported
    feed = Client().get(f"/collections/feed/{row.token}/")
    assert feed.status_code == 200
    assert b"Boats" in feed.content
    assert b"About boats." in feed.content
    assert Client().get(f"/collections/feed/{row.token}/?as=json").json()["items"][0]["title"] == "Boats"
    client.post(f"/collections/{row.pk}/change/", {"address": "new"})
    assert Client().get(f"/collections/feed/{row.token}/").status_code == 404
    reader.post(f"/collections/{row.pk}/change/", {"leave": "1"})
    assert reader.get(f"/collections/{row.pk}/").status_code == 404
    client.post(f"/collections/{row.pk}/change/", {"delete": "1"})
    assert Article.objects.filter(pk=article.pk).exists()


def told_by_three() -> tuple[Story, list[Article]]:
    story = Story.objects.create()
    told = "The lamps of the pier burn again on Tuesday evenings."
    texts = (told, told, f"{told} A second pier will have lamps in the spring, too.")
    articles = [
        make_article(make_feed(), title=f"T{n}", published=NOW - timedelta(hours=3 - n), text=text)
        for n, text in enumerate(texts)
    ]
    for article in articles:
        Enrichment.objects.update_or_create(article=article, defaults={"story": story, "state": "done"})
    return story, articles


@pytest.mark.django_db
def test_a_story_names_who_was_first_and_how_much_later_the_others_came(client: Client) -> None:
    story, articles = told_by_three()
    user = make_user(staff=True)
    answer = api_of(user).get(f"/api/stories/{story.pk}/").json()
    assert (answer["first"]["article"], answer["delay"]) == (articles[0].pk, 3600.0)
    assert [member["delay"] for member in answer["members"]] == [0.0, 3600.0, 7200.0]
    client.force_login(user)
    html = flat(client.get(f"/articles/stories/{story.pk}/").content)
    assert "60 minutes later" in html
    assert "A second pier will have lamps in the spring, too." in html
    second, others = told_by_three(), how_often_first(NOW)
    assert second
    assert others == []  # each feed has one story: too few to say anything
    assert client.get("/articles/stories/first/").status_code == 200


def test_what_a_text_adds_is_what_no_earlier_one_has() -> None:
    first = "The council met on Monday in the old town hall."
    assert additions([first, f"{first} Nobody spoke against the new harbour wall."]) == [
        [], ["Nobody spoke against the new harbour wall."],
    ]  # fmt: skip
    assert additions([]) == []


@pytest.mark.django_db
def test_collections_are_taken_along_to_another_account() -> None:
    ann, ben = subscriber_of(make_user("ann")), subscriber_of(make_user("ben"))
    feed = make_feed()
    follow(ann, feed)
    follow(ben, feed)
    saved = save_page(ann, PageToSave("https://paper.example/x", title="Kept"), NOW).page
    collection = make_collection(ann, "Sea", "boats")
    add_to(collection, ann, [saved.article_id, make_article(feed, title="Common").pk], NOW, "see")
    out = io.BytesIO()
    write_archive(ann, out, NOW)
    for _ in range(2):
        taken = read_archive(ben, out.getvalue(), NOW, makes_articles=False)
    assert taken.gathered == 0  # the second time all was here
    row = Collection.objects.get(owner=ben)
    assert (row.name, row.about) == ("Sea", "boats")
    assert {(str(item.article), item.note) for item in row.items.all()} == {
        ("Kept", "see"),
        ("Common", "see"),
    }
    assert row.items.filter(article__saved__subscriber=ben).count() == 1
