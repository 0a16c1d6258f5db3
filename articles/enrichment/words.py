"""Words and sentences of a text in any language, as ICU's dictionaries and Unicode's rules (UAX 29) break it.

Chinese, Japanese, Thai, Khmer and Lao, which write no blanks, come as words like everything else. Pure.
"""

from __future__ import annotations

import functools
import unicodedata

import stopwordsiso
from icu4py.breakers import SentenceBreaker, WordBreaker

VERSION = "1"
MOST_CHARACTERS = 40_000
"""Of a text; what comes later changes neither its keywords nor its story."""
LONGEST = 64
_LONG = 14
_TOGETHER = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER")


def primary(tag: str) -> str:
    """The language of a tag without script and region: "pt" for "pt-BR"; "" for what is none."""
    return tag.replace("_", "-").partition("-")[0].lower()[:8]


def words(text: str, language: str = "") -> list[str]:
    """Words in their order, lower case, with numbers; ICU breaks by the language's own rules."""
    plain = unicodedata.normalize("NFKC", text[:MOST_CHARACTERS]).replace("’", "'")
    broken = WordBreaker(plain, primary(language) or "en")
    return [word.casefold()[:LONGEST] for word in broken if word[0].isalnum() or len(word.strip()) > 1]


def terms(text: str, language: str = "") -> list[str]:
    """The words that can say what a text is about: no numbers, no function words, nothing too short."""
    common = _function_words(primary(language))
    found = (word.removesuffix("'s") for word in words(text, language))
    return [word for word in found if word not in common and _tells(word)]


def sentences(text: str, language: str = "") -> list[str]:
    """Sentences in their order; the end of a line ends one."""
    broken = SentenceBreaker(text[:MOST_CHARACTERS], primary(language) or "en")
    return [stripped for one in broken for part in one.split("\n") if (stripped := part.strip())]


def _tells(word: str) -> bool:
    letters = [character for character in word if character.isalpha()]
    if not letters or 2 * len(letters) < len(word) or word.startswith(("http", "www.")):
        return False
    if len(word) > _LONG and len(letters) < len(word):
        return False  # a checksum, an address, a file name
    # Of scripts that are written together one character says much.
    if any(each > "\u0dff" and unicodedata.name(each, "").startswith(_TOGETHER) for each in letters):
        return len(letters) > 1 and not all("\u3040" <= character <= "\u309f" for character in letters)
    return len(letters) > 2


@functools.cache
def _function_words(language: str) -> frozenset[str]:
    """Of a language, and of English, whose words stand in texts of all."""
    known = {language, "en"} & set(stopwordsiso.langs())
    return frozenset(word.casefold() for one in known for word in stopwordsiso.stopwords(one))
