# ruff: noqa: E501 (documents stand as they come)
"""Feeds in any encoding, with true and false declarations."""

from __future__ import annotations

import codecs

import pytest

from crawler.reading.feeds import parse_feed

URL = "https://example.org/feed"
TEXT = {
    "de": "Größe – „fünf“",
    "ru": "Привет, мир",
    "zh": "你好，世界。简体",
    "ja": "日本語のニュース記事",
    "ko": "안녕하세요 뉴스",
}


def feed(title: str, declaration: str = "") -> str:
    return f"{declaration}<rss version='2.0'><channel><title>{title}</title><item><guid>1</guid></item></channel></rss>"


def declared(encoding: str) -> str:
    return f'<?xml version="1.0" encoding="{encoding}"?>'


@pytest.mark.parametrize(
    ("language", "codec", "label"),
    [
        ("de", "utf-8", "utf-8"), ("de", "cp1252", "windows-1252"), ("de", "cp1252", "ISO-8859-1"),
        ("ru", "cp1251", "windows-1251"), ("ru", "koi8-r", "koi8-r"), ("ru", "iso8859-5", "iso-8859-5"),
        ("zh", "gb18030", "gb2312"), ("zh", "gb18030", "gbk"), ("zh", "utf-8", "UTF-8"),
        ("ja", "cp932", "Shift_JIS"), ("ja", "euc-jp", "euc-jp"), ("ja", "iso2022_jp", "iso-2022-jp"),
        ("ko", "cp949", "euc-kr"), ("ru", "utf-16", "utf-16"), ("ja", "utf-16-le", "utf-16"), ("zh", "utf-16-be", "utf-16"),
    ],
)  # fmt: skip
def test_it_reads_declared_encodings(language: str, codec: str, label: str) -> None:
    title = TEXT[language]
    in_xml = feed(title, declared(label)).encode(codec)
    assert parse_feed(in_xml, url=URL).title == title
    assert (
        parse_feed(feed(title).encode(codec), url=URL, content_type=f"text/xml; charset={label}").title
        == title
    )


@pytest.mark.parametrize(
    ("body", "content_type", "title"),
    [
        (feed("Größe", declared("iso-8859-1")).encode(), "", "Größe"),
        (feed("Größe").encode(), "text/xml; charset=iso-8859-1", "Größe"),
        (feed("Größe", declared("utf-8")).encode("cp1252"), "", "Größe"),
        (feed("Größe", declared("utf-16")).encode(), "", "Größe"),
        (feed("Größe", declared("no-such-code")).encode(), "", "Größe"),
        (feed("Größe").encode("utf-8-sig"), "text/xml; charset=windows-1251", "Größe"),
        (feed("Привет", declared("utf-8")).encode("cp1251"), "text/xml; charset=windows-1251", "Привет"),
        (codecs.BOM_UTF16_LE + feed("Größe").encode(), "", "Größe"),
        (codecs.BOM_UTF16_BE + feed("Größe", declared("utf-16")).encode(), "text/xml; charset=utf-16", "Größe"),
        (codecs.BOM_UTF16_LE + codecs.BOM_UTF8 + feed("Größe").encode(), "", "Größe"),
        (codecs.BOM_UTF8 + codecs.BOM_UTF8 + feed("Größe").encode(), "", "Größe"),
        (codecs.BOM_UTF8 + feed("Größe").encode("utf-16"), "", "Größe"),
        (codecs.BOM_UTF8 + feed("Größe", declared("utf-8")).encode("utf-16-be"), "", "Größe"),
        (feed("Größe", declared("utf-8")).encode("utf-16-le"), "text/xml; charset=utf-8", "Größe"),
        (codecs.BOM_UTF16_LE + feed("Größe", declared("iso-8859-1")).encode("latin-1"), "", "Größe"),
        (feed("it\x92s", declared("iso-8859-1")).encode("latin-1"), "", "it\u2019s"),
    ],
)  # fmt: skip
def test_bytes_win_over_false_declarations(body: bytes, content_type: str, title: str) -> None:
    assert parse_feed(body, url=URL, content_type=content_type).title == title


def test_a_broken_sequence_costs_one_character_not_the_feed() -> None:
    body = feed("Größe und Länge x").encode().replace(b" x", b" \xff")
    found = parse_feed(body, url=URL)
    assert found.title == "Größe und Länge \ufffd" and not found.well_formed


def test_no_control_characters_or_surrogates_come_through() -> None:
    body = '{"version": "https://jsonfeed.org/version/1", "items": [{"id": "a\\u0000b\\ud800", "title": "\\u0007t"}]}'
    (entry,) = parse_feed(body.encode(), url=URL).entries
    assert (entry.identity, entry.title) == ("ab", "t")
