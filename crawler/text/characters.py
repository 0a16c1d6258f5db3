"""Text without characters that databases, XML and readers refuse, and cut to a length. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from crawler.text.marking import gettext_noop

INDEXED_BYTES = 2_400
"""UTF-8 bytes of a text that a database may index: PostgreSQL's rows of indexes hold 2,704."""
SEARCHED_CHARACTERS = 200_000
"""Characters of an article that its search vector is made of."""
MAX_VECTOR_BYTES = 900_000
"""Of the estimate below; a tsvector holds 1,048,575 bytes, and title and author stand in it, too."""
MAX_INDEXED_CHARACTERS = INDEXED_BYTES // 4
"""Characters of a text that people give for an indexed column, whatever they are."""

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_UNWANTED_ASCII = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_PIECE = re.compile(r"[^\W_]+")
_ALWAYS_FITS = 30_000
_ACCENTS = re.compile("[\u0300-\u036f]")
_C1 = re.compile("[\x80-\x9f]")
_C1_MEANING = {c: bytes([c]).decode("cp1252", "ignore") for c in range(0x80, 0xA0)}


def unstorable(text: str) -> str:
    """Describe why PostgreSQL and UTF-8 cannot hold a text. Returns an empty text when they can."""
    if "\0" in text:
        return gettext_noop("a zero byte")
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return gettext_noop("half of a surrogate pair")
    return ""


def storable(text: str, longest: int | None = None) -> str:
    """Return the text without control characters, lone surrogates and noncharacters, cut to `longest`.

    Tabs and line ends stay. C1 controls become what they mean in windows-1252, which is what their writers
    had in mind. Text far beyond `longest` is not read at all.
    """
    if longest is not None:
        return storable(text[: 2 * longest])[:longest]
    if text.isascii():  # bytes are looked through five times faster than characters
        return text.encode().translate(None, _UNWANTED_ASCII).decode()
    text = _UNWANTED.sub("", text)
    return text.translate(_C1_MEANING) if _C1.search(text) else text


def one_line(text: str, longest: int) -> str:
    """Return a storable text on one line, cut to `longest` characters; text far beyond is not read."""
    return " ".join(storable(text[: 4 * longest]).split())[:longest].rstrip()


def without_accents(text: str) -> str:
    """Return a text in small letters, without accents, for comparing."""
    letters = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", letters))


def indexable(text: str) -> str:
    """Return the beginning of a text that fits into an index row, cut between characters."""
    if len(text) * 4 <= INDEXED_BYTES:
        return text
    return text.encode("utf-8", "replace")[:INDEXED_BYTES].decode("utf-8", "ignore")


def searchable(text: str) -> str:
    """Return the text, cut where its search vector would exceed PostgreSQL's limit.

    Only texts of about a hundred thousand different words or numbers are cut.
    """
    while len(text) > _ALWAYS_FITS and _vector_bytes(text[:SEARCHED_CHARACTERS]) > MAX_VECTOR_BYTES:
        text = text[: int(min(len(text), SEARCHED_CHARACTERS) * 0.8)]
    return text


def _vector_bytes(text: str) -> int:
    """Return an upper estimate of the size in bytes of a text's search vector.

    A lexeme takes its bytes, 8 for its entry and its count, and 2 for each of at most 256 positions. A word
    with signs in it, such as an address, is indexed as a whole and in its parts.
    """
    pieces = Counter(_PIECE.findall(text))
    size = sum(len(piece.encode()) + 8 + 2 * min(count, 256) for piece, count in pieces.items())
    mixed = {word for word in text.split() if not word.isalnum()}
    return size + sum(2 * len(word.encode()) + 20 for word in mixed)
