"""Mailboxes, looked into by IMAP on loopback: what is offered, what is kept, and what goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from articles.models import Article
from feeds.mail import delivery, imap, looking
from feeds.mail.delivery import follow_newsletter
from feeds.mail.imap import ImapAccount, folder_name
from feeds.mail.looking import look
from feeds.mail.models import MailAddress, Mailbox, Newsletter, SubscriptionRequest
from feeds.mail.tasks import begin_looks
from feeds.models import Feed
from tests.factories import make_token, make_user
from tests.feeds.mail.imap_server import ImapServer
from tests.feeds.mail.messages import issue, personal_letter, request_to_confirm

pytestmark = pytest.mark.django_db
SECRET = "open sesame"


@pytest.fixture
def server(settings: Any) -> Iterator[ImapServer]:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    with ImapServer(secret=SECRET) as server:
        server.messages |= {number: issue(number) for number in (3, 4, 5)}
        yield server


def mailbox_at(server: ImapServer, secret: str = SECRET, **fields: Any) -> Mailbox:
    fields = {"host": "127.0.0.1", "port": server.port, "security": "none", "login": server.login} | fields
    mailbox = Mailbox(user=fields.pop("user", None) or make_user("ada"), **fields)
    mailbox.secret = secret
    mailbox.save()
    mailbox.refresh_from_db()
    return mailbox


def look_again(mailbox: Mailbox) -> Mailbox:
    Mailbox.objects.filter(pk=mailbox.pk).update(next_look=datetime.now(UTC))
    look(mailbox.pk, datetime.now(UTC))
    mailbox.refresh_from_db()
    return mailbox


def test_a_newsletter_is_offered_and_kept_once_followed(server: ImapServer) -> None:
    mailbox = look_again(mailbox_at(server))
    assert mailbox.failure == ""
    offered = Newsletter.objects.get()
    assert (offered.state, offered.messages, offered.newest) == ("offered", 3, "Harbour weekly no. 5")
    assert not Article.objects.exists()
    assert not Feed.objects.exists()
    follow_newsletter(offered)
    look_again(mailbox)
    assert Article.objects.count() == 3
    server.messages[6] = issue(6)
    look_again(mailbox)
    look_again(mailbox)
    assert Article.objects.count() == 4
    offered.refresh_from_db()
    assert (offered.messages, offered.newest) == (4, "Harbour weekly no. 6")
    assert len(offered.subjects) == 3


def test_nothing_is_changed_at_the_server(server: ImapServer) -> None:
    look_again(mailbox_at(server))
    names = {command.split()[0] for command in server.commands}
    assert names == {"CAPABILITY", "LOGIN", "EXAMINE", "UID", "LOGOUT"}
    assert {command.split()[1] for command in server.named("UID ")} == {"SEARCH", "FETCH"}
    assert all("PEEK" in command for command in server.named("BODY"))
    assert server.named("SINCE")


def test_letters_between_people_are_left_alone(server: ImapServer) -> None:
    server.messages = {1: personal_letter(), 2: request_to_confirm()}
    look_again(mailbox_at(server))
    assert not Newsletter.objects.exists()
    assert SubscriptionRequest.objects.count() == 1


def test_offers_are_counted_once_when_another_is_followed(server: ImapServer) -> None:
    server.messages[9] = issue(9, name="Lamp post")
    mailbox = look_again(mailbox_at(server))
    follow_newsletter(Newsletter.objects.get(name="Harbour weekly"))
    look_again(mailbox)
    assert Newsletter.objects.get(name="Lamp post").messages == 1


def test_one_that_is_not_wanted_is_not_offered_again(server: ImapServer, client: Client) -> None:
    mailbox = look_again(mailbox_at(server))
    client.force_login(mailbox.user)
    client.post(f"/newsletters/{Newsletter.objects.get().pk}/refuse/")
    server.messages[6] = issue(6)
    look_again(mailbox)
    row = Newsletter.objects.get()
    assert (row.state, row.messages, row.subjects) == ("refused", 0, [])
    assert "Found in your mailbox" not in client.get("/settings/newsletters/").content.decode()


def test_a_token_and_letters_of_other_scripts_sign_in(server: ImapServer) -> None:
    user = make_user("ada")
    assert look_again(mailbox_at(server, user=user, sign_in="token")).failure == ""
    server.secret = "sésame"
    assert look_again(mailbox_at(server, "sésame", user=user, folder="inbox2")).failure == (
        "there is no folder of this name"
    )
    assert look_again(mailbox_at(server, "wrong", user=user, sign_in="token", folder="x")).failure == (
        "the mail server does not accept this name and password"
    )


def test_a_wrong_password_is_said_in_words_and_tried_again_after_an_hour(server: ImapServer) -> None:
    mailbox = look_again(mailbox_at(server, "Tr0ub4dor"))
    assert mailbox.failure == "the mail server does not accept this name and password"
    now = datetime.now(UTC)
    assert mailbox.next_look > now + timedelta(minutes=58)
    assert not look(mailbox.pk, now + timedelta(minutes=30))
    assert len(server.named("LOGIN")) == 1


def test_the_secret_is_nowhere(
    server: ImapServer, client: Client, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    mailbox = look_again(mailbox_at(server, "Tr0ub4dor"))
    client.force_login(mailbox.user)
    headers = {"Authorization": make_token(mailbox.user)}
    shown = [
        client.get("/settings/newsletters/").content.decode(),
        Client().get("/api/newsletters/mailboxes/", headers=headers).content.decode(),
        Client().get(f"/api/newsletters/mailboxes/{mailbox.pk}/", headers=headers).content.decode(),
        repr(mailbox), str(mailbox), mailbox.failure, mailbox.sealed, caplog.text,
        repr(ImapAccount("h", 1, "tls", "l", "password", "Tr0ub4dor", "INBOX", 0, 0, 1)),
    ]  # fmt: skip
    assert "127.0.0.1" in shown[0]
    assert "127.0.0.1" in shown[1]
    assert not any("Tr0ub4dor" in text for text in shown)


def test_a_private_address_is_refused(server: ImapServer, settings: Any) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ()
    mailbox = look_again(mailbox_at(server))
    assert "private network" in mailbox.failure
    assert server.commands == []


def test_an_end_in_the_middle_loses_none_and_stores_none_twice(
    server: ImapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = look_again(mailbox_at(server))
    follow_newsletter(Newsletter.objects.get())
    keep, kept = delivery._keep, []

    def ending(*arguments: Any) -> None:
        keep(*arguments)
        kept.append(1)
        if len(kept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(delivery, "_keep", ending)
    with pytest.raises(KeyboardInterrupt):
        look_again(mailbox)
    assert Article.objects.count() == 1
    monkeypatch.undo()
    look_again(mailbox)
    assert Article.objects.count() == 3
    assert Newsletter.objects.get().messages == 3


def test_a_faulty_message_is_left_out(server: ImapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.messages[4] = b"nothing of the kind"
    mailbox = look_again(mailbox_at(server))
    assert (mailbox.unread, mailbox.last_uid, mailbox.failure) == (1, 5, "")
    assert Newsletter.objects.get().messages == 2


def test_other_uids_are_read_from_the_start(server: ImapServer) -> None:
    mailbox = look_again(mailbox_at(server))
    follow_newsletter(Newsletter.objects.get())
    look_again(mailbox)
    server.validity, server.messages = 8, {1: issue(5), 2: issue(6)}
    mailbox = look_again(mailbox)
    assert (mailbox.uid_validity, mailbox.last_uid) == (8, 2)
    assert Article.objects.count() == 4


def test_many_messages_take_several_looks(server: ImapServer) -> None:
    server.messages = {number: issue(number) for number in range(1, imap.MAX_MESSAGES + 4)}
    mailbox = mailbox_at(server)
    assert look(mailbox.pk, datetime.now(UTC))
    mailbox.refresh_from_db()
    assert mailbox.last_uid == imap.MAX_MESSAGES
    assert not look(mailbox.pk, datetime.now(UTC))
    assert Newsletter.objects.get().messages == imap.MAX_MESSAGES + 3


def test_a_message_by_mailbox_and_by_address_is_one_article(server: ImapServer) -> None:
    mailbox = mailbox_at(server)
    address = MailAddress.objects.create(user=mailbox.user)
    assert Client().post(f"/inbound/{address.key}/", issue(4), "message/rfc822").status_code == 202
    look_again(mailbox)
    assert Article.objects.count() == 3
    assert Feed.objects.count() == 1


def test_a_tick_looks_into_what_is_due(server: ImapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox, asked = mailbox_at(server), []
    monkeypatch.setattr("feeds.mail.tasks.look_into_mailbox.delay", asked.append)
    begin_looks(datetime.now(UTC))
    look_again(mailbox)
    begin_looks(datetime.now(UTC))
    begin_looks(datetime.now(UTC) + looking.PAUSE)
    assert asked == [mailbox.pk, mailbox.pk]


def test_names_of_folders_are_written_as_imap_has_them() -> None:
    assert folder_name("Entwürfe & Co") == "Entw&APw-rfe &- Co"
    assert folder_name('a"b') == 'a\\"b'
