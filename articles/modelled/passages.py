"""Passages of long texts: the part around the words of a question, and the first sentences. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from articles.enrichment.words import sentences

_STEPS = 5
"""Beginnings of passages that are compared in the length of one."""


def passage(text: str, stems: Sequence[str], length: int) -> str:
    """Return the part of a text, up to `length` characters, with most of the stems; the first of equal ones.

    The stems are in small letters and without accents.
    """
    if len(text) <= length:
        return text.strip()
    step = max(length // _STEPS, 1)
    best, best_count = 0, -1
    for begin in range(0, len(text) - length + step, step):
        part = _without_accents(text[begin : begin + length])
        count = sum(1 for stem in stems if re.search(rf"(?<!\w){re.escape(stem)}", part))
        if count > best_count:
            best, best_count = begin, count
    part = text[best : best + length]
    # Words that are cut are no words of the article.
    first = part.find(" ") + 1 if best else 0
    last = part.rfind(" ") if best + length < len(text) else len(part)
    return part[first : last if last > first else len(part)].strip()


def first_sentences(text: str, count: int, length: int) -> str:
    """Return the first sentences of a text, and no more than `length` characters."""
    return " ".join(sentences(text[: 4 * length])[:count])[:length]


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
