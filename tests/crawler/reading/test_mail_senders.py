# ruff: noqa: E501 (addresses stand as they come)
"""Newsletters of each platform: the whole text, no tracker, and one identity over all issues."""

from __future__ import annotations

import pytest

from crawler.reading.mail import read_message, source_key
from crawler.reading.mail.record import Mail
from tests.crawler.reading.messages import PARAGRAPHS, SENDERS, TRACKERS, alternative, message, table, words

EACH = pytest.mark.parametrize("sender", SENDERS)


def key(**facts: str) -> str:
    return source_key(Mail("1", **facts))  # type: ignore[arg-type]


@EACH
def test_the_whole_text_is_there(sender: str) -> None:
    mail = read_message(SENDERS[sender]("gazette", 1))
    assert [one for one in (*PARAGRAPHS, "Issue 1.") if one not in mail.text] == []
    assert "OUTLOOK" not in mail.text
    assert mail.sent == 1796007600.0


@EACH
def test_no_tracker_is_left(sender: str) -> None:
    mail = read_message(SENDERS[sender]("gazette", 1))
    assert [mark for mark in TRACKERS if mark in mail.html] == []
    assert mail.html.count("<img") == 0
    if ">More<" in mail.html:
        assert 'href="https://a.example/1' in mail.html or mail.opaque_links == 1


@EACH
def test_two_issues_have_one_key_and_two_newsletters_have_two(sender: str) -> None:
    first, second = (source_key(read_message(SENDERS[sender]("gazette", issue))) for issue in (1, 2))
    other = source_key(read_message(SENDERS[sender]("almanac", 1)))
    assert first == second != other


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"list_id": "abc.123.list-id.mcsv.net"}, "list:abc.list-id.mcsv.net"),
        ({"list_id": "announce.2600.com"}, "list:announce.2600.com"),
        ({"list_id": "weekly-20261101.a.example"}, "list:weekly.a.example"),
        ({"list_id": "7223842.xt.local", "sender_address": "news@a.example"}, "from:news@a.example"),
        ({"list_id": "7223842.xt.local"}, "list:7223842.xt.local"),
        ({"sender_address": "bounce+12345-me=home.example@a.example"}, "from:bounce@a.example"),
        ({"sender_address": "name+podcast@a.example"}, "from:name+podcast@a.example"),
        ({"sender_address": "no-reply-81724@em8123.a.example"}, "from:no-reply@a.example"),
        (
            {"sender_address": "no-reply@substack.com", "sender_name": "The  Letter"},
            "from:no-reply@substack.com/the letter",
        ),
        ({"sender_address": "ann@web3.example"}, "from:ann@web3.example"),
        ({"sender_name": "Ann"}, "name:ann"),
    ],
)
def test_the_rule_of_keys(facts: dict[str, str], expected: str) -> None:
    assert key(**facts) == expected


def test_preheader_author_view_and_one_click() -> None:
    mail = read_message(SENDERS["substack"]("gazette", 3))
    assert mail.summary == "Herons return"
    assert mail.author == "Gazette"
    assert mail.view_url == "https://gazette.substack.com/p/issue-3"
    assert mail.unsubscribe_one_click
    assert "Herons return" not in mail.text


@pytest.mark.parametrize(
    ("header", "post", "expected"),
    [
        ("<https://a.example/u>", "List-Unsubscribe=One-Click", ("https://a.example/u", "", True)),
        ("<http://a.example/u>", "List-Unsubscribe=One-Click", ("http://a.example/u", "", False)),
        ("<https://a.example/u>", "", ("https://a.example/u", "", False)),
        (
            "<mailto:u@a.example?subject=x>",
            "List-Unsubscribe=One-Click",
            ("", "u@a.example?subject=x", False),
        ),
        (
            "<http://a.example/u>, <https://a.example/v>",
            "List-Unsubscribe=One-Click",
            ("https://a.example/v", "", True),
        ),
        ("https://a.example/u", "", ("https://a.example/u", "", False)),
        ("<https://a.example/u\r\n ?x=1>", "", ("https://a.example/u?x=1", "", False)),
        ("=?us-ascii?q?=3Chttps=3A=2F=2Fa.example=2Fu=3E?=", "", ("https://a.example/u", "", False)),
        (
            "<mailto:u@a.example>\r\nList-Unsubscribe: <https://a.example/u>",
            "List-Unsubscribe=One-Click",
            ("https://a.example/u", "u@a.example", False),
        ),
    ],
)
def test_unsubscribing(header: str, post: str, expected: tuple[str, str, bool]) -> None:
    mail = read_message(message({"List-Unsubscribe": header, "List-Unsubscribe-Post": post}, words(1)))
    assert (mail.unsubscribe_url, mail.unsubscribe_mail, mail.unsubscribe_one_click) == expected


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (
            ["mx.h.example; dkim=pass header.d=a.example; dmarc=pass (p=NONE) header.from=a.example"],
            ("pass", "a.example"),
        ),
        (
            [
                "mx.h.example; dmarc=fail header.from=a.example",
                "mx.h.example; dmarc=pass header.from=a.example",
            ],
            ("fail", "a.example"),
        ),
        (["mx.h.example; none", "x; dmarc=pass header.from=a.example"], ("", "")),
        (["mx.h.example; dkim=pass header.d=other.example"], ("", "")),
        (["mx.h.example; dkim=pass header.i=@mail.a.example"], ("pass", "mail.a.example")),
        (
            [
                'mx.h.example; spf=pass ("a) dmarc=pass (b"@evil.example) smtp.mailfrom="a; dmarc=pass header.from=a.example"@evil.example'
            ],
            ("", ""),
        ),
        (["mx.h.example; (note (x) ; dmarc=pass header.from=a.example) spf=fail"], ("", "")),
        (["mx.h.example; dmarc=fail header.from=a.example; dmarc=pass header.from=a.example"], ("", "")),
        ([], ("", "")),
    ],
)
def test_authentication(results: list[str], expected: tuple[str, str]) -> None:
    top = "".join(f"Authentication-Results: {one}\r\n" for one in results)
    mail = read_message(top.encode() + message({"DKIM-Signature": "v=1; d=a.example"}, words(1)))
    assert (mail.authentication, mail.authenticated_domain) == expected


def test_an_inner_message_vouches_for_nothing() -> None:
    inner = b"Authentication-Results: x; dmarc=pass header.from=a.example\r\n" + message({}, words(1))
    mail = read_message(b"From: me@home.example\r\nContent-Type: message/rfc822\r\n\r\n" + inner)
    assert (mail.sender_address, mail.authentication) == ("a@a.example", "")


CONFIRMATIONS = {
    "en": ("Please confirm your subscription", "Confirm subscription"),
    "de": ("Bitte bestätige deine Anmeldung", "Anmeldung bestätigen"),
    "fr": ("Confirmez votre inscription", "Je confirme mon inscription"),
    "es": ("Confirma tu suscripción", "Confirmar suscripción"),
    "ja": ("メールアドレスの確認", "登録を確認する"),
    "pt": ("Confirme sua inscrição", "Confirmar inscrição"),
    "it": ("Conferma la tua iscrizione", "Conferma iscrizione"),
    "nl": ("Bevestig je aanmelding", "Aanmelding bevestigen"),
    "ru": ("Подтвердите подписку", "Подтвердить подписку"),
    "zh": ("请确认您的订阅", "确认订阅"),
}


@pytest.mark.parametrize("language", CONFIRMATIONS)
def test_confirmations(language: str) -> None:
    subject, label = CONFIRMATIONS[language]
    html = table(f"<p>{subject}</p><a href='https://a.example/x?token=7&amp;utm_source=a'>{label}</a>")
    mail = read_message(alternative({"Subject": subject}, html))
    assert (mail.is_confirmation, mail.confirm_url) == (True, "https://a.example/x?token=7&utm_source=a")


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("Your subscription is confirmed", "<p>Welcome.</p><a href='https://a.example/'>Home</a>"),
        ("The week", words(1) * 20 + "<a href='https://a.example/confirm'>Confirm subscription</a>"),
        ("An issue", words(1) + "<a href='https://a.example/u'>Unsubscribe</a>"),
    ],
)
def test_issues_are_no_confirmations(subject: str, body: str) -> None:
    assert not read_message(
        message({"Subject": subject}, body * (9 if "week" in subject else 1))
    ).is_confirmation


def test_mailman_asks_by_mail() -> None:
    code = "0123456789abcdef0123456789abcdef01234567"
    mail = read_message(
        message({"Subject": f"confirm {code}"}, f"See https://l.example/confirm/list/{code}", "text/plain")
    )
    assert (mail.is_confirmation, mail.confirm_url) == (True, f"https://l.example/confirm/list/{code}")


@pytest.mark.parametrize(
    "label",
    ["View in browser", "View this email in your browser", "Im Browser ansehen", "Voir dans votre navigateur", "Ver en tu navegador",
     "Ver no navegador", "Apri nel browser", "Bekijk in de browser", "Открыть в браузере", "ブラウザで見る", "在浏览器中查看"],
)  # fmt: skip
def test_the_page_of_an_issue(label: str) -> None:
    mail = read_message(message({}, f"<a href='https://a.example/7?utm_source=x'>{label}</a>" + words(1)))
    assert mail.view_url == "https://a.example/7"
