"""Texts matched against a search in memory, for queries that no index of PostgreSQL answers. Pure.

Words match whole, without regard to case and accents; a `*` at the end of a word matches any ending. Nothing
is stemmed: PostgreSQL alone does that.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from crawler.text.characters import without_accents
from crawler.text.search import CJK, Search, spaced

MAX_MATCHED_CHARACTERS = 100_000
_MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M")
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}][^\W_{CJK}]*(?:[{re.escape(_MARKS)}]+[^\W_{CJK}]*)*")
"""A character of CJK, or a word: letters and digits, with the vowel signs of Indic scripts and of Thai."""


def matcher(search: Search) -> Callable[[str], bool]:
    """Return a function that says whether a text matches a search; an empty search matches nothing."""
    alternatives = [[_pattern(term) for term in terms] for terms in search.alternatives]
    excluded = [_pattern(term) for term in search.excluded]

    def matches(text: str) -> bool:
        words = _folded(text[:MAX_MATCHED_CHARACTERS])
        if any(pattern.search(words) for pattern in excluded):
            return False
        return any(all(pattern.search(words) for pattern in terms) for terms in alternatives)

    return matches


def _folded(text: str) -> str:
    """Return the words of a text in small letters and without accents, each between blanks."""
    return f" {' '.join(_WORD.findall(without_accents(spaced(text))))} "


def _pattern(term: str) -> re.Pattern[str]:
    """Return a pattern for a word or phrase in a folded text."""
    words = _folded(term).strip()
    if not words:  # signs alone are in no text
        return re.compile(r"(?!)")
    return re.compile(f" {re.escape(words)}{'' if term.endswith('*') else ' '}")
