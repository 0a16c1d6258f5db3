"""A demonstration: everybody reads as one person, nothing is changed, nothing is fetched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.models import Article, Mark
from crawler.accounts.demo import VISITOR
from crawler.fetching.sandboxed.client import FetchLimits, fetch
from crawler.isolation.calls import ProgramError
from crawler.management.commands.run import seed_demonstration
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def demonstration(settings: Any) -> Client:
    settings.DEMO = True
    make_user(VISITOR)
    return Client()


@pytest.mark.parametrize(
    "path", ["/read/", "/feeds/", "/sites/", "/search/?q=x", "/tools/", "/api/feeds/", "/settings/"]
)
def test_everybody_sees_pages_without_an_account(demonstration: Client, path: str) -> None:
    make_article()
    answer = demonstration.get(path)
    assert answer.status_code == 200
    assert not answer.cookies.get("sessionid")


def test_pages_say_what_this_is(demonstration: Client) -> None:
    assert "A demonstration: invented data" in demonstration.get("/feeds/").content.decode()


def test_where_it_is_none_pages_say_nothing_of_it(client: Client) -> None:
    client.force_login(make_user())
    assert "A demonstration: invented data" not in client.get("/feeds/").content.decode()


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize(
    "path",
    ["/feeds/change/", "/api/feeds/", "/accounts/login/", "/accounts/signup/", "/admin/login/", "/fever/"],
)
def test_nothing_can_be_changed(demonstration: Client, method: str, path: str) -> None:
    feed = make_feed()
    answer = getattr(demonstration, method)(path, {"url": "https://a.example/", "feed": feed.pk})
    assert answer.status_code == 403
    assert "demonstration" in answer.content.decode()
    assert (Feed.objects.count(), User.objects.count()) == (1, 1)


def test_an_opened_article_stays_unread(demonstration: Client) -> None:
    article = make_article()
    demonstration.get(f"/articles/{article.pk}/")
    assert not Mark.objects.exists()
    assert Article.objects.count() == 1


def test_nobody_gets_into_the_admin_or_at_people(demonstration: Client) -> None:
    assert demonstration.get("/admin/").status_code in {302, 403}
    assert demonstration.get("/people/").status_code in {302, 403, 404}


def test_nothing_is_fetched(demonstration: Client) -> None:
    with pytest.raises(ProgramError, match="fetches nothing"):
        fetch("http://127.0.0.1:1/", FetchLimits("*/*", 1.0, 100))
    assert demonstration.get("/add/?url=http://a.example/").status_code in {200, 403}


def test_it_is_well_without_workers(demonstration: Client) -> None:
    assert demonstration.get("/healthz").json()["status"] == "ok"


def test_its_data_is_made_once(settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DEMO, settings.DATA_DIR = True, tmp_path
    monkeypatch.setattr("crawler.operation.deployment.demo._experiment", lambda replayed: None)
    assert seed_demonstration() == "invented data made"
    assert seed_demonstration() == "exists"
    visitor = User.objects.get(username=VISITOR)
    assert not (visitor.is_staff or visitor.is_superuser or visitor.has_usable_password())
    page = Client().get("/read/?show=all").content.decode()
    assert page.count("<article") or "The Harbour Courier" in page
    assert Client().get("/graph/questions/backlinks/").status_code == 200
    assert datetime.now(UTC) > Article.objects.latest("fetched").fetched
