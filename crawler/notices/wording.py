"""Texts of messages from templates with places, such as "$title in $source". Pure.

A place is a name after a dollar sign; nothing is computed in a template, so that none can cost much.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACES = ("title", "text", "source", "url", "link", "date", "rule")
MAX_TITLE, MAX_TEXT = 300, 4000
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
    """Return whether one of the words or phrases, separated by commas, is in a text."""
    small = text.casefold()
    return any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", small)
        for word in (part.strip().casefold() for part in words.split(","))
        if word
    )
