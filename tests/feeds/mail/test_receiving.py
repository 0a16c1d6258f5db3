"""Messages to a person's own address, by POST and by a mail server's pipe."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client

from articles.models import Article, Page, Subscription
from crawler.isolation.calls import ProgramError
from crawler.reading.mail.body import MAX_BYTES
from feeds.mail import calls, delivery
from feeds.mail.models import MailAddress, Newsletter, SubscriptionRequest
from feeds.models import Feed, PostingHistory
from tests.factories import make_user
from tests.feeds.mail.messages import issue, request_to_confirm

pytestmark = pytest.mark.django_db
RFC822 = "message/rfc822"


@pytest.fixture
def address(settings: Any) -> MailAddress:
    settings.INBOUND_MAIL_DOMAIN = "in.example.org"
    return MailAddress.objects.create(user=make_user("ada"), name="Letters")


def post(address: MailAddress, data: Any, kind: str = RFC822) -> int:
    return Client(enforce_csrf_checks=True).post(f"/inbound/{address.key}/", data, kind).status_code


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: str) -> tuple[int, str]:
    """The exit code of the command, and what it says."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    said = io.StringIO()
    try:
        call_command("receive_mail", *arguments, stderr=said)
    except SystemExit as end:
        return int(str(end.code)), said.getvalue()
    return 0, said.getvalue()


def test_a_message_becomes_an_article_of_a_feed_that_is_its_persons_alone(address: MailAddress) -> None:
    assert post(address, issue()) == 202
    article = Article.objects.get()
    feed = Feed.objects.get()
    assert (feed.kind, feed.owner, feed.title) == ("mail", address.user, "Harbour weekly")
    assert feed.canonical_url.startswith(f"mail:{address.user_id}:list:")
    assert feed.host.name == "harbour-weekly.example"
    assert article.identity == "harbour-weekly-1@harbour-weekly.example"
    assert (article.title, article.url) == ("Harbour weekly no. 1", "")
    assert "lamp of issue 1" in article.text
    assert "<p>" in article.content
    assert article.dating == "feed"
    assert Subscription.objects.get().feed == feed
    address.refresh_from_db()
    assert address.last_message is not None


def test_no_page_of_an_issue_is_fetched(address: MailAddress) -> None:
    page = "https://harbour-weekly.example/issues/1"
    assert post(address, issue(Archived_At=f"<{page}>", List_Post="<mailto:x@y.example>")) == 202
    assert Article.objects.get().url == page
    assert Page.objects.count() == 0


@pytest.mark.parametrize("field", ["email", "body-mime", "message", "raw"])
def test_a_form_of_a_mail_service_is_read(address: MailAddress, field: str) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(f"/inbound/{address.key}/", {field: issue().decode()}).status_code == 202
    file = SimpleUploadedFile("m.eml", issue(2))
    expected = 202
    assert client.post(f"/inbound/{address.key}/", {field: file}).status_code == expected
    assert Article.objects.count() == 2


def test_a_letter_in_another_charset_comes_through_a_form(address: MailAddress) -> None:
    data = issue(Content_Type="text/html; charset=utf-8").replace(b"lamp", "lämp".encode())
    assert Client().post(f"/inbound/{address.key}/", {"email": data.decode()}).status_code == 202
    assert "lämp" in Article.objects.get().text


def test_it_says_what_it_does_not_take(address: MailAddress) -> None:
    assert post(address, b"nothing of the kind") == 400
    assert post(address, b"{}", "application/json") == 415
    assert Client().post(f"/inbound/{address.key}/", {"other": "x"}).status_code == 415
    assert post(address, b"Subject: x\r\n\r\n" + b"x" * MAX_BYTES) == 413
    encrypted = issue(Content_Type='multipart/encrypted; boundary="x"')
    assert post(address, encrypted) == 415
    assert Client().get(f"/inbound/{address.key}/").status_code == 405
    assert not Article.objects.exists()


def test_an_unknown_key_is_told_nothing(address: MailAddress) -> None:
    answer = Client().post("/inbound/harbour-0000000000/", issue(), RFC822)
    assert (answer.status_code, answer.content) == (404, b"not found")
    address.user.is_active = False
    address.user.save()
    assert post(address, issue()) == 404


def test_an_address_takes_so_many_an_hour(address: MailAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "MAX_PER_HOUR", 2)
    assert [post(address, issue(number)) for number in (1, 2, 3)] == [202, 202, 429]
    assert piped(monkeypatch, issue(3), "--to", address.address)[0] == 75


def test_keys_cannot_be_guessed() -> None:
    user = make_user()
    keys = {MailAddress.objects.create(user=user).key for _ in range(50)}
    assert len(keys) == 50
    assert all(key == key.lower() and len(key.partition("-")[2]) == 10 for key in keys)


def test_the_same_message_comes_once(address: MailAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        assert post(address, issue()) == 202
        assert piped(monkeypatch, issue(), "--to", address.address) == (0, "")
    assert Article.objects.count() == 1
    assert Newsletter.objects.get().messages == 1


def test_a_pipe_takes_the_address_from_the_message(
    address: MailAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert piped(monkeypatch, issue(to=address.address))[0] == 0
    assert piped(monkeypatch, issue(2, Delivered_To=address.address.upper()))[0] == 0
    assert piped(monkeypatch, issue(3, X_Original_To=address.address))[0] == 0
    assert Article.objects.count() == 3


def test_a_pipe_answers_with_exit_codes(address: MailAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    for data, arguments, code in (
        (issue(), ("--to", "nobody@in.example.org"), 67),
        (issue(), (), 67),
        (b"no message", ("--to", address.address), 65),
        (b"", ("--to", address.address), 65),
    ):
        ended, said = piped(monkeypatch, data, *arguments)
        assert (ended, len(said.strip().splitlines())) == (code, 1)

    def away(*_: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr("feeds.mail.management.commands.receive_mail.deliver", away)
    assert piped(monkeypatch, issue(), "--to", address.address)[0] == 75


def test_a_bomb_harms_only_itself(address: MailAddress) -> None:
    bomb = (
        b"From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x\r\n\r\n\r\n" * 5000
    )
    assert post(address, bomb) in {400, 413}
    assert post(address, issue()) == 202
    assert Article.objects.count() == 1


def test_too_much_going_on_means_later(address: MailAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_: bytes) -> None:
        raise ProgramError("busy", "")

    monkeypatch.setattr(calls, "read", busy)
    assert post(address, issue()) == 503
    assert piped(monkeypatch, issue(), "--to", address.address)[0] == 75


def test_the_rhythm_is_learned(address: MailAddress) -> None:
    for number in (1, 2, 3):
        post(address, issue(number))
    history = PostingHistory.objects.get()
    assert history.days > 0
    feed = Feed.objects.get()
    assert feed.last_new == history.updated


def test_a_feed_that_was_removed_stays_so(address: MailAddress) -> None:
    post(address, issue())
    Feed.objects.get().delete()
    assert post(address, issue(2)) == 202
    assert not Feed.objects.exists()
    assert Newsletter.objects.get().state == "refused"


def test_a_request_to_confirm_is_shown_and_opened_by_the_person(address: MailAddress, client: Client) -> None:
    assert post(address, request_to_confirm()) == 202
    assert post(address, request_to_confirm()) == 202
    row = SubscriptionRequest.objects.get()
    assert row.confirm_url == "https://harbour-weekly.example/confirm/abc"
    client.force_login(address.user)
    page = client.get("/settings/newsletters/").content.decode()
    assert 'href="https://harbour-weekly.example/confirm/abc"' in page
    assert "noreferrer" in page
    client.post(f"/newsletters/requests/{row.pk}/done/")
    assert "confirm/abc" not in client.get("/settings/newsletters/").content.decode()
    assert not Article.objects.exists()
