"""Names of authors as words: without markup, mail addresses and references. Pure."""

from __future__ import annotations

import html
import re

MAX_CHARACTERS = 1000
"""Characters of a byline that are read."""
_TAG = re.compile(
    r"</?(?:a|abbr|address|b|big|br|cite|div|em|font|h[1-6]|i|img|li|ol|p|small|span|strong|sub|sup|time|u|ul)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_MAIL = re.compile(r"(?<![^\s<(,;])(?:mailto:)?[^\s@<>()]+@[^\s@<>(),;]+")
_BEFORE_COMMA = re.compile(r" ([,;])")
_BRACKETS = re.compile(r"</?|/?>|\(\s*\)")


def plain_byline(byline: str) -> str:
    """Return the words of a byline; "" where it has nothing but markup or a mail address.

    Brackets of what only looks like a tag are taken off, and what stands in them is kept.
    """
    text = byline[:MAX_CHARACTERS]
    for _ in range(2):
        if "&" not in text:
            break
        text = html.unescape(text)
    if "<" in text or ">" in text:
        text = _TAG.sub(" ", text)
    if "@" in text:
        text = _MAIL.sub(" ", text)
    words = _BEFORE_COMMA.sub(r"\1", " ".join(_BRACKETS.sub(" ", text).split()))
    if words.startswith("(") and words.endswith(")") and words.count("(") == 1:
        words = words[1:-1]
    return words.strip(" ,;|")
