"""The page and the API of newsletters, and that nobody visits what comes by mail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from articles.models import Article
from crawler.database.readers import read_as, read_for
from feeds.mail import calls
from feeds.mail.models import MailAddress, Mailbox, Newsletter
from feeds.models import Feed
from feeds.visiting.explain import next_visits
from feeds.visiting.selection import _mark, allowed, retrieve_now, select_ranked, select_training
from feeds.visiting.ticks import tick
from feeds.work import FeedWork
from tests.factories import make_feed, make_token, make_user
from tests.feeds.mail.messages import issue
from tests.html import flat
from tests.servers import Reply, WebServer

pytestmark = pytest.mark.django_db
MAILBOX = {"host": "imap.example.org", "login": "ada", "secret": "Tr0ub4dor"}


@pytest.fixture
def ada(client: Client) -> Any:
    user = make_user("ada")
    client.force_login(user)
    return user


@pytest.fixture(autouse=True)
def _nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("views", "api"):
        monkeypatch.setattr(f"feeds.mail.{place}.look_into_mailbox.delay", lambda _: None)


def received(user: Any, **headers: str) -> Newsletter:
    address = MailAddress.objects.create(user=user)
    Client().post(f"/inbound/{address.key}/", issue(**headers), "message/rfc822")
    return Newsletter.objects.get(user=user)


@pytest.fixture
def letters() -> Iterator[WebServer]:
    with WebServer() as web:
        yield web


def test_without_a_domain_the_page_says_how_to_set_it_up(ada: Any, client: Client, settings: Any) -> None:
    settings.INBOUND_MAIL_DOMAIN = ""
    assert "INBOUND_MAIL_DOMAIN" in client.get("/settings/newsletters/").content.decode()
    settings.INBOUND_MAIL_DOMAIN = "in.example.org"
    client.post("/newsletters/addresses/", {"name": "Letters"})
    row = MailAddress.objects.get()
    page = client.get("/settings/newsletters/").content.decode()
    assert "INBOUND_MAIL_DOMAIN" not in page
    assert f"{row.key}@in.example.org" in page
    client.post(f"/newsletters/addresses/{row.pk}/delete/")
    assert not MailAddress.objects.exists()


def test_a_mailbox_is_added_and_removed(ada: Any, client: Client) -> None:
    assert client.post("/newsletters/mailboxes/", MAILBOX).status_code == 302
    row = Mailbox.objects.get()
    assert (row.port, row.security, row.folder, row.secret) == (993, "tls", "INBOX", "Tr0ub4dor")
    assert client.post("/newsletters/mailboxes/", MAILBOX).status_code == 422
    client.post(f"/newsletters/mailboxes/{row.pk}/delete/")
    assert not Mailbox.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"security": "none"},
        {"port": "25"},
        {"host": "a b"},
        {"login": "ada\r\nA1 DELETE INBOX"},
        {"secret": "x\r\nA1 DELETE INBOX"},
        {"folder": "a\r\nA1 DELETE INBOX"},
        {"secret": ""},
    ],
)
def test_what_is_no_mailbox_is_refused(ada: Any, client: Client, fields: dict[str, str]) -> None:
    answer = client.post("/newsletters/mailboxes/", MAILBOX | fields)
    assert answer.status_code in {400, 422}
    assert "Tr0ub4dor" not in answer.content.decode()
    assert not Mailbox.objects.exists()


def test_another_person_sees_nothing_of_it(ada: Any) -> None:
    row = received(ada)
    other = Client()
    other.force_login(make_user("bob"))
    page = other.get("/settings/newsletters/").content.decode()
    assert "Harbour weekly" not in page
    assert other.post(f"/newsletters/{row.pk}/follow/").status_code == 404
    assert other.post(f"/newsletters/addresses/{MailAddress.objects.get().pk}/delete/").status_code == 404
    read_as(make_user("eve").pk)
    assert not Feed.objects.exists()
    read_for(None)


def test_the_page_says_who_vouches_for_the_sender(ada: Any, client: Client) -> None:
    sentence = "Authentication-Results"
    received(ada, **{sentence.replace("-", "_"): "mx.example; dkim=pass header.d=harbour-weekly.example"})
    assert "Its sender is confirmed for harbour-weekly.example." in flat(
        client.get("/settings/newsletters/").content
    )
    Newsletter.objects.update(authentication="")
    assert "Its sender is not confirmed." in flat(client.get("/settings/newsletters/").content)


def test_one_click_unsubscribes_only_when_it_is_pressed(
    ada: Any, client: Client, letters: WebServer, settings: Any
) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    letters.replies["/leave"] = Reply(b"", 200)
    row = received(ada, List_Unsubscribe_Post="List-Unsubscribe=One-Click")
    assert row.unsubscribe_one_click
    assert letters.requests == []
    calls.sign_off(f"{letters.origin}/leave")
    (request,) = letters.requests
    assert request.body == b"List-Unsubscribe=One-Click"


def test_the_result_of_unsubscribing_is_said(
    ada: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = received(ada, List_Unsubscribe_Post="List-Unsubscribe=One-Click")
    answer = client.post(f"/newsletters/{row.pk}/unsubscribe/", follow=True)  # a domain that nobody has
    assert "could not be unsubscribed" in answer.content.decode()
    monkeypatch.setattr(calls, "sign_off", lambda _: None)
    answer = client.post(f"/newsletters/{row.pk}/unsubscribe/", follow=True)
    assert "you are unsubscribed there" in answer.content.decode()
    row.refresh_from_db()
    assert row.unsubscribed is not None


def test_the_api_makes_shows_and_deletes(ada: Any) -> None:
    api, headers = Client(), {"Authorization": make_token(ada)}
    for path, data in (("addresses", {"name": "x"}), ("mailboxes", MAILBOX)):
        answer = api.post(f"/api/newsletters/{path}/", data, "application/json", headers=headers)
        assert answer.status_code == 201, answer.content
        assert "Tr0ub4dor" not in answer.content.decode()
        (row,) = api.get(f"/api/newsletters/{path}/", headers=headers).json()["results"]
        assert "secret" not in row
        strangers = {"Authorization": make_token(make_user())}
        assert api.delete(f"/api/newsletters/{path}/{row['id']}/", headers=strangers).status_code == 404
        assert api.delete(f"/api/newsletters/{path}/{row['id']}/", headers=headers).status_code == 204
    answer = api.post("/api/newsletters/mailboxes/", {"host": "x"}, "application/json", headers=headers)
    assert answer.status_code == 400


def test_feeds_of_mail_are_never_visited() -> None:
    now = datetime.now(UTC)
    for phase in ("training", "normal"):
        make_feed(kind="mail", phase=phase, not_before=now - timedelta(days=1), training_due=now)
    feeds = Feed.objects.all()
    assert not allowed(now).exists()
    assert select_training(now, everything=True) == 0
    assert select_ranked(now, 10, everything=True).taken == 0
    assert retrieve_now(feeds, "asked for") == 0
    _mark(now, {feed.pk: "x" for feed in feeds}, 2)
    assert not feeds.filter(selected_at__isnull=False).exists()
    assert tick(now, everything=True) is not None
    assert not feeds.filter(selected_at__isnull=False).exists()
    feeds.update(selected_at=now)  # whoever did it
    assert not FeedWork().waiting(now).exists()
    assert not Feed.objects.failing().exists()


def test_selected_feeds_of_mail_are_not_leased_either() -> None:
    from crawler.engine.leases import hand_out  # noqa: PLC0415

    now = datetime.now(UTC)
    make_feed(kind="mail", selected_at=now, not_before=now)
    hand_out(now)
    assert not Feed.objects.filter(lease__isnull=False).exists()


def test_a_feed_of_mail_says_that_it_is_not_visited() -> None:
    feed = make_feed(kind="mail")
    visit = next_visits([feed], datetime.now(UTC))[feed.pk]
    assert (visit.at, visit.reason) == (None, "no visit: its issues come by mail")


def test_nothing_is_asked_of_a_sender_before_an_issue_is_opened(ada: Any, letters: WebServer) -> None:
    letters.replies["/face.png"] = Reply(b"x", headers={"Content-Type": "image/png"})
    address = MailAddress.objects.create(user=ada)
    message = (
        b"From: Harbour <news@harbour.example>\r\nList-Id: <weekly.harbour.example>\r\nSubject: Lamps\r\n"
        b"Message-ID: <1@harbour.example>\r\nContent-Type: text/html\r\n\r\n"
        + f'<p>Words of it.</p><img src="{letters.origin}/face.png" width="600" height="300">'.encode()
    )
    assert Client().post(f"/inbound/{address.key}/", message, "message/rfc822").status_code == 202
    article = Article.objects.get()
    assert (article.owner, article.image, article.page) == (ada, "", None)
    assert "/face.png" in article.content
    assert letters.requests == []
