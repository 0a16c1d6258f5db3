"""From bytes to text: who wins when header, mark and document disagree, and that nothing is ever raised."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.charset import codec_of, decode, sniff

XML_1251 = b'<?xml version="1.0" encoding="windows-1251"?><a>\xcf</a>'


@pytest.mark.parametrize(
    ("body", "content_type", "codec"),
    [
        (codecs.BOM_UTF8 + b"x", "text/xml; charset=iso-8859-1", "utf-8"),
        (codecs.BOM_UTF16_LE + b"x\0", "text/xml; charset=utf-8", "utf-16-le"),
        (codecs.BOM_UTF16_BE + b"\0x", "", "utf-16-be"),
        (XML_1251, "text/xml; charset=koi8-r", "koi8-r"),
        (XML_1251, 'text/xml; charset="KOI8-R"', "koi8-r"),
        (XML_1251, "text/xml", "cp1251"),
        (XML_1251, "text/xml; charset=nonsense", "cp1251"),
        (b'<meta charset="shift_jis">\x83', "text/html", "cp932"),
        (b'<META http-equiv=content-type content="text/html; charset=big5">', "", "big5hkscs"),
        (b"<!-- " + b"x" * 500 + b' --><meta charset="euc-kr">', "", "cp949"),
        ('<?xml version="1.0"?><a/>'.encode("utf-16-le"), "", "utf-16-le"),
        ('<?xml version="1.0"?><a/>'.encode("utf-16-be"), "", "utf-16-be"),
        (b'<?xml version="1.0" encoding="UTF-16"?><a/>', "", "utf-8"),
        ("grün".encode(), "", "utf-8"),
        (b"gr\xfcn", "", "cp1252"),
        (b"x", "text/html; charset=iso-8859-1", "cp1252"),
        (b"x", "text/html; charset=gb2312", "gb18030"),
        (b"+ADw-script+AD4-", "text/html; charset=utf-7", "utf-8"),
        (b'<meta charset="utf-7">+ADw-script+AD4-', "", "utf-8"),
    ],
)
def test_it_finds_the_encoding_in_the_right_order(body: bytes, content_type: str, codec: str) -> None:
    assert sniff(body, content_type)[1] == codec


@pytest.mark.parametrize(
    "label", ["utf-7", "utf-32", "iso-2022-kr", "hz-gb-2312", "base64", "hex", "rot13", "idna", ""]
)
def test_it_refuses_labels_outside_the_standard(label: str) -> None:
    assert codec_of(label) is None


@pytest.mark.parametrize(
    "label", ["UTF8", " latin1 ", "x-sjis", "ks_c_5601-1987", "windows-874", "iso-8859-8-i"]
)
def test_it_knows_the_labels_of_the_web(label: str) -> None:
    codec = codec_of(label)
    assert codec is not None
    assert codecs.lookup(codec)


def test_the_mark_is_dropped_and_nul_and_broken_bytes_are_replaced() -> None:
    assert decode(codecs.BOM_UTF8 + b"a\0b\xffc") == "a\ufffdb\ufffdc"


def test_a_mark_of_utf_16_before_other_bytes_counts_for_nothing() -> None:
    assert decode(codecs.BOM_UTF16_LE + "<p>Größe".encode()) == "<p>Größe"
    assert decode(codecs.BOM_UTF16_BE + "<p>Größe".encode("cp1252")) == "<p>Größe"
    assert decode(codecs.BOM_UTF16_LE + "<p>Größe".encode("utf-16-le")) == "<p>Größe"


def test_surrogates_never_come_out() -> None:
    text = decode(b"\xed\xa0\x80 \xed\xbf\xbf", "text/html; charset=utf-8")
    assert text.encode("utf-8")
    assert decode(b"\xff\xfe\x00\xd8a\x00").encode("utf-8")


def test_japanese_escapes_are_read_only_when_declared() -> None:
    body = "日本".encode("iso2022-jp")
    assert decode(body, "text/plain; charset=iso-2022-jp") == "日本"
    assert "日" not in decode(body)


LABELS = st.sampled_from(
    ["", "utf-8", "utf-16", "iso-2022-jp", "gb18030", "big5", "euc-jp", "shift_jis", "utf-7", "866"]
)


@given(st.binary(max_size=300), LABELS)
def test_it_never_raises(body: bytes, label: str) -> None:
    text = decode(body, f"text/html; charset={label}")
    assert "\0" not in text
    text.encode("utf-8")
