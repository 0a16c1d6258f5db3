"""Feeds to begin with: the table, the page of newcomers, and the command that asks them."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from articles.models import Subscription
from crawler.web.roles import EDITOR, give_role
from feeds.adding import beginnings
from feeds.adding.beginnings import BEGINNINGS, TOPICS, Beginning, beginnings_in
from feeds.models import Feed
from tests.factories import make_user
from tests.html import flat
from tests.servers import Reply, WebServer

RSS = b"""<rss version="2.0"><channel><title>A</title><item><title>x</title><link>http://a.example/1</link>
<guid>1</guid><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate></item></channel></rss>"""


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_a_dozen_for_each_language_of_the_pages_three_to_a_topic(language: str) -> None:
    assert [(topic, len(rows)) for topic, rows in beginnings_in(language)] == [(topic, 3) for topic in TOPICS]


def test_no_feed_stands_there_twice_and_each_has_an_address() -> None:
    assert len({each.url for each in BEGINNINGS}) == len(BEGINNINGS)
    assert all(each.url.startswith("https://") and each.title for each in BEGINNINGS)
    assert beginnings_in("pt-br") == beginnings_in("en")


@pytest.mark.django_db
def test_a_newcomer_chooses_and_follows(client: Client) -> None:
    user = make_user("ann")
    give_role(user, EDITOR)
    client.force_login(user)
    page = flat(client.get("/read/", {"feeds": "fr"}).content)
    assert "Le Monde" in page
    wanted = [each.url for each in BEGINNINGS if each.language == "fr" and each.topic == "news"]
    client.post("/read/begin/", {"feed": [*wanted, "http://10.0.0.1/other"]})
    assert Feed.objects.count() == 3
    assert {each.folder for each in Subscription.objects.all()} == {"News"}
    assert client.post("/read/begin/", {}, follow=True).status_code == 200


@pytest.mark.django_db
def test_the_command_says_which_no_longer_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], settings: pytest.FixtureRequest
) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)  # type: ignore[attr-defined]
    with WebServer({"/a": Reply(RSS, headers={"Content-Type": "application/rss+xml"})}) as server:
        rows = [Beginning("en", "news", name, f"{server.origin}/{name}") for name in ("a", "gone")]
        monkeypatch.setattr("feeds.management.commands.check_beginnings.BEGINNINGS", rows)
        with pytest.raises(SystemExit):
            call_command("check_beginnings")
    said = capsys.readouterr().out
    assert "a: silent since 2026-01-05" in said or "a: answers" in said
    assert "gone: no feed any more" in said
    assert "1 of 2 answer." in said
    assert beginnings.BEGINNINGS
