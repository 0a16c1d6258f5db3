"""Sixty messages through real servers of mail, a process that is killed among them, and certificates."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from articles.models import Article
from crawler.fetching.sandboxed import client as confined
from feeds.mail.delivery import follow_newsletter
from feeds.mail.looking import look
from feeds.mail.models import MailAddress, Mailbox, Newsletter
from tests.crawler.reading.messages import TRACKERS
from tests.factories import make_user
from tests.services.letters import SIZE, Letter, letters
from tests.services.mail_servers import DOMAIN, LOGIN, SECRET, Dovecot, Exim, dovecot, exim

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]
ROOT = Path(__file__).parents[2]
LOOK = (
    "import sys, django; django.setup(); from datetime import UTC, datetime; "
    "from feeds.mail.looking import look; look(int(sys.argv[1]), datetime.now(UTC))"
)


@pytest.fixture
def imap() -> Iterator[Dovecot]:
    with dovecot() as server:
        yield server


@pytest.fixture
def mail_server() -> Iterator[Exim]:
    with exim() as server:
        yield server


@pytest.fixture(autouse=True)
def _product(settings: Any) -> Iterator[None]:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    settings.INBOUND_MAIL_DOMAIN = DOMAIN
    yield
    confined.programs.close()


def mailbox_at(server: Dovecot, security: str = "none", port: int = 0) -> Mailbox:
    mailbox = Mailbox(
        user=make_user("ada"), host="127.0.0.1", port=port or server.plain, security=security, login=LOGIN
    )
    mailbox.secret = SECRET
    mailbox.save()
    return mailbox


def due(mailbox: Mailbox) -> None:
    Mailbox.objects.filter(pk=mailbox.pk).update(next_look=datetime.now(UTC))


def look_through(mailbox: Mailbox) -> None:
    """Look until nothing more is there, as the worker does."""
    due(mailbox)
    while look(mailbox.pk, datetime.now(UTC)):
        pass
    mailbox.refresh_from_db()
    assert (mailbox.failure, mailbox.unread) == ("", 0)


def take(monkeypatch: pytest.MonkeyPatch, data: bytes, to: str) -> int:
    """The exit code of `receive_mail`."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    try:
        call_command("receive_mail", "--to", to, stderr=io.StringIO())
    except SystemExit as end:
        return int(str(end.code))
    return 0


def faults(sent: list[Letter]) -> list[str]:
    """What is wrong with the articles of these messages: each is there once, whole, and without trackers."""
    articles = list(Article.objects.all())
    found = [] if len(articles) == len(sent) else [f"{len(articles)} articles of {len(sent)} messages"]
    for letter in sent:
        whole = [one for one in articles if all(words in one.text for words in letter.words)]
        if not whole:
            found.append(f"{letter.name}: no article has its whole text")
    for article in articles:
        left = [mark for mark in TRACKERS if mark in article.content.replace("data:image", "")]
        if left or "t.example" in article.content:
            found.append(f"{article.title}: {left or 't.example'}")
    if sum(one.content.count("<img") for one in articles) > sum(one.pictures for one in sent) + 1:
        found.append("pictures that count readers")
    return found


def database_of_the_test() -> str:
    one = connection.settings_dict
    return f"postgresql://{one['USER']}:{one['PASSWORD']}@{one['HOST']}:{one['PORT'] or 5432}/{one['NAME']}"


def killed_in_the_middle(mailbox: Mailbox, settings: Any) -> int:
    """Let another process look into a mailbox, and kill it. Returns how many articles it had stored."""
    due(mailbox)
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
        "DJANGO_SETTINGS_MODULE": "crawler.settings", "DATABASE_URL": database_of_the_test(),
        "DATA_DIR": str(settings.DATA_DIR), "SECRET_KEY": settings.SECRET_KEY,
        "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
    }  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", LOOK, str(mailbox.pk)], cwd=ROOT, env=environment, stderr=subprocess.PIPE
    ) as process:
        until = time.monotonic() + 40
        while (stored := Article.objects.count()) < 5 and time.monotonic() < until:
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            time.sleep(0.005)
        process.kill()
    return stored


def test_each_of_sixty_messages_is_one_article_whatever_way_it_comes(
    imap: Dovecot, mail_server: Exim, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = letters()
    assert len(sent) == SIZE
    imap.append([letter.data for letter in sent])
    mailbox = mailbox_at(imap)
    look_through(mailbox)
    for newsletter in Newsletter.objects.all():
        follow_newsletter(newsletter)
    assert 5 <= killed_in_the_middle(mailbox, settings) < SIZE
    look_through(mailbox)
    assert faults(sent) == []

    address = MailAddress.objects.create(user=mailbox.user)
    mail_server.send([letter.data for letter in sent], address.address)
    codes = mail_server.serve(SIZE, lambda data, to: take(monkeypatch, data, to))
    assert codes == [0] * SIZE
    assert faults(sent) == []
    assert sum(Newsletter.objects.values_list("messages", flat=True)) == SIZE


def test_messages_come_through_the_pipe_alone(mail_server: Exim, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = letters()
    address = MailAddress.objects.create(user=make_user("ada"))
    mail_server.send([letter.data for letter in sent], address.address)
    assert set(mail_server.serve(SIZE, lambda data, to: take(monkeypatch, data, to))) == {0}
    assert faults(sent) == []
    mail_server.send([sent[0].data], f"nobody@{DOMAIN}")
    assert mail_server.serve(1, lambda data, to: take(monkeypatch, data, to)) == [os.EX_NOUSER]
    mail_server.send([sent[0].data], address.address)
    assert mail_server.serve(1, lambda _data, _to: os.EX_TEMPFAIL) == [os.EX_TEMPFAIL]
    until = time.monotonic() + 10
    while " == " not in mail_server.log() and time.monotonic() < until:
        time.sleep(0.05)
    assert " == " in mail_server.log(), "what cannot be taken now waits in the queue"
    assert " ** nobody@" in mail_server.log(), "an unknown address is told to the sender"


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_certificate_is_trusted_or_refused_in_words(
    security: str, imap: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    imap.append([letters()[0].data])
    mailbox = mailbox_at(imap, security, imap.tls if security == "tls" else imap.plain)
    due(mailbox)
    assert not look(mailbox.pk, datetime.now(UTC))
    mailbox.refresh_from_db()
    assert mailbox.failure == "the connection could not be encrypted, or its certificate is not valid"
    monkeypatch.setenv("SSL_CERT_FILE", str(imap.certificate))
    confined.programs.close()  # the next one is begun with what is trusted now
    look_through(mailbox)
    assert Newsletter.objects.get().messages == 1
