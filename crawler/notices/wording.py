"""Texts of messages from templates with places, such as "$title in $source". Pure.

A place is a name after a dollar sign; nothing is computed in a template, so that none can cost much.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from crawler.text.characters import without_accents
from crawler.text.search import CJK

PLACES = ("title", "text", "source", "url", "link", "date", "rule")
MAX_TITLE, MAX_TEXT = 300, 4000
_QUOTES = str.maketrans(dict.fromkeys("’‘ʼ´`", "'") | dict.fromkeys("“”„", '"'))
_CJK_SIGN = re.compile(f"[{CJK}]")
WORD_SIGN = rf"[^\W{CJK}]"
"""The pattern of a letter or digit of a language that has blanks between its words."""
_NO_LETTER = re.compile(rf"[\W{CJK}]")
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


@dataclass(frozen=True, slots=True)
class Phrase:
    """A word or phrase as it is looked for, which is no part of another word.

    Chinese, Japanese and Korean words have no ends, so that `begins` and `ends` say whether a letter may not
    stand there. A Latin word beside one of their signs stands alone: 今日のdecisionについて.
    """

    plain: str
    begins: bool
    ends: bool

    @property
    def is_whole(self) -> bool:
        """True if both its ends are those of words."""
        return self.begins and self.ends

    def search(self, plain: str) -> bool:
        """Return whether it is in a text that `plain_text` made."""
        start = plain.find(self.plain)
        while start >= 0:  # a pattern with all signs of those languages took 10 ms to compile
            if self.stands_at(plain, start):
                return True
            start = plain.find(self.plain, self._after(plain, start))
        return False

    def _after(self, plain: str, start: int) -> int:
        """Return the next place where it may stand: what begins a word does so behind what is no letter."""
        if not self.begins:
            return start + 1
        gap = _NO_LETTER.search(plain, start)
        return gap.end() if gap else len(plain)

    def stands_at(self, plain: str, start: int) -> bool:
        """Return whether it is no part of another word where a text has it."""
        if self.begins and start and _is_letter(plain[start - 1]):
            return False
        end = start + len(self.plain)
        return not self.ends or end == len(plain) or not _is_letter(plain[end])


def _is_letter(sign: str) -> bool:
    """Return whether a sign is a letter or digit of a language that has blanks between its words."""
    return (sign.isalnum() or sign == "_") and not _CJK_SIGN.match(sign)


def has_any(text: str, words: str) -> bool:
    """Return whether one of the words or phrases, separated by commas or lines, is in a text.

    Case, accents, the kind of quotes and the number of blanks count for nothing, as in searches.
    """
    plain = plain_text(text)
    return any(phrase.search(plain) for phrase in whole_phrases(words))


def plain_text(text: str) -> str:
    """Return a text as words are compared with it: small letters, no accents, single blanks."""
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(without_accents(text.translate(_QUOTES)).split())


@lru_cache(maxsize=4096)
def whole_phrases(words: str) -> tuple[Phrase, ...]:
    """Return the words or phrases that are separated by commas or lines."""
    return tuple(phrase_of(plain) for plain in map(plain_text, re.split(r"[,\n]", words)) if plain)


def phrase_of(plain: str) -> Phrase:
    """Return the phrase of a text that `plain_text` made."""
    return Phrase(plain, not _CJK_SIGN.match(plain[0]), not _CJK_SIGN.match(plain[-1]))
