"""Text from the web without what databases, XML and readers do not take, and no longer than there is room."""

from __future__ import annotations

import re

INDEXED_BYTES = 2_400
"""UTF-8 bytes of a text that a database may index: PostgreSQL's rows of indexes hold 2,704."""

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_C1 = re.compile("[\x80-\x9f]")
_C1_MEANING = {c: bytes([c]).decode("cp1252", "ignore") for c in range(0x80, 0xA0)}


def storable(text: str) -> str:
    """Text without control characters, halves of surrogate pairs and noncharacters.

    Tabs and ends of lines stay. C1 controls become what they mean in windows-1252, which is what writers
    of them had in mind.
    """
    if text.isascii():
        return _UNWANTED.sub("", text)
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
