"""MIME types as the WHATWG MIME Sniffing standard parses them, and its tables of first bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

RESOURCE_HEADER = 1445
"""Bytes at the beginning of a document that sniffing looks at."""

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_QUOTABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SPACE = "\t\n\r "
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_STRAY = 20
"""One control character of so many bytes is a mistake in a text; of data every tenth byte is one."""

OCTETS = "application/octet-stream"
STRAY = bytes([*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
"""Control characters that no text in a one-byte or UTF-8 encoding has any use for."""

_FORMATS = (
    (rb"%PDF-", "application/pdf", "a PDF document"),
    (rb"%!PS-Adobe-", "application/postscript", "a PostScript document"),
    (rb"\x00\x00[\x01\x02]\x00", "image/x-icon", "an icon"),
    (rb"BM.{4}\x00{4}", "image/bmp", "a BMP image"),
    (rb"GIF8[79]a", "image/gif", "a GIF image"),
    (rb"RIFF.{4}WEBPVP", "image/webp", "a WebP image"),
    (rb"\x89PNG", "image/png", "a PNG image"),
    (rb"\xff\xd8\xff", "image/jpeg", "a JPEG image"),
    (rb"RIFF.{4}WAVE", "audio/wave", "a WAVE recording"),
    (rb"FORM.{4}AIFF", "audio/aiff", "an AIFF recording"),
    (rb"ID3", "audio/mpeg", "an MP3 recording"),
    (rb"OggS\x00", "application/ogg", "an Ogg recording"),
    (rb"MThd\x00{3}\x06", "audio/midi", "a MIDI file"),
    (rb"RIFF.{4}AVI ", "video/avi", "an AVI video"),
    (rb"\x1a\x45\xdf\xa3", "video/webm", "a video"),
    (rb"\x00\x00..ftyp", "video/mp4", "a video"),
    (rb"\x1f\x8b\x08", "application/x-gzip", "gzipped data"),
    (rb"PK\x03\x04", "application/zip", "a ZIP archive"),
    (rb"Rar(?: \x1a\x07\x00|!\x1a\x07)", "application/x-rar-compressed", "a RAR archive"),
    (rb"wOFF", "font/woff", "a font"),
    (rb"wOF2", "font/woff2", "a font"),
    (rb"OTTO", "font/otf", "a font"),
    (rb"ttcf", "font/collection", "a font"),
    (rb"\x00\x01\x00\x00", "font/ttf", "a font"),
)
"""How binary formats begin: the tables of the standard, section 6, more narrow where a text may begin so."""

_BEGINNINGS = re.compile(b"|".join(b"(%s)" % begins for begins, _, _ in _FORMATS), re.DOTALL)
_HTML_TAGS = (
    b"<!DOCTYPE HTML", b"<HTML", b"<HEAD", b"<SCRIPT", b"<IFRAME", b"<H1", b"<DIV", b"<FONT", b"<TABLE",
    b"<A", b"<STYLE", b"<TITLE", b"<B", b"<BODY", b"<BR", b"<P",
)  # fmt: skip
_MARKS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")


@dataclass(frozen=True, slots=True)
class MimeType:
    """A MIME type: `essence` in lower case without parameters, and `parameters` by name."""

    essence: str
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def is_xml(self) -> bool:
        """True for `text/xml`, `application/xml` and `...+xml`."""
        return self.essence.endswith("+xml") or self.essence in {"text/xml", "application/xml"}


def parse_mime_type(text: str) -> MimeType | None:
    """Parse a MIME type by section 4.4 of the standard.

    Returns None for an invalid type. Takes the first of several parameters with the same name.
    """
    text = text.strip(_SPACE)
    kind, slash, tail = text.partition("/")
    subtype, _, parameters = tail.partition(";")
    subtype = subtype.rstrip(_SPACE)
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return None
    return MimeType(f"{kind}/{subtype}".lower(), _parameters(parameters))


def _parameters(text: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    at = 0
    while at < len(text):
        while at < len(text) and text[at] in _SPACE:
            at += 1
        begin = at
        while at < len(text) and text[at] not in ";=":
            at += 1
        name = text[begin:at].lower()
        if at < len(text) and text[at] == ";":
            at += 1
            continue
        at += 1
        if at >= len(text):
            break
        if text[at] == '"':
            value, at = _quoted(text, at + 1)
            at = _behind(text, at)
        else:
            begin, at = at, _behind(text, at)
            value = text[begin : at - 1 if at <= len(text) and text[at - 1] == ";" else at].rstrip(_SPACE)
            if not value:
                continue
        if name not in parameters and _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value):
            parameters[name] = value
    return parameters


def _behind(text: str, at: int) -> int:
    """Return the position behind the next semicolon."""
    end = text.find(";", at)
    return len(text) if end < 0 else end + 1


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return a quoted string whose opening quote is passed, and the position behind it."""
    value = ""
    while at < len(text):
        sign = text[at]
        at += 1
        if sign == '"':
            break
        if sign == "\\" and at < len(text):
            sign = text[at]
            at += 1
        value += sign
    return value, at


def is_html(lead: bytes) -> bool:
    """Return whether the document begins with one of the standard's HTML tags, or a comment."""
    if lead.startswith(b"<!--"):
        return True
    for tag in _HTML_TAGS:
        size = len(tag)
        if lead[:size].upper() == tag and lead[size : size + 1] in {b" ", b">"}:
            return True
    return False


def known_binary(head: bytes) -> tuple[str, str] | None:
    """Return the type and the common name of the binary format that begins so, None for others."""
    match = _BEGINNINGS.match(head)
    return _FORMATS[(match.lastindex or 1) - 1][1:] if match else None


def mostly_binary(head: bytes) -> bool:
    """Return whether these bytes are binary: text has one stray control character at most."""
    return not head.startswith(_MARKS) and len(_BINARY.findall(head)) * _STRAY > len(head)
