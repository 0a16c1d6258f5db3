# ruff: noqa: E501 (messages stand as they come)
"""No message and no server of mail harms another: bombs by POST, forged senders, IMAP that was made to hurt."""

from __future__ import annotations

import base64
import contextlib
import socketserver
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from articles.models import Article
from crawler.reading.limits import LIMITS
from crawler.reading.mail.body import MAX_TEXT
from feeds.mail import calls, imap, looking
from feeds.mail.delivery import follow_newsletter
from feeds.mail.models import MailAddress, Mailbox, Newsletter
from tests.factories import make_user
from tests.feeds.mail.imap_server import ImapServer
from tests.feeds.mail.messages import issue

pytestmark = pytest.mark.django_db

RFC822 = "message/rfc822"
SECONDS = 30.0
GROWTH = 6
"""Characters of HTML for one of text: `&gt;`, or `<br>` on each line."""
HEAD = b"From: A <a@a.example>\r\nSubject: s\r\nList-Id: <a.a.example>\r\n"
NAMED = {
    "no mail server answers there", "it did not answer in time",
    "the mail server gave an answer that was not understood",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _on_loopback(settings: Any) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)


@pytest.fixture
def address() -> MailAddress:
    return MailAddress.objects.create(user=make_user("ada"))


def post(address: MailAddress, data: bytes, kind: str = RFC822) -> int:
    return Client().post(f"/inbound/{address.key}/", data, kind).status_code


def parts(number: int, head: bytes = b"", body: bytes = b"") -> bytes:
    return (
        HEAD
        + b"Content-Type: multipart/mixed; boundary=x\r\n\r\n"
        + (b"--x\r\n" + head + b"\r\n" + body + b"\r\n") * number
        + b"--x--\r\n"
    )


def nested(levels: int) -> bytes:
    return b"".join(HEAD + b"Content-Type: message/rfc822\r\n\r\n" for _ in range(levels)) + HEAD + b"\r\nx"


def nested_parts(levels: int) -> bytes:
    opened = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(levels)
    )
    return HEAD + opened + b"\r\nx"


def encoded(body: bytes, kind: bytes = b"text/html") -> bytes:
    return (
        HEAD
        + b"Content-Type: "
        + kind
        + b"; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + base64.encodebytes(body)
    )


BOMBS: dict[str, Callable[[], bytes]] = {
    "ten thousand parts": lambda: parts(10_000),
    "ten thousand parts within parts": lambda: parts(150, b"Content-Type: multipart/mixed; boundary=y\r\n", b"--y\r\n\r\nx\r\n" * 150),
    "ten megabytes of headers": lambda: HEAD + b"X-A: b\r\n" * 1_200_000 + b"\r\nx",
    "a header of ten megabytes": lambda: HEAD + b"X-A: " + b"b" * 9_900_000 + b"\r\n\r\nx",
    "a header of a million folds": lambda: HEAD + b"To: a" + b"\r\n a" * 60_000 + b"\r\n\r\nx",
    "many addresses": lambda: HEAD + b"To: " + b"a@b.example, " * 15_000 + b"\r\n\r\nx",
    "comments within comments": lambda: HEAD + b"To: " + b"(" * 100_000 + b"\r\n\r\nx",
    "many encoded words": lambda: HEAD.replace(b"Subject: s", b"Subject: " + b"=?utf-8?q?=41?= " * 10_000) + b"\r\nx",
    "two hundred messages": lambda: nested(200),
    "two hundred levels": lambda: nested_parts(200),
    "seven megabytes of base64": lambda: encoded(b"<p>" * 2_400_000),
    "tables in base64": lambda: encoded(b"<table><tr><td>" * 400_000),
    "attributes": lambda: encoded(b"<p " + b" ".join(b"a%d=1" % n for n in range(500_000)) + b">"),
    "styles": lambda: encoded(b"<style>" + b"p{" * 2_000_000 + b"</style>x"),
    "comments": lambda: encoded(b"<!--[if mso]>" * 300_000),
    "quoted-printable": lambda: HEAD + b"Content-Transfer-Encoding: quoted-printable\r\n\r\n" + b"= \t" * 3_000_000,
    "quotations": lambda: HEAD + b"\r\n" + b"> " * 2_000_000,
    "quotations on each line": lambda: HEAD + b"\r\n" + b"".join(b">" * (n % 300) + b"x\r\n" for n in range(60_000)),
    "addresses in text": lambda: HEAD + b"\r\n" + b"http://" * 600_000,
    "a boundary everywhere": lambda: HEAD + b"Content-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x " * 2_400_000,
    "Japanese without an end": lambda: HEAD + b"\r\n" + b"\x1b$B\x1b(B" * 1_200_000,
    "a title of nine megabytes": lambda: HEAD.replace(b"Subject: s", b"Subject: " + b"s" * 9_000_000) + b"\r\nx",
    "eleven megabytes": lambda: HEAD + b"\r\n" + b"x" * 11_000_000,
    "pictures": lambda: parts(190, b"Content-Type: image/png\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\n", base64.b64encode(b"\x89PNG\r\n" + b"x" * 36_000)),
    "NUL and halves": lambda: HEAD + b"Content-Type: text/html; charset=utf-8\r\n\r\n<p>a\0b&#xD800;&#0;" + b"\xed\xa0\x80\xff",
    "nothing": lambda: b"",
}  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_refused_or_read_within_limits(bomb: Callable[[], bytes], address: MailAddress) -> None:
    data = bomb()
    begun = time.monotonic()
    status = post(address, data)
    assert status in {202, 400, 413, 415}
    assert time.monotonic() - begun < SECONDS
    for article in Article.objects.all():
        assert len(article.title) <= LIMITS.title
        assert len(article.text) <= MAX_TEXT
        assert len(article.content) <= MAX_TEXT * GROWTH
    assert Article.objects.count() <= int(status == 202)
    assert post(address, issue()) == 202
    assert Article.objects.filter(title="Harbour weekly no. 1").count() == 1


def test_a_form_of_many_fields_and_a_long_one_are_refused(address: MailAddress) -> None:
    many = b"&".join(b"a%d=b" % number for number in range(100_000))
    form = "application/x-www-form-urlencoded"
    assert post(address, many, form) in {400, 413, 415}
    assert post(address, b"email=" + b"x" * 11_000_000, form) in {400, 413}
    pieces = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="f%d"; filename="f"\r\n\r\nx\r\n' % n
        for n in range(10_000)
    )
    assert post(address, pieces + b"--x--", "multipart/form-data; boundary=x") in {400, 413, 415}
    assert post(address, issue()) == 202


def test_of_a_flood_of_messages_only_an_hours_are_taken(
    address: MailAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 20
    monkeypatch.setattr("feeds.mail.delivery.MAX_PER_HOUR", most)
    other = MailAddress.objects.create(user=make_user("bob"))
    statuses = [post(address, issue(number)) for number in range(5 * most)]
    assert statuses == [202] * most + [429] * (4 * most)
    assert Article.objects.count() == most
    assert post(other, issue()) == 202


VOUCHED = (
    "mx.example.org; dkim=pass header.d=harbour-weekly.example; dmarc=pass header.from=harbour-weekly.example"
)
FORGED = "mx.example.org; dkim=pass header.d=evil.example; dmarc=pass header.from=evil.example"


@pytest.mark.parametrize("results", ["", FORGED, "mx.example.org; dmarc=fail header.from=evil.example"])
def test_a_forged_list_changes_nothing_that_is_said_of_the_true_one(
    results: str, address: MailAddress
) -> None:
    assert post(address, issue(1, Authentication_Results=VOUCHED)) == 202
    forged = issue(
        2, From="Harbour weekly <x@evil.example>", Message_ID="<1@evil.example>",
        List_Unsubscribe="<https://evil.example/leave>", Authentication_Results=results,
    )  # fmt: skip
    assert post(address, forged) == 202
    true = Newsletter.objects.get(source_key__startswith="list:weekly.harbour-weekly.example")
    assert true.sender == "news@harbour-weekly.example"
    assert true.unsubscribe_url == "https://harbour-weekly.example/leave"
    assert (true.authentication, true.authenticated_domain) == ("pass", "harbour-weekly.example")
    assert (
        post(
            address,
            issue(3, List_Unsubscribe="<https://harbour-weekly.example/new>", Authentication_Results=VOUCHED),
        )
        == 202
    )
    true.refresh_from_db()
    assert true.unsubscribe_url == "https://harbour-weekly.example/new"


@pytest.mark.parametrize(
    "place",
    ["http://169.254.169.254/latest", "https://169.254.169.254/latest", "https://10.0.0.1/", "https://[::1]/",
     "https://127.0.0.1/", "https://localhost/", "https://0x7f000001/", "file:///etc/passwd", "javascript:alert(1)"],
)  # fmt: skip
def test_no_private_address_is_asked_to_end_a_subscription(
    place: str, address: MailAddress, client: Client, settings: Any
) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ()
    post(address, issue(1, List_Unsubscribe=f"<{place}>", List_Unsubscribe_Post="List-Unsubscribe=One-Click"))
    newsletter = Newsletter.objects.get()
    assert newsletter.unsubscribe_url.startswith(("http://", "https://")) or not newsletter.unsubscribe_url
    client.force_login(address.user)
    page = client.post(f"/newsletters/{newsletter.pk}/unsubscribe/", follow=True)
    assert page.status_code == 404 or "could not be unsubscribed" in page.content.decode()
    assert "javascript:" not in client.get("/settings/newsletters/").content.decode().replace(
        "javascript:void", ""
    )
    newsletter.refresh_from_db()
    assert newsletter.unsubscribed is None


class Scripted:
    """An IMAP server that does what a function does with each connection."""

    def __init__(self, act: Callable[[socketserver.StreamRequestHandler], None]) -> None:
        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    act(self)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.login = "ada@example.org"

    def __enter__(self) -> Scripted:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])


Talk = socketserver.StreamRequestHandler


def flood(talk: Talk, total: int = 1 << 30) -> None:
    for _ in range(total >> 20):
        talk.wfile.write(b"x" * (1 << 20))


def silence(talk: Talk) -> None:
    talk.connection.recv(1)
    time.sleep(SECONDS)


def drops(talk: Talk) -> None:
    talk.wfile.write(b"* OK ")
    for _ in range(int(SECONDS * 10)):
        talk.wfile.write(b"x")
        time.sleep(0.1)


def answering(**special: Callable[[Talk], None] | bytes) -> Callable[[Talk], None]:
    """As a server should, but for some commands: what is written or done for them."""

    def act(talk: Talk) -> None:
        talk.wfile.write(b"* OK ready\r\n")
        while line := talk.rfile.readline():
            tag, _, command = line.partition(b" ")
            words = command.decode().upper().split()
            name = (
                words[0] if words[0] != "UID" else words[1] + ("_BODY" if "BODY" in command.decode() else "")
            )
            answer = special.get(name, USUAL.get(name, b""))
            if callable(answer):
                answer(talk)
            else:
                talk.wfile.write(answer)
            if name in special and name.endswith("_BODY"):
                return
            talk.wfile.write(tag + b" OK done\r\n")

    return act


USUAL = {
    "CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n",
    "EXAMINE": b"* 2 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n",
    "SEARCH": b"* SEARCH 1 2\r\n",
    "FETCH": b"* 1 FETCH (UID 1 RFC822.SIZE 100)\r\n* 2 FETCH (UID 2 RFC822.SIZE 100)\r\n",
}


def hundred_megabytes(talk: Talk) -> None:
    talk.wfile.write(b"* 1 FETCH (UID 1 BODY[] {%d}\r\n" % 100_000_000)
    flood(talk, 100_000_000)


SERVERS: dict[str, Callable[[Talk], None]] = {
    "a gigabyte as its greeting": flood,
    "a gigabyte on one line": answering(SEARCH=flood),
    "a gigabyte of lines": answering(SEARCH=lambda talk: [talk.wfile.write(b"* x\r\n" * 200_000) for _ in range(1_000)] and None),  # type: ignore[func-returns-value]
    "no answer at all": silence,
    "no answer to a question": answering(SEARCH=silence),
    "a letter now and then": drops,
    "a literal of 2^40 bytes": answering(FETCH_BODY=b"* 1 FETCH (UID 1 BODY[] {1099511627776}\r\nx"),
    "a literal of 2^70 bytes": answering(FETCH_BODY=b"* 1 FETCH (UID 1 BODY[] {1180591620717411303424}\r\nx"),
    "a literal of a hundred megabytes": answering(FETCH_BODY=hundred_megabytes),
    "an end in the middle of a message": answering(FETCH_BODY=b"* 1 FETCH (UID 1 BODY[] {5000}\r\nFrom: a"),
    "an end instead of an answer": lambda talk: talk.wfile.write(b"* OK ready\r\n") and None,
    "a goodbye": lambda talk: talk.wfile.write(b"* BYE away\r\n") and None,
    "numbers without an end": answering(SEARCH=b"* SEARCH " + b"9" * 900_000 + b"\r\n"),
    "words for numbers": answering(SEARCH=b"* SEARCH one two\r\n"),
    "a validity that is none": answering(EXAMINE=b"* OK [UIDVALIDITY x] valid\r\n"),
    "a validity beyond its column": answering(EXAMINE=b"* OK [UIDVALIDITY 99999999999999999999999] valid\r\n"),
    "numbers beyond their column": answering(SEARCH=b"* SEARCH 99999999999999999999999\r\n"),
    "another protocol": lambda talk: talk.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n") and None,
}  # fmt: skip


def mailbox_at(server: Any, **fields: Any) -> Mailbox:
    user = fields.pop("user", None) or make_user()
    mailbox = Mailbox(
        user=user, host="127.0.0.1", port=server.port, security="none", login=server.login, **fields
    )
    mailbox.secret = "open sesame"
    mailbox.save()
    mailbox.refresh_from_db()
    return mailbox


def look(mailbox: Mailbox) -> bool:
    Mailbox.objects.filter(pk=mailbox.pk).update(next_look=datetime.now(UTC))
    is_more = looking.look(mailbox.pk, datetime.now(UTC))
    mailbox.refresh_from_db()
    return is_more


@pytest.mark.parametrize("act", SERVERS.values(), ids=SERVERS.keys())
def test_a_hostile_mail_server_is_a_failure_in_words(
    act: Callable[[Talk], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "LOOK_PROGRAM_SECONDS", 6.0)
    with Scripted(act) as hostile, ImapServer() as healthy:
        healthy.messages = {1: issue(1)}
        broken, sound = mailbox_at(hostile), mailbox_at(healthy)
        begun = time.monotonic()
        assert not look(broken)
        assert time.monotonic() - begun < SECONDS
        assert broken.failure in NAMED
        assert broken.next_look > datetime.now(UTC)
        assert broken.last_uid == 0
        look(sound)
        assert (sound.failure, sound.last_uid) == ("", 1)


def test_other_numbers_at_each_look_bring_no_endless_looks() -> None:
    with ImapServer() as server:
        server.messages = {number: issue(number) for number in range(1, imap.MAX_MESSAGES + 10)}
        mailbox = mailbox_at(server)
        assert look(mailbox)
        follow_newsletter(Newsletter.objects.get())
        for validity in range(100, 102):
            server.validity = validity
            assert not look(mailbox), "it would look again at once for ever"
            assert mailbox.next_look > datetime.now(UTC)
        assert Article.objects.count() == imap.MAX_MESSAGES
        assert look(mailbox) is False
        assert Article.objects.count() == len(server.messages)
