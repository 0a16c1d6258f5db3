"""Stored differences between the texts of an article: lines that stay, and lines that come. Pure."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence

import msgspec
from cydifflib import SequenceMatcher

from crawler.reading.inflate import inflated

MAX_TEXT = 20_000_000
"""Bytes of a stored text or difference."""
MAX_WORK = 4_000_000
"""Old lines times new lines; beyond, the new text is stored as it is."""

Step = list[int] | list[str]
"""Two numbers for lines that stay (from and to), or the lines that come in the place of others."""


def difference(old: str, new: str) -> bytes:
    """Return what makes the new text from the old one."""
    before, after = old.split("\n"), new.split("\n")
    steps: list[Step] = []
    if len(before) * len(after) > MAX_WORK:
        steps.append(after)
    else:
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal":
                steps.append([a, b])
            elif c < d:
                steps.append(after[c:d])
    return zlib.compress(msgspec.json.encode(steps), 9)


def applied(old: str, stored: bytes) -> str:
    """Return the text that a difference makes from the old one."""
    before = old.split("\n")
    steps: list[list[int] | list[str]] = msgspec.json.decode(inflated(stored, MAX_TEXT))
    lines: list[str] = []
    for step in steps:
        first = step[0]
        lines += before[first : int(step[1])] if isinstance(first, int) else list(map(str, step))
    return "\n".join(lines)


def packed(text: str) -> bytes:
    """Return a text as it is stored whole."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 9)


def unpacked(stored: bytes) -> str:
    """Return a text that is stored whole. Raises ValueError for a damaged one."""
    return inflated(stored, MAX_TEXT).decode("utf-8", "surrogatepass")


def chained(before: bytes, parts: Sequence[str]) -> bytes:
    """Return the hash of a version: SHA-256 of the one before and of its own parts, as a JSON array.

    Whoever has kept a hash can prove by it that no version up to then was changed since.
    """
    return hashlib.sha256(before + msgspec.json.encode(list(parts))).digest()
