"""Bodies that feeds pack as base64: Atom 0.3's mode, an encoding attribute, and what is evidently packed."""

from __future__ import annotations

import base64
import binascii
import re

_PACKED = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_SHORTEST = 40  # characters; shorter ones may be a word
_READABLE = re.compile(r"[\s<>]")


def from_base64(text: str, *, certain: bool) -> str | None:
    """Decode base64 to text. Returns None when it is not base64 of text.

    Where the feed says that it is packed (`certain`), other encodings than UTF-8 count as windows-1252;
    else only UTF-8 with spaces or tags and without control characters counts as text.
    """
    if not _PACKED.fullmatch(text) or (not certain and len(text) < _SHORTEST):
        return None
    packed = "".join(text.split())
    try:
        # Padding is often left off; where packing is only guessed, it must be exact.
        body = base64.b64decode(packed + "=" * (-len(packed) % 4) if certain else packed, validate=True)
    except (binascii.Error, ValueError):
        return None
    try:
        text_within = body.decode("utf-8")
    except UnicodeDecodeError:
        # Atom 0.3 is of a time when weblogs were in windows-1252.
        return body.decode("cp1252", "replace") if certain else None
    if certain:
        return text_within
    readable = _READABLE.search(text_within) and all(c >= " " or c in "\t\r\n" for c in text_within)
    return text_within if readable else None
