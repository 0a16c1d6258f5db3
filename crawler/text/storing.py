"""Which text PostgreSQL and UTF-8 can hold. Pure."""

from __future__ import annotations

LONGEST_INDEXED = 600
"""Characters of a text that people give for an indexed column: at most 2,400 bytes, where a row of a B-tree
holds some 2,700."""


def unstorable(text: str) -> str:
    """Why a text cannot be stored, in words; empty when it can be."""
    if "\0" in text:
        return "a zero byte"
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return ""
