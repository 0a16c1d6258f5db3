"""What belongs to one person: seen by its owner wherever feeds and articles are shown, and by nobody else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.models import Article
from articles.personal.following import subscriber_of
from articles.personal.outputs import Addresses, build_page
from articles.personal.selection import create_personal_feed
from crawler.database.readers import read_as, read_for, reading_as
from crawler.notices.models import Rule
from crawler.notices.watching import look
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_token, make_user

pytestmark = pytest.mark.django_db

SECRET = "Quarterly letter to the members"


@pytest.fixture
def owner() -> User:
    return make_user("owner", staff=True)


@pytest.fixture
def letter(owner: User) -> Article:
    feed = make_feed("https://letters.example/feed", owner=owner, title="Letters of the owner")
    return make_article(
        feed, title=SECRET, owner=owner, text=f"{SECRET} and its words", published=datetime.now(UTC)
    )


def places(letter: Article) -> list[str]:
    return [
        f"/read/{letter.pk}/", f"/feeds/{letter.feed_id}/", "/feeds/", "/read/?show=all",
        "/search/?q=quarterly+letter",
        f"/api/feeds/{letter.feed_id}/", "/api/feeds/", f"/api/articles/{letter.pk}/", "/api/articles/",
        "/api/articles/?search=quarterly", "/feeds/feeds.opml", "/api/feeds/export-opml/", "/feeds/visits/",
    ]  # fmt: skip


@pytest.mark.parametrize("staff", [True, False])
def test_another_person_sees_it_nowhere(letter: Article, staff: bool) -> None:
    client = Client()
    client.force_login(make_user("other", staff=staff, is_superuser=staff))
    for place in places(letter):
        answer = client.get(place)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[union-attr]
        assert SECRET.encode() not in body and b"letters.example" not in body, place


def test_a_token_reads_as_its_person(letter: Article, owner: User) -> None:
    other = make_user("stranger", staff=True)
    for user, found in ((owner, 1), (other, 0), (owner, 1)):
        answer = Client().get("/api/articles/", headers={"Authorization": make_token(user)})
        assert len(answer.json()["results"]) == found


def test_its_owner_sees_it(letter: Article, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    assert SECRET in client.get(f"/read/{letter.pk}/").content.decode()
    assert client.get(f"/feeds/{letter.feed_id}/").status_code == 200
    assert SECRET in client.get("/search/?q=quarterly+letter").content.decode()


def test_tasks_and_commands_see_everything_again_after_a_request(letter: Article) -> None:
    Client().get("/healthz")
    assert Article.objects.count() == 1
    read_as(None)
    assert Feed.objects.count() == Article.objects.count() == 0
    read_for(None)
    assert Feed.objects.count() == 1


def test_what_is_deleted_with_its_owner(letter: Article, owner: User) -> None:
    owner.delete()
    assert not Feed.with_removed.exists() and not Article.objects.exists()


def test_nobody_else_is_told_of_it(letter: Article, owner: User) -> None:
    other = make_user("listener")
    for user, told in ((other, 0), (owner, 1)):
        earlier = letter.published - timedelta(minutes=5)
        rule = Rule.objects.create(user=user, when="article", query="quarterly", looked=earlier)
        Rule.objects.filter(pk=rule.pk).update(created=earlier)
        rule.refresh_from_db()
        assert look(rule, datetime.now(UTC)) == told


def test_a_personal_feed_by_a_search_holds_what_is_its_persons(letter: Article, owner: User) -> None:
    for user, held in ((make_user("searcher"), False), (owner, True)):
        feed = create_personal_feed(subscriber_of(user), name="Q", query="quarterly")
        with reading_as(user.pk):
            _, items = build_page(feed, 1, Addresses("https://f.example/x", "https://f.example/"))
        assert (SECRET in [item.title for item in items]) is held
