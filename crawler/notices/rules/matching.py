"""Match articles against the conditions of rules. Pure.

A thousand rules are asked of each new article while it is stored, so that a rule is first looked up by what
an article must have for it (a word, a tag, some letters), and only then asked in full.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import regex
from ahocorasick_rs import AhoCorasick

from crawler.notices.wording import WORD_SIGN, Phrase, phrase_of, plain_text, whole_phrases
from crawler.text.patterns import LONGEST, PatternAllowance, PatternError, compiled

FIELDS = ("title", "text", "author", "address", "tag")
"""Parts of an article in which words and expressions may be looked for."""
_TOKEN = re.compile(f"{WORD_SIGN}+")
_CERTAIN_LETTERS = 3
_MAX_SOUGHT = 12
"""Signs of a word that are looked for, and so the most words that begin or end with each other at one place:
rules for a, aa, aaa and so on took 500 MB and ten seconds for a text of that letter."""
_WINDOW = 4096
"""Signs of a text whose matches are in memory together."""
_CASE_GIVEN = re.compile(r"\(\?[a-zA-Z]*-?[a-zA-Z]*i")
_OPTIONAL = re.compile(r"[|?*{]|\\[^\W_bBdDwWsS]")
_NO_LETTERS = re.compile(r"\\[^\w]?\w?|\[[^\]]*\]?|[^\w]+")


@dataclass(frozen=True, slots=True)
class ArticleConditions:
    """Conditions of a rule for an article. Those that are empty hold for all; all others must hold.

    `words` and `without_words` are words or phrases between commas or line ends, any of which is enough;
    case and accents count for nothing. Expressions are regular ones, whose case counts only if they say so
    (`(?-i)`). `looked_in` is one of FIELDS, "" for all of them. Lengths are words of the text.
    """

    words: str = ""
    without_words: str = ""
    expression: str = ""
    without_expression: str = ""
    looked_in: str = ""
    author: str = ""
    tag: str = ""
    language: str = ""
    longer_than: int | None = None
    shorter_than: int | None = None
    copies: bool = False

    @property
    def is_empty(self) -> bool:
        """True if every article would meet them."""
        return self == ArticleConditions(looked_in=self.looked_in)


class MatchedArticle:
    """The parts of an article that rules look at. `is_copy`: another feed told the same story before."""

    def __init__(
        self, title: str = "", text: str = "", author: str = "", address: str = "", *,
        tags: Sequence[str] = (), language: str = "", is_copy: bool = False,
    ) -> None:  # fmt: skip
        self._raw = {
            "title": (title,),
            "text": (text,),
            "author": (author,),
            "address": (address,),
            "tag": tags,
        }
        self.tags, self.language, self.is_copy = tags, language.casefold(), is_copy
        self._parts: dict[str, tuple[str, ...]] = {}
        self._plain: dict[str, str] = {}

    def parts(self, field: str) -> tuple[str, ...]:
        """Return the texts that are in a field, or in all with "": in each, `^` is the beginning."""
        if field not in self._parts:
            names = (field,) if field else FIELDS
            self._parts[field] = tuple(_trimmed(value) for name in names for value in self._raw[name])
        return self._parts[field]

    def plain(self, field: str) -> str:
        """Return a part, or all with "", as words are compared with it."""
        if field not in self._plain:
            self._plain[field] = plain_text("\n".join(self.parts(field)))
        return self._plain[field]

    def folded(self) -> str:
        """Return all its parts as words are looked for in them: `plain`, but for the blanks in ASCII."""
        text = "\n".join([value for values in self._raw.values() for value in values])
        return text.lower() if text.isascii() else self.plain("")

    @cached_property
    def plain_tags(self) -> frozenset[str]:
        """Its tags, as they are compared."""
        return frozenset(map(plain_text, self.tags))

    @cached_property
    def length(self) -> int:
        """The number of words of its text; a Chinese or Japanese sign counts as one."""
        return sum(1 for part in self.parts("text") for _ in _WORD_OR_SIGN.finditer(part))


def _trimmed(text: str) -> str:
    """Return a text as expressions see it: hard blanks are blanks, and none is at its ends."""
    return text.replace("\xa0", " ").strip()


_WORD_OR_SIGN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[^\W\p{Han}\p{Hiragana}\p{Katakana}]+")


def check_expression(expression: str) -> None:
    """Raise PatternError, with the reason, for what is no regular expression."""
    if expression:
        _expression(expression)


def meets(conditions: ArticleConditions, article: MatchedArticle, allowance: PatternAllowance) -> bool:
    """Return whether an article meets conditions; what is cheap is asked first."""
    return all(ask(conditions, article, allowance) for ask in _QUESTIONS)


def _of_author(conditions: ArticleConditions, article: MatchedArticle, _: PatternAllowance) -> bool:
    return not conditions.author or plain_text(conditions.author) in article.plain("author")


def _of_tag(conditions: ArticleConditions, article: MatchedArticle, _: PatternAllowance) -> bool:
    return not conditions.tag or plain_text(conditions.tag) in article.plain_tags


def _of_language(conditions: ArticleConditions, article: MatchedArticle, _: PatternAllowance) -> bool:
    wanted = conditions.language.casefold()
    return not wanted or article.language == wanted or article.language.startswith(f"{wanted}-")


def _of_copies(conditions: ArticleConditions, article: MatchedArticle, _: PatternAllowance) -> bool:
    return article.is_copy or not conditions.copies


def _of_length(conditions: ArticleConditions, article: MatchedArticle, _: PatternAllowance) -> bool:
    longer, shorter = conditions.longer_than, conditions.shorter_than
    if longer is None and shorter is None:
        return True
    return (longer is None or article.length > longer) and (shorter is None or article.length < shorter)


def _of_words(conditions: ArticleConditions, article: MatchedArticle, _: PatternAllowance) -> bool:
    wanted, unwanted = whole_phrases(conditions.words), whole_phrases(conditions.without_words)
    if not wanted and not unwanted:
        return True
    text = article.plain(conditions.looked_in)
    if wanted and not any(phrase.search(text) for phrase in wanted):
        return False
    return not any(phrase.search(text) for phrase in unwanted)


def _of_expression(
    conditions: ArticleConditions, article: MatchedArticle, allowance: PatternAllowance
) -> bool:
    if not conditions.expression and not conditions.without_expression:
        return True
    parts = article.parts(conditions.looked_in)
    if conditions.expression and not _found(conditions.expression, parts, allowance):
        return False
    return not conditions.without_expression or not _found(conditions.without_expression, parts, allowance)


def _found(expression: str, parts: Sequence[str], allowance: PatternAllowance) -> bool:
    pattern = _expression(expression)
    return any(allowance.found_in(pattern, part) for part in parts)


_QUESTIONS: tuple[Callable[[ArticleConditions, MatchedArticle, PatternAllowance], bool], ...] = (
    _of_tag, _of_language, _of_copies, _of_author, _of_words, _of_length, _of_expression,
)  # fmt: skip


_TOKEN_OF_EXPRESSION = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_SIGNS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}"
_EDGE = rf"(?:\b|(?<=[{_SIGNS}])(?=[^\W{_SIGNS}])|(?<=[^\W{_SIGNS}])(?=[{_SIGNS}]))"
"""The end of a word, which a Latin word also has beside a Chinese, Japanese or Korean sign."""


@lru_cache(maxsize=4096)
def _expression(expression: str) -> regex.Pattern[str]:
    """Compile an expression; case counts for nothing in it unless it says otherwise."""
    compiled(expression)  # as it was written, for what is wrong with it
    expression = _TOKEN_OF_EXPRESSION.sub(lambda one: _EDGE if one[0] == r"\b" else one[0], expression)
    return compiled(expression if _CASE_GIVEN.search(expression) else f"(?i:{expression})", LONGEST * 10)


class Matcher:
    """Rules by their keys, found for an article without asking each.

    All words and letters that rules look for are found in a text in one pass (Aho and Corasick 1975). To look
    each word of an article up took three times as long.
    """

    def __init__(self, rules: Mapping[int, ArticleConditions]) -> None:
        """Index the rules. An expression is compiled when an article first comes near it."""
        self._rules = dict(rules)
        self._by_phrase: dict[Phrase, list[int]] = defaultdict(list)
        self._by_tag: dict[str, list[int]] = defaultdict(list)
        self._others: list[int] = []
        for key, conditions in rules.items():
            self._index(key, conditions)
        self._phrases = list(self._by_phrase)
        self._finder = AhoCorasick([phrase.plain for phrase in self._phrases])

    def _index(self, key: int, conditions: ArticleConditions) -> None:
        if conditions.tag:
            self._by_tag[plain_text(conditions.tag)].append(key)
        elif phrases := whole_phrases(conditions.words):
            for phrase in phrases:
                # Its longest word: the blanks of a text may be others than those of the phrase.
                self._by_phrase[_beginning(phrase_of(max(phrase.plain.split(), key=len)))].append(key)
        elif letters := _letters_of(conditions):
            self._by_phrase[_beginning(Phrase(letters, begins=False, ends=False))].append(key)
        else:
            self._others.append(key)

    def matching(
        self, article: MatchedArticle, keys: Collection[int], allowance: PatternAllowance
    ) -> list[int]:
        """Return those of the rules with these keys that an article meets, in the order of their keys.

        A rule whose expression is none meets nothing.
        """
        candidates = {key for key in self._candidates(article) if key in keys}
        return sorted(key for key in candidates if self._meets(key, article, allowance))

    def _meets(self, key: int, article: MatchedArticle, allowance: PatternAllowance) -> bool:
        try:
            return meets(self._rules[key], article, allowance)
        except PatternError:
            return False

    def _candidates(self, article: MatchedArticle) -> Iterator[int]:
        for tag in article.plain_tags & self._by_tag.keys():
            yield from self._by_tag[tag]
        for phrase in self._found_in(article.folded()):
            yield from self._by_phrase[phrase]
        yield from self._others

    def _found_in(self, text: str) -> set[Phrase]:
        found = set()
        for begin in range(0, len(text), _WINDOW):
            window = text[begin : begin + _WINDOW + _MAX_SOUGHT - 1]
            for index, start, _end in self._finder.find_matches_as_indexes(window, overlapping=True):
                phrase = self._phrases[index]
                if phrase not in found and phrase.stands_at(text, begin + start):
                    found.add(phrase)
        return found


def _beginning(phrase: Phrase) -> Phrase:
    """Return the beginning of a word or of letters that are looked for."""
    if len(phrase.plain) <= _MAX_SOUGHT:
        return phrase
    return Phrase(phrase.plain[:_MAX_SOUGHT], phrase.begins, ends=False)


def _letters_of(conditions: ArticleConditions) -> str:
    """Return letters that are in a word of every article that meets the conditions, "" if none are sure."""
    runs = (run for run in _TOKEN.findall(plain_text(conditions.author)) if run.isascii())
    letters = max(runs, key=len, default="")
    return letters if len(letters) >= _CERTAIN_LETTERS else certain_letters(conditions.expression)


def certain_letters(expression: str) -> str:
    """Return small ASCII letters that are in every text an expression finds, "" if none are sure.

    Expressions with a choice, an option, a repetition that may be none, or a sign by its number say nothing.
    """
    bare = expression.removeprefix("(?i)")
    if _OPTIONAL.search(bare):
        return ""
    # With case ignored, K is the Kelvin sign and s the long s, too.
    runs = (run for run in _NO_LETTERS.split(bare) if run.isascii())
    letters = max((part for run in runs for part in re.split("[ks]", run.lower())), key=len, default="")
    return letters if len(letters) >= _CERTAIN_LETTERS else ""
