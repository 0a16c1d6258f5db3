"""Parsing of search fields: words, "a phrase", -without, or. Pure.

Every search of the product is parsed here, so that all have the same limits: the work of a search grows with
its words, and a query of a thousand would keep the database busy for minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

MAX_SEARCH_CHARACTERS = 300
MAX_SEARCH_WORDS = 32
CJK = "぀-ヿ㐀-䶿一-鿿가-힯豈-﫿"
"""Chinese, Japanese and Korean characters, as a character class of a regular expression without brackets."""

_CHARACTERS_TO_A_WORD = 4
_CJK_RUN = re.compile(f"[{CJK}]+")
_SIGNS = re.compile(r"\w[+#]|\w&\w|(?:^|\s)\.[^\W\d_]")
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
_SCRIPTS = re.compile(f"[{CJK}]+|[^{CJK}]+")
_TERM = re.compile(r'(?P<minus>(?<!\S)-+)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


class SearchError(ValueError):
    """A refused search; its text is a sentence for whoever typed it."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search: of one of `alternatives` every word or phrase must match, and none of `excluded`.

    Chinese, Japanese and Korean characters are separated by blanks, as they are in the index.
    """

    alternatives: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def terms(self) -> list[str]:
        """All words and phrases, each once."""
        every = (term for alternative in self.alternatives for term in alternative)
        return list(dict.fromkeys([*every, *self.excluded]))


def parse_search(text: str) -> Search:
    """Parse a search. Raises SearchError for one too long."""
    if len(text) > MAX_SEARCH_CHARACTERS:
        raise SearchError(
            f"A search takes at most {MAX_SEARCH_CHARACTERS} characters; this one has {len(text)}."
        )
    alternatives: list[list[str]] = [[]]
    excluded: list[str] = []
    for match in _TERM.finditer(text.translate(_QUOTES)):
        term = " ".join((match["phrase"] if match["word"] is None else match["word"]).split())
        parts = _SCRIPTS.findall(term) if match["word"] is not None else [term]
        term = spaced(term)
        if match["minus"]:
            excluded.append(term)
        elif match["word"] is not None and term.lower() == "or":
            alternatives.append([])
        elif term:
            alternatives[-1].extend(map(spaced, parts))
    search = Search(_unique(filter(None, alternatives)), tuple(dict.fromkeys(filter(None, excluded))))
    count = sum(map(_word_count, search.terms))
    if count > MAX_SEARCH_WORDS:
        raise SearchError(f"A search takes at most {MAX_SEARCH_WORDS} words; this one has {count}.")
    return search


def literal_terms(terms: Iterable[str]) -> list[str]:
    """Return the words and phrases whose signs are part of them: C++, C#, AT&T, .NET.

    The index has words alone, so that what it finds must be looked at again.
    """
    return [term for term in terms if _SIGNS.search(term)]


def spaced(text: str) -> str:
    """Return the text with single blanks, also between Chinese, Japanese and Korean characters."""
    return " ".join(_CJK_RUN.sub(lambda run: f" {' '.join(run[0])} ", text).split())


def _unique(alternatives: Iterable[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(tuple(dict.fromkeys(terms)) for terms in alternatives))


def _word_count(term: str) -> int:
    """Count words; a few characters of a language without blanks count as one."""
    words = term.split()
    characters = sum(1 for word in words if _CJK_RUN.fullmatch(word))
    return len(words) - characters + -(-characters // _CHARACTERS_TO_A_WORD)
