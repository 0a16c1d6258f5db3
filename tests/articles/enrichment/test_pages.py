"""The pages and the API of enrichment and stories."""

from datetime import UTC, datetime

import pytest

from articles.enrichment.enrich import enrich
from articles.enrichment.models import Enrichment, Story
from tests.factories import make_article, make_token, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEXT = " ".join(f"The river {n} rose after rain number {n}." for n in range(30))


@pytest.fixture
def pair():
    found = [make_article(title="Flood in the valley", text=TEXT, language="en") for _ in range(2)]
    enrich(NOW)
    return found


@pytest.fixture
def reader(client):
    client.force_login(make_user())
    return client


@pytest.fixture
def staff(client):
    client.force_login(make_user(staff=True))
    return client


def test_an_article_shows_its_keywords_its_summary_and_its_story(reader, pair):
    page = reader.get(pair[0].get_absolute_url()).content.decode()
    assert "The river 0 rose after rain number 0." in page
    assert "?keyword=flood" in page
    assert "One story, 2 sources" in page
    assert str(pair[1].feed) in page
    assert "Take this one out" not in page


def test_articles_can_be_listed_by_keyword_and_by_category(reader, pair):
    make_article(title="Something else")
    enrich(NOW)
    Enrichment.objects.filter(article=pair[0]).update(category="Weather")
    assert reader.get("/articles/", {"keyword": "Flood"}).content.decode().count("Flood in the valley") == 2
    page = reader.get("/articles/", {"topic": "Weather"}).content.decode()
    assert page.count("Flood in the valley") == 1


def test_stories_are_listed_with_their_sources(reader, pair):
    page = reader.get("/articles/stories/").content.decode()
    assert "Flood in the valley" in page
    assert "in 2 feeds" in " ".join(page.split())
    one = reader.get(Story.objects.get().get_absolute_url()).content.decode()
    assert "same text" in one
    assert all(str(article.feed) in one for article in pair)


def test_staff_take_an_article_out_and_let_it_in_again(staff, pair):
    staff.post(f"/articles/{pair[0].pk}/leave-story/")
    assert not Story.objects.exists()
    assert "Somebody took it out" in staff.get(pair[0].get_absolute_url()).content.decode()
    staff.post(f"/articles/{pair[0].pk}/join-story/")
    enrich(NOW)
    assert Story.objects.count() == 1


def test_staff_take_a_story_apart(staff, pair):
    staff.post(f"/articles/stories/{Story.objects.get().pk}/apart/")
    assert set(Enrichment.objects.values_list("reason", flat=True)) == {"apart"}


@pytest.mark.parametrize("path", ["{0}/leave-story/", "{0}/join-story/", "stories/{1}/apart/"])
def test_others_change_no_story(reader, pair, path):
    address = "/articles/" + path.format(pair[0].pk, Story.objects.get().pk)
    assert reader.post(address).status_code == 403
    assert reader.get(address).status_code in {403, 405}
    assert Story.objects.get().members.count() == 2


def test_the_overview_tells_what_is_done_and_what_failed(reader, pair):
    Enrichment.objects.filter(article=pair[0]).update(state="failed", failure="ValueError: odd")
    page = reader.get("/articles/enrichment/").content.decode()
    assert "ValueError: odd" in page
    assert "en" in page


def test_the_api_tells_enrichments_and_stories(client, pair):
    headers = {"Authorization": make_token(make_user())}
    row = client.get(f"/api/enrichments/{pair[0].pk}/", headers=headers).json()
    assert row["state"] == "done"
    assert row["keywords"][0][0] in {"flood", "valley", "river", "rain", "rose"}
    listed = client.get("/api/enrichments/", {"keyword": "flood"}, headers=headers).json()
    assert listed["count"] == 2
    (story,) = client.get("/api/stories/", headers=headers).json()["results"]
    assert [member["article"] for member in story["members"]] == [article.pk for article in pair]
    assert client.post(f"/api/stories/{story['id']}/apart/", headers=headers).status_code == 403
    staff = {"Authorization": make_token(make_user(staff=True))}
    assert (
        client.post(f"/api/enrichments/{pair[0].pk}/leave-story/", headers=staff).json()["reason"] == "apart"
    )
    assert client.post(f"/api/enrichments/{pair[0].pk}/join-story/", headers=staff).json()["reason"] == ""
    enrich(NOW)
    assert client.post(f"/api/stories/{Story.objects.get().pk}/apart/", headers=staff).status_code == 204


def test_the_admin_shows_them(client, pair):
    client.force_login(make_user(staff=True, is_superuser=True))
    for path in ("enrichment", "story", "classifier"):
        assert client.get(f"/admin/enrichment/{path}/").status_code == 200
    assert client.get("/admin/enrichment/enrichment/", {"q": "Flood"}).status_code == 200
    client.post(
        "/admin/enrichment/enrichment/", {"action": "again", "_selected_action": [pair[0].pk], "index": 0}
    )
    assert Enrichment.objects.filter(state="waiting").count() == 1
    client.post(
        "/admin/enrichment/story/",
        {"action": "apart", "_selected_action": [Story.objects.get().pk], "index": 0},
    )
    assert not Story.objects.exists()
