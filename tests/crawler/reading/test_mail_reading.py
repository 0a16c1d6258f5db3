# ruff: noqa: E501 (messages stand as they come)
"""Messages in odd encodings and forms, cleaned HTML, and messages made to hurt."""

from __future__ import annotations

import base64
import time

import msgspec
import pytest

from crawler.reading.errors import ReadingError
from crawler.reading.mail import Mail, read_message
from crawler.reading.mail.trackers import unwrap
from tests.crawler.reading.messages import PARAGRAPHS, encoded, message, multipart, table, words

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"x" * 50).decode()


def raw(head: str, body: bytes) -> bytes:
    return f"From: a@a.example\r\nSubject: s\r\n{head}\r\n\r\n".encode() + body


CHARSETS = [
    ("text/plain; charset=iso-2022-jp", "港の壁は青い。".encode("iso2022_jp"), "港の壁は青い。"),
    ("text/plain", "港の壁は青い。".encode("iso2022_jp"), "港の壁は青い。"),
    ("text/plain; charset=iso-2022-jp", b"\x1b$B-!\x1b(B", "①"),
    ("text/plain; charset=iso-2022-jp", "港の壁".encode(), "港の壁"),
    ("text/plain; charset=gb2312", "港口的墙是蓝色的镕".encode("gb18030"), "港口的墙是蓝色的镕"),
    ("text/plain; charset=koi8-r", "Стена гавани синяя".encode("koi8-r"), "Стена гавани синяя"),
    ("text/plain", "Стена гавани синяя, и никто не знает".encode("koi8-r"), "Стена гавани синяя, и никто не знает"),
    ("text/plain; charset=iso-8859-1", "“Hafen” – 5 €".encode("cp1252"), "“Hafen” – 5 €"),
    ("text/plain; charset=iso-8859-1", "Möwe".encode(), "Möwe"),
    ("text/plain; charset=bogus", "Möwe".encode(), "Möwe"),
    ("text/plain; charset=us-ascii", "Möwe".encode("cp1252"), "Möwe"),
    ("text/plain; charset=utf-8", "Möwe".encode("cp1252"), "Möwe"),
    ("text/html", "<meta charset='windows-1251'><p>Стена</p>".encode("cp1251"), "Стена"),
    ("text/plain; charset=\"utf-8", "Möwe".encode(), "Möwe"),
    ("text/plain; charset=big5", "港口的牆".encode("big5"), "港口的牆"),
    ("text/plain; charset=euc-kr", "항구의 벽".encode("euc-kr"), "항구의 벽"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body", "text"), CHARSETS)
def test_charsets(kind: str, body: bytes, text: str) -> None:
    assert read_message(raw(f"Content-Type: {kind}", body)).text == text


@pytest.mark.parametrize(
    ("header", "subject"),
    [
        ("=?UTF-8?Q?M=C3?= =?utf-8?q?=B6we?=", "Möwe"),
        ("=?utf-8?B?TcO2?=\r\n =?utf-8?B?d2U=?=", "Möwe"),
        ("Möwe", "Möwe"),
        ("=?iso-8859-1?Q?M=F6we?= am Hafen", "Möwe am Hafen"),
        ("=?utf-8?Q?M=C3=B6we am Hafen?=", "Möwe am Hafen"),
        ("=?bogus?Q?Hafen?=", "Hafen"),
        ("=?utf-8?B?TcO2d2U?=", "Möwe"),
        ("=?iso-2022-jp?B?GyRCOUEbKEI=?=", "港"),
        ("Re: =?gb2312?B?uNu/2g==?=", "Re: 港口"),
        ("=?utf-8*de?Q?Hafen?=", "Hafen"),
    ],
)
def test_subjects(header: str, subject: str) -> None:
    assert read_message(message({"Subject": header}, "x")).subject == subject


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Ann <ann@a.example>", ("Ann", "ann@a.example")),
        ('"Lee, Ann" <ANN@a.example>', ("Lee, Ann", "ann@a.example")),
        ("=?utf-8?q?Ann=2C_Lee?= <ann@a.example>", ("Ann, Lee", "ann@a.example")),
        ("ann@a.example (Ann)", ("Ann", "ann@a.example")),
        ("Ann @ Lee <ann@a.example>", ("Ann @ Lee", "ann@a.example")),
        ("(c): <ann@a.example>", ("", "ann@a.example")),
        ('"', ("", "")),
    ],
)
def test_senders(header: str, expected: tuple[str, str]) -> None:
    mail = read_message(message({"From": header}, "x"))
    assert mail.sender_address == expected[1]
    assert expected[1] == "" or mail.sender_name in (expected[0], "(c):", "c")


@pytest.mark.parametrize(
    ("head", "sent"),
    [
        ("Date: Mon, 30 Nov 2026 03:00:00 +0000", 1796007600),
        ("Date: Thur, 30 Nov 2026 04:00:00 +0100 (MEZ)", 1796007600),
        ("Date: nonsense\r\nReceived: by mx.example;\r\n Mon, 30 Nov 2026 03:00:00 +0000\r\nReceived: by b; Sun, 29 Nov 2026 03:00:00 +0000", 1796007600),
        ("Received: by mx.example; Mon, 30 Nov 2026 03:00:00 +0000 (UTC)", 1796007600),
        ("X-A: b", None),
    ],
)  # fmt: skip
def test_times(head: str, sent: float | None) -> None:
    assert read_message(raw(head, b"x")).sent == sent


def test_undeclared_bytes_leave_nothing_that_cannot_be_stored() -> None:
    head = (
        b"From: M\xf6we <a@a.example>\r\nSubject: "
        + "港の壁".encode("iso2022_jp")
        + b"\r\nMessage-ID: <\xff@a>\r\n"
    )
    head += (
        b"List-Unsubscribe: <mailto:\xff@a.example>\r\nList-Id: <\xfe.a.example>\r\nContent-Language: \xff"
    )
    mail = read_message(head + b"\r\n\r\nx")
    assert (mail.sender_name, mail.subject) == ("Möwe", "港の壁")
    assert repr(mail).encode()
    assert msgspec.json.decode(msgspec.json.encode(mail), type=Mail) == mail


def test_message_ids() -> None:
    assert (
        read_message(raw("Message-ID: <[b378@microsoft.example]>", b"x")).message_id
        == "[b378@microsoft.example]"
    )
    first, second, other = (read_message(raw("X: y", body)).message_id for body in (b"x", b"x", b"z"))
    assert first == second != other
    assert first.startswith("digest:")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"long =\r\nline", "long line"), (b"long = \t\r\nline", "long line"), (b"long =\r\r\nline", "long line"),
        (b"M=C3=\r\n=B6we", "Möwe"), (b"1=2 =ZZ =", "1=2 =ZZ"), (b"a =3D b", "a = b"),
    ],
)  # fmt: skip
def test_quoted_printable(body: bytes, text: str) -> None:
    head = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable"
    assert read_message(raw(head, body)).text in (text, text + " =", text + "=")


def test_flowed_text() -> None:
    mail = read_message(
        raw(
            "Content-Type: text/plain; format=flowed; delsp=no",
            b"A long \r\nline http://a.example/x.\r\n\r\n> quoted \r\n> text\r\n-- \r\nAnn",
        )
    )
    assert mail.text == "A long line http://a.example/x.\n> quoted text\n--\nAnn"
    assert '<a href="http://a.example/x"' in mail.html


def alternatives(*parts: tuple[str, str]) -> str:
    kind, body = multipart("alternative", *((f"Content-Type: {kind}", text) for kind, text in parts))
    return read_message(message({}, body, kind)).text


def test_the_richest_alternative_with_words_is_read() -> None:
    assert alternatives(("text/plain", "plain"), ("text/html", "<p>rich</p>")) == "rich"
    assert (
        alternatives(("text/plain", "plain"), ("text/x-amp-html", "<p>amp</p>"), ("text/html", "<p>rich</p>"))
        == "rich"
    )
    assert alternatives(("text/html", "<p>rich</p>"), ("text/x-amp-html", "<p>amp</p>")) == "rich"
    assert alternatives(("text/plain", "plain"), ("text/html", "<p>&nbsp;</p>")) == "plain"
    assert alternatives(("text/plain", " "), ("text/html", "<p>rich</p>")) == "rich"
    assert alternatives(("text/plain", "plain"), ("text/calendar", "BEGIN:VCALENDAR")) == "plain"


def test_signed_messages_are_read_and_encrypted_ones_refused() -> None:
    kind, body = multipart(
        "signed",
        ("Content-Type: text/plain", "signed words"),
        ("Content-Type: application/pgp-signature", "x"),
    )
    assert read_message(message({}, body, kind)).text == "signed words"
    clear = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nclear words\n-----BEGIN PGP SIGNATURE-----\nabc\n-----END PGP SIGNATURE-----"
    assert read_message(message({}, clear, "text/plain")).text == "clear words"
    for kind in ('multipart/encrypted; boundary="b"', "application/pkcs7-mime; smime-type=enveloped-data"):
        with pytest.raises(ReadingError, match="encrypted"):
            read_message(message({}, "--b\r\n\r\nx\r\n--b--", kind))
    with pytest.raises(ReadingError, match="encrypted"):
        read_message(message({}, "-----BEGIN PGP MESSAGE-----\n\nabc", "text/plain"))


def test_files_are_named_only() -> None:
    kind, body = multipart(
        "mixed",
        ("Content-Type: text/html", "<p>words</p>"),
        ('Content-Type: audio/mpeg; name="a.mp3"\r\nContent-Transfer-Encoding: base64', "AAAA"),
        (
            "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename*=utf-8''M%C3%B6we.pdf",
            "PDF",
        ),
        ("Content-Type: text/plain\r\nContent-Disposition: attachment; filename=notes.txt", "notes"),
    )
    mail = read_message(message({}, body, kind))
    assert [(file.name, file.size) for file in mail.audio] == [("a.mp3", 3)]
    assert [file.name for file in mail.attachments] == ["Möwe.pdf", "notes.txt"]
    assert mail.text == "words"


def test_inline_pictures() -> None:
    def related(data: str) -> bytes:
        picture = "Content-Type: image/png\r\nContent-ID: <one@a>\r\nContent-Transfer-Encoding: base64"
        kind, body = multipart(
            "related",
            ("Content-Type: text/html", "<p>words <img src='cid:one@a' alt='a heron'></p>"),
            (picture, data),
        )
        return message({}, body, kind)

    mail = read_message(related(PNG))
    assert f'src="data:image/png;base64,{PNG}"' in mail.html
    assert (mail.pictures, mail.attachments) == (1, ())
    large = read_message(related(base64.b64encode(b"\x89PNG\r\n" + b"x" * 400_000).decode()))
    assert large.text == "words a heron"
    assert "data:" not in large.html


def shown(html: str) -> str:
    return read_message(message({"To": "me@home.example"}, html)).html


def test_layout_tables_become_blocks_and_tables_of_data_stay() -> None:
    assert "<table" not in shown(table(words(1)))
    data = "<table><tr><th>Bird</th><th>Count</th></tr><tr><td>Heron</td><td>7</td></tr></table>"
    assert "<th>Bird</th>" in shown(table(data))


@pytest.mark.parametrize(
    "html",
    [
        "<script>BAD</script>", "<style>BAD</style>", "<p onclick='BAD()'>x</p>", "<iframe src='https://BAD.example'></iframe>",
        "<div style='display: none !important'>BAD</div>", "<div style='max-height:0px;overflow:hidden'>BAD</div>",
        "<span style='font-size:0'>BAD</span>", "<!--[if mso]>BAD<![endif]-->", "<img src='https://BAD.example/a.png' width=1 height=1>",
        "<img src='https://BAD.example/a.png' style='width:1px;height:1px'>", "<img src='https://BAD.example/track/open/7'>",
        "<img src='https://BAD.example/a.png' style='display:none'>", "<img src='https://BAD.ct.sendgrid.net/wf/open?upn=1'>",
        "<style>.gone{display:none}</style><p class='gone'>BAD</p>", "<input value='BAD'>", "<object data='BAD'></object>",
        "<a href='javascript:BAD'>x</a>", "<svg><text>BAD</text></svg>", "<link href='https://BAD.example'>",
    ],
)  # fmt: skip
def test_it_is_gone(html: str) -> None:
    cleaned = shown("<p>words</p>" + html + "<p>behind</p>")
    assert "BAD" not in cleaned
    assert "words" in cleaned
    assert "behind" in cleaned


def test_a_dark_picture_is_shown_once() -> None:
    sheet = "<style>@media (prefers-color-scheme: dark){.light{display:none}.dark{display:block}}</style>"
    html = (
        sheet
        + "<img class='light' src='https://a.example/l.png' width=300><div class='dark' style='display:none'><img src='https://a.example/d.png'></div>"
    )
    assert shown(html).count("<img") == 1


def test_only_sure_footers_are_cut() -> None:
    footer = "<div>Our address. <a href='https://a.example/u'>Unsubscribe</a></div>"
    assert "Our address" not in shown(words(1) + footer)
    assert "Our address" in shown(words(1) + footer + "<p>P.S. More.</p>")
    assert "Our address" in shown(footer)


MANDRILL = '{"url":"https://a.example/x"}'
UNWRAPPED = [
    ("https://www.google.com/url?q=https://a.example/x&sa=D", "https://a.example/x", False),
    ("https://eur02.safelinks.protection.outlook.com/?url=https%3A%2F%2Fa.example%2Fx&data=1", "https://a.example/x", False),
    ("https://urldefense.proofpoint.com/v1/url?u=https%3A%2F%2Fa.example%2Fx&k=1", "https://a.example/x", False),
    ("https://urldefense.proofpoint.com/v2/url?u=https-3A__a.example_x-3Fy-3D1&d=1", "https://a.example/x?y=1", False),
    ("https://urldefense.com/v3/__https://a.example/x*y__;Iw!!abc$", "https://a.example/x#y", False),
    ("https://urldefense.com/v3/__https:/a.example/x__;!!abc$", "https://a.example/x", False),
    (f"https://substack.com/redirect/2/{encoded({'e': 'https://a.example/x'})}.abc", "https://a.example/x", False),
    ("https://substack.com/redirect/0123-4567?j=1", "https://substack.com/redirect/0123-4567?j=1", True),
    (f"https://click.convertkit-mail.com/a/b/{encoded('https://a.example/x')}", "https://a.example/x", False),
    (f"https://mandrillapp.com/track/click/1/a.example?p={encoded({'s': '1', 'p': MANDRILL})}", "https://a.example/x", False),
    ("https://x.r.us-east-1.awstrack.me/L0/https:%2F%2Fa.example%2Fx/1/2", "https://a.example/x", False),
    ("https://n.list-manage.com/track/click?u=1&id=2", "https://n.list-manage.com/track/click?u=1&id=2", True),
    ("https://a.example/x?utm_source=b&page=2&fbclid=1#top", "https://a.example/x?page=2#top", False),
    ("https://a.example/x?email=me%40home.example", "https://a.example/x", False),
    ("https://web.archive.org/web/2020/https://a.example/x", "https://web.archive.org/web/2020/https://a.example/x", False),
    ("https://www.facebook.com/sharer/sharer.php?u=https://a.example/x", "https://www.facebook.com/sharer/sharer.php?u=https://a.example/x", False),
    ("https://click.a.example/?url=javascript:alert(1)", "https://click.a.example/?url=javascript:alert(1)", True),
    ("https://www.google.com/url?q=https://eur02.safelinks.protection.outlook.com/?url=https%253A%252F%252Fa.example%252Fx", "https://a.example/x", False),
]  # fmt: skip


@pytest.mark.parametrize(("url", "target", "is_opaque"), UNWRAPPED)
def test_trackers_are_unwrapped(url: str, target: str, is_opaque: bool) -> None:
    assert unwrap(url, ("me@home.example",)) == (target, is_opaque)


def test_two_megabytes_are_read_whole() -> None:
    mail = read_message(
        raw("Content-Type: text/plain; charset=utf-8", (PARAGRAPHS[1] + "\r\n").encode() * 25_000)
    )
    assert mail.text.count("Seven herons") == 25_000


HEAD = b"From: a@b.example\nSubject: x\n"
HTML = HEAD + b"Content-Type: text/html\n\n"


def nested_parts() -> bytes:
    body = b"x"
    for level in range(100):
        body = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n%b\n--b%d--\n" % (
            level,
            level,
            body,
            level,
        )
    return HEAD + body


def nested_messages() -> bytes:
    return HEAD + b"Content-Type: message/rfc822\n\nFrom: a@b.c\n" * 1000 + b"\nx"


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "malformed"),
    "binary": (bytes(range(256)) * 100, "malformed"),
    "page": (b"<html><p>x", "malformed"),
    "large": (HEAD + b"\n" + b"x" * 10_000_000, "too-large"),
    "parts": (HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 500_000, "too-large"),
    "nested parts": (nested_parts(), "too-deep"),
    "nested messages": (nested_messages(), "too-deep"),
    "headers": (b"X: a\n" * 1_000_000 + b"\nx", "too-large"),
    "long header": (b"X: " + b"a" * 5_000_000 + b"\n\nx", "too-large"),
    "comments": (b"From: " + b"(" * 200_000 + b"\n\nx", ""),
    "quotes": (b"From: " + b'"\\' * 100_000 + b"\n\nx", ""),
    "addresses": (b"From: " + b"a@b.c," * 30_000 + b"\n\nx", ""),
    "encoded words": (b"From: a@b.c\nSubject: " + b" =?utf-8?q?a?=" * 15_000 + b"\n\nx", ""),
    "parameters": (HEAD + b"Content-Type: text/plain" + b';a="' * 50_000 + b"\n\nx", ""),
    "boundaries": (HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--bx--b" * 1_400_000, ""),
    "base64": (HEAD + b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n" + b"PHA+\n" * 1_900_000, "too-large"),
    "quoted printable": (HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n" + b"= " * 4_000_000, ""),
    "nested tags": (HTML + b"<div>" * 1_000_000 + b"words", ""),
    "nested tables": (HTML + b"<table><tr><td>" * 15_000 + b"words", ""),
    "attributes": (HTML + b"<p " + b" ".join(b"a%d=1" % n for n in range(200_000)) + b">x", "too-large"),
    "angles": (HTML + b"<" * 1_000_000, ""),
    "conditions": (HTML + b"<![if " * 300_000, ""),
    "style sheet": (HTML + b"<style>" + b"@a{" * 50_000 + b"</style>x", ""),
    "results": (b"Authentication-Results: " + b'("' * 50_000 + b"\nFrom: a@b.c\n\nx", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_soon(name: str) -> None:
    data, failure = HOSTILE[name]
    begin = time.process_time()
    try:
        read_message(data)
        kind = ""
    except ReadingError as error:
        kind = error.kind.value
    assert kind == failure
    assert time.process_time() - begin < 2


def test_words_below_many_levels_are_read() -> None:
    assert read_message(HTML + b"<div>" * 5_000 + b"words").text == "words"
