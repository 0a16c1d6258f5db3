"""From bytes to text: byte order mark, HTTP header, the document's declaration, UTF-8, windows-1252.

Labels and their meaning are those of the WHATWG Encoding standard; the order is that of the HTML
standard, with XML's declaration and its detection of UTF-16 (XML appendix F) beside the meta element.
"""

from __future__ import annotations

import codecs
import re

_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 "
    "iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
    "iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i "
    "iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 logical visual",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 x-user-defined",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
    "latin5 windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022-jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
_UTF16_XML = ((b"\x00<\x00?\x00x", "utf-16-be"), (b"<\x00?\x00x\x00", "utf-16-le"))
_PROLOGUE = 4096
_HTTP = re.compile(r"""charset\s*=\s*["']?\s*([^\s;"',]+)""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([^"'>]{1,80})["']""")
_META = re.compile(rb"""<meta\s[^>]{0,300}?charset\s*=\s*["']?\s*([^\s"'/>;]{1,80})""", re.IGNORECASE)


def codec_of(label: str) -> str | None:
    """Python's codec for a WHATWG label, or None for one that is unknown or, like UTF-7, refused."""
    return _CODECS.get(label.strip().lower())


def sniff(body: bytes, content_type: str = "") -> str:
    """The codec to read a document with; `content_type` is the HTTP header's value."""
    body = _without_false_mark(body)
    for mark, codec in (*_MARKS, *_UTF16_XML):
        if body.startswith(mark):
            return codec
    declared = _from_header(content_type) or _from_prologue(body[:_PROLOGUE])
    if declared:
        return declared
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode(body: bytes, content_type: str = "") -> str:
    """The document as text. Never raises: NUL and what cannot be read become U+FFFD."""
    body = _without_false_mark(body)
    text = body.decode(sniff(body, content_type), "replace")
    return text.removeprefix("\ufeff").replace("\0", "\ufffd")


def _without_false_mark(body: bytes) -> bytes:
    """The body without a mark of UTF-16 before bytes that have no zeros, as every tag in UTF-16 has."""
    marked = body.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)) and b"<" in body[:400]
    return body[2:] if marked and b"\0" not in body[:400] else body


def _from_header(content_type: str) -> str | None:
    match = _HTTP.search(content_type[:500])
    return codec_of(match[1]) if match else None


def _from_prologue(head: bytes) -> str | None:
    """What the XML declaration or a meta element says. It was read as ASCII, so it cannot be UTF-16."""
    match = _XML.search(head) or _META.search(head)
    codec = codec_of(match[1].decode("ascii", "replace")) if match else None
    return "utf-8" if codec in ("utf-16-be", "utf-16-le") else codec
