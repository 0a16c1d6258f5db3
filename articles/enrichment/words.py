"""Words and sentences of a text in any language, broken by ICU's dictionaries and Unicode's rules (UAX 29).

Chinese, Japanese, Thai, Khmer and Lao, which are written without blanks, are split into words, too. Pure.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

import stopwordsiso
from icu4py.breakers import SentenceBreaker, WordBreaker

VERSION = "1"
MAX_CHARACTERS = 40_000
"""Characters read of a text; later ones change neither its keywords nor its story."""
LONGEST = 64
_LONG = 14
_TOGETHER = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER")


def primary(tag: str) -> str:
    """Return the language of a tag without script and region: "pt" for "pt-BR"."""
    return tag.replace("_", "-").partition("-")[0].lower()[:8]


def words(text: str, language: str = "") -> list[str]:
    """Return the words in order, case-folded, with numbers; ICU breaks by the language's own rules."""
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).replace("’", "'").casefold()
    tokens = WordBreaker(plain, primary(language) or "en")
    # Most tokens are words, and blanks between them.
    return [
        word if len(word) <= LONGEST else word[:LONGEST]
        for word in tokens
        if word[0].isalnum() or (len(word) > 1 and len(word.strip()) > 1)
    ]


def terms(text: str, language: str = "") -> list[str]:
    """Return the words that may describe a text's subject: no numbers, function words or very short words."""
    return terms_of(words(text, language), language)


def terms_of(text_words: Iterable[str], language: str = "") -> list[str]:
    """Return those of a text's words that may describe its subject."""
    function_words = _function_words(primary(language))
    candidates = (word.removesuffix("'s") for word in text_words)
    return [word for word in candidates if word not in function_words and _tells(word)]


def sentences(text: str, language: str = "") -> list[str]:
    """Return the sentences in order. The end of a line ends a sentence."""
    blocks = SentenceBreaker(text[:MAX_CHARACTERS], primary(language) or "en")
    return [stripped for block in blocks for part in block.split("\n") if (stripped := part.strip())]


@functools.lru_cache(20_000)
def _tells(word: str) -> bool:
    letters = [character for character in word if character.isalpha()]
    if not letters or 2 * len(letters) < len(word) or word.startswith(("http", "www.")):
        return False
    if len(word) > _LONG and len(letters) < len(word):
        return False  # a checksum, an address, a file name
    # Of scripts that are written together one character says much.
    if any(letter > "\u0dff" and unicodedata.name(letter, "").startswith(_TOGETHER) for letter in letters):
        return len(letters) > 1 and not all("\u3040" <= character <= "\u309f" for character in letters)
    return len(letters) > 2


@functools.cache
def _function_words(language: str) -> frozenset[str]:
    """Return the function words of a language and of English, which occur in texts of all languages."""
    languages = {language, "en"} & set(stopwordsiso.langs())
    return frozenset(word.casefold() for tag in languages for word in stopwordsiso.stopwords(tag))
