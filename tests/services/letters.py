# ruff: noqa: E501 (messages stand as they come)
"""Sixty messages of newsletters in the forms of real senders, and the words that each must show."""

from __future__ import annotations

import base64
import quopri
from dataclasses import dataclass

from tests.crawler.reading.messages import PARAGRAPHS, SENDERS, message, multipart, table, words

SIZE = 60
LANGUAGES = {
    "de": "Die Möwen kehren zur Mühle zurück, und niemand weiß, warum.",
    "fr": "Les hérons sont revenus près du vieux moulin cet été.",
    "es": "Las garzas volvieron al molino; mañana habrá reunión.",
    "pl": "Czaple wróciły nad młyn, a ściana portu jest błękitna.",
    "ru": "Стена гавани стала синей, и никто не знает почему.",
    "el": "Οι ερωδιοί γύρισαν στον παλιό μύλο.",
    "ja": "港の壁は今週青く塗られましたが、理由は誰も知りません。",
    "zh": "港口的墙本周被漆成蓝色，没有人知道原因。",
    "ko": "이번 주 항구의 벽이 파랗게 칠해졌습니다.",
    "ar": "عادت طيور البلشون إلى الطاحونة القديمة هذا الأسبوع.",
}
_PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"x" * 50).decode()
_TRACKER = "<img src='https://t.example/open/9.gif' width='1' height='1'>"
_LARGE = 1_990_000
"""Two million characters of a message are read."""


@dataclass(frozen=True)
class Letter:
    """A message, and what stands in its article."""

    name: str
    data: bytes
    words: tuple[str, ...]
    pictures: int = 0


def letters() -> list[Letter]:
    """Forty-one of platforms, and nineteen of odd forms."""
    found = [
        Letter(f"{name} {number}", _listed(build(_slug(name), number)), (*PARAGRAPHS, f"Issue {number}."))
        for number in (1, 2)
        for name, build in SENDERS.items()
    ]
    odd = _odd()
    return [*found[: SIZE - len(odd)], *odd]


def _odd() -> list[Letter]:
    html = f"<html><body>{table(words(1))}{_TRACKER}</body></html>"
    whole = (*PARAGRAPHS, "Issue 1.")
    inline = multipart(
        "related",
        (
            "Content-Type: text/html; charset=utf-8",
            html + "<p><img src='cid:lamp@x' width=300 alt='A lamp'></p>",
        ),
        ("Content-Type: image/png\r\nContent-ID: <lamp@x>\r\nContent-Transfer-Encoding: base64", _PNG),
    )
    dark = (
        "<html><head><meta name='color-scheme' content='light dark'><style>@media (prefers-color-scheme: dark)"
        "{.d{display:block!important}.l{display:none}} [data-ogsc] p{color:#fff}</style></head>"
        f"<body><img class=d style='display:none' src='https://x.example/dark.png'>{table(words(1))}{_TRACKER}</body></html>"
    )
    cell = f"<td style='padding:0 12px;font-family:Georgia,serif;color:#{'0' * 6}'><!-- {'spacer ' * 20} --></td>"
    large = f"<html><body>{words(1)}<table><tr>{cell * (_LARGE // len(cell))}</tr></table><p>The very end.</p></body></html>"
    return [
        _letter("quoted-printable", quopri.encodestring(html.encode()), whole, encoding="quoted-printable"),
        _letter("base64", base64.encodebytes(html.encode()), whole, encoding="base64"),
        _letter("inline picture", inline[1].encode(), whole, kind=inline[0], pictures=1),
        _letter("dark mode", dark.encode(), whole),
        _letter("no HTML", "\r\n\r\n".join(PARAGRAPHS).encode(), PARAGRAPHS, kind="text/plain; charset=utf-8"),
        _letter("two megabytes", large.encode(), (*whole, "The very end.")),
        _letter("wrong charset", "<p>“Hafen” – 5 €</p>".encode("cp1252"), ("“Hafen” – 5 €",), kind="text/html; charset=iso-8859-1"),
        _letter("no charset", "Стена гавани синяя, и никто не знает".encode("koi8-r"), ("Стена гавани синяя",), kind="text/plain"),
        _letter("invented charset", "<p>Möwe</p>".encode(), ("Möwe",), kind="text/html; charset=bogus"),
        *(_letter(f"in {tag}", base64.encodebytes(f"<p>{text}</p>{_TRACKER}".encode()), (text,), encoding="base64")
          for tag, text in LANGUAGES.items()),
    ]  # fmt: skip


def _letter(
    name: str, body: bytes, expected: tuple[str, ...], *, kind: str = "text/html; charset=utf-8",
    encoding: str = "8bit", pictures: int = 0,
) -> Letter:  # fmt: skip
    head = message(
        {"From": f"{name} <news@{_slug(name)}.example>", "Subject": name,
         "Message-ID": f"<1@{_slug(name)}.example>", "Content-Transfer-Encoding": encoding},
        "", kind,
    )  # fmt: skip
    return Letter(
        name, _listed(head + body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")), expected, pictures
    )


def _listed(data: bytes) -> bytes:
    """The message as one of a list: in a mailbox others are letters between people."""
    return data if b"List-Unsubscribe:" in data else b"List-Unsubscribe: <https://leave.example/>\r\n" + data


def _slug(name: str) -> str:
    return name.replace(" ", "-")
