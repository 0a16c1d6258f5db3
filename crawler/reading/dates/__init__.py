"""Times of publication in feeds and pages, converted to epoch seconds: known forms, then any language."""

from __future__ import annotations

import html
import importlib
import unicodedata

from crawler.reading.dates import forms

LONGEST = 200  # characters that are looked at
MAX_FOREIGN = 400
"""Readings by a library that one document's dates may cost: some 4 ms each."""

_INVISIBLE = dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF, 0xAD])


class Dates:
    """A reader of one document's dates. A time without zone is UTC; no date is better than a wrong one.

    Known forms cost microseconds, dateparser milliseconds (and its languages tenths of a second once in a
    process); more than `limit` of these readings are not made, and what would need them stays unread.
    """

    def __init__(self, limit: int = MAX_FOREIGN) -> None:
        self._left = limit
        self._known: dict[str, float | None] = {}

    def epoch(self, text: str) -> float | None:
        """Parse a date in any form and language to epoch seconds. Returns None when it cannot be parsed.

        Years before 1900 are programs' empty values (0001-01-01, 0000-00-00), no dates.
        """
        if not text:
            return None
        if (moment := forms.usual(text)) is not None:
            return moment
        text = _plain(text[:LONGEST])
        if not text or not any(c.isdigit() for c in text):
            return None
        seconds, certain = forms.read(text)
        return seconds if certain else self._foreign(text)

    def _foreign(self, text: str) -> float | None:
        """Read a text in no known form with dateparser."""
        if text not in self._known:
            # 3 MB and 0.1 s, which most processes never need.
            languages = importlib.import_module("crawler.reading.dates.languages")
            self._known[text], cost = languages.read(text, self._left)
            self._left -= cost
        return self._known[text]


def epoch(text: str) -> float | None:
    """Read a date that stands alone."""
    return Dates().epoch(text)


def _plain(text: str) -> str:
    """Return one line with ASCII digits, without marks of direction and references such as &#43;."""
    if "&" in text:
        text = html.unescape(text)
    text = " ".join(text.translate(_INVISIBLE).split())
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
