"""What one person may take up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from articles.personal.following import follow, subscriber_of
from crawler.web.limits import LimitReached
from crawler.web.roles import EDITOR, OPERATOR, give_role
from crawler.web.throttles import DailyThrottle
from feeds.adding.opml import Outline, write_opml
from recrawl.models import Site
from tests.factories import make_feed, make_token, make_user

pytestmark = pytest.mark.django_db


def test_one_person_follows_so_many_feeds(settings: Any, client: Client) -> None:
    settings.LIMIT_FEEDS = 5
    user = make_user("mara")
    subscriber = subscriber_of(user)
    for _ in range(3):
        follow(subscriber, make_feed())
    client.force_login(user)
    assert "One person may follow" not in client.get("/me/following/").content.decode()
    follow(subscriber, make_feed())
    assert "One person may follow 5 feeds here." in client.get("/me/following/").content.decode()
    follow(subscriber, last := make_feed())
    with pytest.raises(LimitReached, match="6 feeds, and one person may have 5"):
        follow(subscriber, make_feed())
    answer = client.post(f"/me/follow/{make_feed().pk}/")
    assert answer.status_code == 403
    assert "one person may have 5 here" in answer.content.decode()
    api = client.post("/api/subscriptions/", {"feed": make_feed().pk}, content_type="application/json")
    assert api.status_code == 403
    assert "one person may have 5 here" in api.json()["detail"]
    assert subscriber.subscriptions.count() == 5
    follow(subscriber, last)  # again changes nothing
    give_role(user, OPERATOR)
    follow(subscriber_of(type(user).objects.get(pk=user.pk)), make_feed())


def test_a_list_beyond_the_limit_is_refused_as_a_whole(settings: Any, client: Client) -> None:
    settings.LIMIT_FEEDS = 5
    user = make_user("mara")
    client.force_login(user)
    outlines = [Outline(f"https://{number}.example/feed") for number in range(6)]
    file = SimpleUploadedFile("a.opml", write_opml(outlines, "x", datetime.now(UTC)))
    answer = client.post("/me/following/opml/import/", {"file": file})
    assert answer.status_code == 403
    assert subscriber_of(user).subscriptions.count() == 0


def test_one_editor_adds_so_many_sites(settings: Any, client: Client) -> None:
    settings.LIMIT_SITES = 1
    user = make_user("mara")
    give_role(user, EDITOR)
    client.force_login(user)
    fields = {"method": "adaptive", "every": "7", "budget": "0.25", "max_pages": "9", "minimum_change": "0"}
    assert client.post("/sites/add/", fields | {"url": "https://one.example/"}).status_code == 302
    answer = client.post("/sites/add/", fields | {"url": "https://two.example/"})
    assert answer.status_code == 403
    assert "2 sites, and one person may have 1" in answer.content.decode()
    api = client.post("/api/sites/", {"url": "https://two.example/"}, content_type="application/json")
    assert api.status_code == 403
    assert list(Site.objects.values_list("added_by", flat=True)) == [user.pk]


def test_one_person_asks_the_api_so_often_in_a_day(settings: Any, client: Client) -> None:
    settings.LIMIT_REQUESTS_A_DAY = 3
    DailyThrottle._counts.clear()
    user = make_user("mara")
    headers = {"Authorization": make_token(user)}
    statuses = [client.get("/api/unread/", headers=headers).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    answer = client.get("/api/unread/", headers=headers)
    assert 0 < int(answer["Retry-After"]) <= 86_400
    other = make_user("tom")
    assert client.get("/api/unread/", headers={"Authorization": make_token(other)}).status_code == 200
    client.force_login(user)
    assert "6 of 3" in client.get("/settings/data/").content.decode()
    DailyThrottle._counts.clear()
