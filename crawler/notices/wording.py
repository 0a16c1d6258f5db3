"""Texts of messages from templates with places, such as "$title in $source". Pure.

A place is a name after a dollar sign; nothing is computed in a template, so that none can cost much.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from crawler.text.characters import without_accents
from crawler.text.search import CJK

PLACES = ("title", "text", "source", "url", "link", "date", "rule")
MAX_TITLE, MAX_TEXT = 300, 4000
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"'})
_CJK_SIGN = re.compile(f"[{CJK}]")
_PLACE = re.compile(r"\$(\$|[a-z]+|\{[a-z]+\})")


def unknown_places(template: str) -> list[str]:
    """Return the names after dollar signs that are no places."""
    names = [match[1].strip("{}") for match in _PLACE.finditer(template)]
    return [name for name in names if name != "$" and name not in PLACES]


def filled(template: str, values: Mapping[str, str], limit: int) -> str:
    """Return a template with its places filled, at most so many characters; unknown places stay."""

    def value(match: re.Match[str]) -> str:
        name = match[1].strip("{}")
        return "$" if name == "$" else values.get(name, match[0])

    text = _PLACE.sub(value, template)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def has_any(text: str, words: str) -> bool:
    """Return whether one of the words or phrases, separated by commas or lines, is in a text.

    Case, accents, the kind of quotes and the number of blanks count for nothing, as in searches.
    """
    plain_text = _plain(text)
    found = (_whole(word).search(plain_text) for word in map(_plain, re.split(r"[,\n]", words)) if word)
    return any(found)


def _plain(text: str) -> str:
    return " ".join(without_accents(text.translate(_QUOTES)).split())


def _whole(word: str) -> re.Pattern[str]:
    """Return the pattern of a word that is no part of another; Chinese, Japanese and Korean have no ends."""
    before = "" if _CJK_SIGN.match(word[0]) else r"(?<!\w)"
    after = "" if _CJK_SIGN.match(word[-1]) else r"(?!\w)"
    return re.compile(f"{before}{re.escape(word)}{after}")
