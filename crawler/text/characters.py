"""Text without what databases, XML and readers do not take, and no longer than there is room. Pure."""

from __future__ import annotations

import re

INDEXED_BYTES = 2_400
"""UTF-8 bytes of a text that a database may index: PostgreSQL's rows of indexes hold 2,704."""
LONGEST_INDEXED = INDEXED_BYTES // 4
"""Characters of a text that people give for an indexed column, whatever they are."""

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_UNWANTED_ASCII = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_C1 = re.compile("[\x80-\x9f]")
_C1_MEANING = {c: bytes([c]).decode("cp1252", "ignore") for c in range(0x80, 0xA0)}


def unstorable(text: str) -> str:
    """Why PostgreSQL and UTF-8 cannot hold a text, in words; empty when they can."""
    if "\0" in text:
        return "a zero byte"
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return ""


def storable(text: str, longest: int | None = None) -> str:
    """Text without control characters, halves of surrogate pairs and noncharacters, at most so long.

    Tabs and ends of lines stay. C1 controls become what they mean in windows-1252, which is what writers
    of them had in mind. Far more than the longest is not read at all.
    """
    if longest is not None:
        return storable(text[: 2 * longest])[:longest]
    if text.isascii():  # bytes are looked through five times faster than characters
        return text.encode().translate(None, _UNWANTED_ASCII).decode()
    text = _UNWANTED.sub("", text)
    return text.translate(_C1_MEANING) if _C1.search(text) else text


def one_line(text: str, longest: int) -> str:
    """The text on one line, storable, at most so many characters; far more than that is not read at all."""
    return " ".join(storable(text[: 4 * longest]).split())[:longest].rstrip()


def indexable(text: str) -> str:
    """The beginning of a text that fits into a row of an index, cut between characters."""
    if len(text) * 4 <= INDEXED_BYTES:
        return text
    return text.encode("utf-8", "replace")[:INDEXED_BYTES].decode("utf-8", "ignore")
