"""Repair of references in XML that is read in pieces: one stray `&` refused a whole list of feeds."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html.entities import html5

_LONGEST = 64
_MOST = 200_000
_WHOLE = rb"#(?:[0-9]{1,60}|[xX][0-9a-fA-F]{1,60});|[A-Za-z][A-Za-z0-9]{1,40};"
_STRAY = re.compile(rb"&(?!%b)" % _WHOLE)
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)(?:%b)" % _WHOLE)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffd-\uffff]")
_CONTROLS = bytes(sign for sign in range(32) if sign not in b"\t\n\r")
"""Signs that no XML may have, and whose loss changes no word."""
_NOT_ASCII = re.compile(rb"<\?xml[^>]{0,100}\sencoding\s*=\s*[\"']iso-2022", re.IGNORECASE)


def mended(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a document with HTML's named entities as numbers and any other stray `&` as `&amp;`.

    Control characters are left out.

    References inside of comments and CDATA sections are changed as well. Documents in encodings in which the
    byte of `&` may be part of another character, such as UTF-16, are left as they are, and so is what follows
    after very many references.
    """
    tail, count, is_ascii = b"", 0, None
    for piece in pieces:
        if is_ascii is None:
            is_ascii = b"\0" not in piece[:4] and not _NOT_ASCII.match(piece)
        if not is_ascii or count > _MOST:
            yield tail + piece
            tail = b""
            continue
        text = tail + piece.translate(None, _CONTROLS)
        # A reference may go on in the next piece.
        start = text.rfind(b"&", -_LONGEST)
        end = start if start >= 0 and b";" not in text[start:] else len(text)
        tail = text[end:]
        text, reference_count = _mended(text[:end])
        count += reference_count
        yield text
    yield _mended(tail)[0]


def _mended(text: bytes) -> tuple[bytes, int]:
    """Return a text with legal references, and how many were looked at."""
    if b"&" not in text:
        return text, 0
    text, strays = _STRAY.subn(b"&amp;", text)
    text, others = _REFERENCE.subn(lambda match: _legal(match[0]), text)
    return text, strays + others


@lru_cache(maxsize=1024)
def _legal(reference: bytes) -> bytes:
    """Return a reference by number, which stands for its characters in every encoding. Escapes unknown names.

    HTML's reading gives &#150; its windows-1252 meaning, and characters that XML forbids none.
    """
    text = reference.decode("ascii")
    if text[1] != "#" and text[1:] not in html5:
        return b"&amp;" + reference[1:]
    characters = _FORBIDDEN.sub("", html.unescape(text))
    return "".join(f"&#{ord(character)};" for character in characters).encode("ascii")
