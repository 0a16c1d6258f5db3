"""Parts of a text around the words of a search. Pure."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from crawler.text.search import CJK

START, END = "\ue000", "\ue001"
"""Private characters around each match."""

MAX_WORDS = 24
MAX_FRAGMENTS = 2
_MAX_ENDING = 3
"""Letters that a word may have behind the stem it is found by."""
_RANGES = ((0xC0, 0x250), (0x370, 0x530), (0x1E00, 0x2000))


def _plain_letter(code: int) -> str:
    """Return the letter without its accent, itself if that is not one letter."""
    letters = [sign for sign in unicodedata.normalize("NFD", chr(code)) if not unicodedata.combining(sign)]
    return letters[0] if len(letters) == 1 else chr(code)


_WITHOUT_ACCENTS = {
    code: _plain_letter(code) for start, end in _RANGES for code in range(start, end)
} | str.maketrans("øØłŁđĐðÐħĦŧŦıŋŊ", "oOlLdDdDhHtTinN")
"""Letter for letter, so that places in a text stay the same."""


def snippet(text: str, stems: Sequence[str]) -> str:
    """Return up to two parts of a text with the words that begin with a stem between `START` and `END`.

    The stems are in small letters and without accents. Without a match it is the beginning of the text.
    """
    text = text.replace(START, "").replace(END, "")
    words = list(_WORD.finditer(text))
    if not words:
        return ""
    pattern = _pattern(stems)
    matches = list(pattern.finditer(text.translate(_WITHOUT_ACCENTS))) if pattern else []
    parts: list[str] = []
    after = 0
    starts = [word.start() for word in words]
    for match in matches:
        if match.start() < after or len(parts) == MAX_FRAGMENTS:
            continue
        first = max(_index_at(starts, match.start()) - MAX_WORDS // 3, _index_at(starts, after))
        last = min(first + MAX_WORDS, len(words)) - 1
        begin, after = words[first].start(), max(words[last].end(), match.end())
        parts.append(_marked(text, begin, after, matches))
    return " … ".join(parts) or text[words[0].start() : words[min(MAX_WORDS, len(words)) - 1].end()]


_WORD = re.compile(rf"[{CJK}]|[^\s{CJK}]{{1,80}}")


def _pattern(stems: Sequence[str]) -> re.Pattern[str] | None:
    """Return the pattern of words that begin with a stem, None without stems."""
    whole = [re.escape(stem) for stem in stems if stem and not re.search(f"[{CJK}]", stem)]
    runs = [re.escape(stem) for stem in stems if re.search(f"[{CJK}]", stem)]
    alternatives = []
    if whole:
        alternatives.append(rf"(?<!\w)(?:{'|'.join(whole)})\w{{0,{_MAX_ENDING}}}(?!\w)")
    if runs:
        alternatives.append(rf"(?:{'|'.join(runs)})+")
    return re.compile("|".join(alternatives), re.IGNORECASE) if alternatives else None


def _index_at(starts: Sequence[int], place: int) -> int:
    """Return the index of the word that a place of the text is in, or that follows it."""
    return max(bisect_right(starts, place) - 1, 0)


def _marked(text: str, begin: int, end: int, matches: Sequence[re.Match[str]]) -> str:
    """Return a part of the text with the matches in it marked."""
    parts, place = [], begin
    for match in matches:
        if begin <= match.start() and match.end() <= end:
            parts += [text[place : match.start()], START, text[match.start() : match.end()], END]
            place = match.end()
    return "".join([*parts, text[place:end]])
