"""Full-text search in PostgreSQL over many languages.

The vector of an article is a generated column: words of title, author and text, stemmed by the article's
language where PostgreSQL has a stemmer, unstemmed elsewhere. Chinese, Japanese and Korean characters are
split one by one, and the query is a phrase of them, so that any part of a text is found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVectorField
from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Func, Value
from django.db.models.sql.compiler import SQLCompiler

from articles.operators import split_operators
from crawler.text.characters import SEARCHED_CHARACTERS
from crawler.text.search import CJK, Search, parse_search

# ISO 639-1 code -> PostgreSQL text search configuration (those PostgreSQL 14 and later ship).
STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "id": "indonesian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip


class ArticleVector(Func):
    """The generated tsvector column over title (A), author (B) and text (C)."""

    output_field = SearchVectorField()
    template = "%(expressions)s"

    def as_sql(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[str | int]]:
        """Compile the columns; the configuration names are constants, so the expression is immutable."""
        columns = [compiler.compile(source)[0] for source in self.source_expressions]
        language, title, author, text = columns
        config = "CASE lower(split_part({}, '-', 1)) {} ELSE 'simple'::regconfig END".format(
            language, " ".join(f"WHEN '{code}' THEN '{name}'::regconfig" for code, name in STEMMERS.items())
        )
        parts = (
            ("A", f"left({title}, 1000)"),
            ("B", f"left({author}, 200)"),
            ("C", f"left({text}, {SEARCHED_CHARACTERS})"),
        )
        split = r"regexp_replace({}, '([" + CJK + r"])', ' \1 ', 'g')"
        vectors = (
            f"setweight(to_tsvector({config}, {split.format(column)}), '{weight}')"
            for weight, column in parts
        )
        return " || ".join(vectors).replace("%", "%%"), []


class ParsedQuery(SearchQuery):
    """A text search query already parsed by PostgreSQL, in the notation of its type `tsquery`."""

    template = "%(expressions)s::tsquery"


def article_query(words: str, language: str = "", *, typing: bool = False) -> ParsedQuery:
    """Return the query for the words of a search in the given language, or in all that have a stemmer.

    Wanted terms may match under any stemmer, excluded terms must match under none. With `typing`, the last
    word may be the beginning of one. Queries the database for the stems. Raises SearchError for a search that
    is too long.
    """
    plain = split_operators(words)[0]
    return query_of(parse_search(plain), language, beginning=_last_word(plain) if typing else "")


def author_query(words: str) -> ParsedQuery:
    """Return the query for articles that have the words in their authors' names. Raises SearchError."""
    return ParsedQuery(_LEXEME.sub(r"\1:B", _notation(parse_search(split_operators(words)[0]), "", "")))


def query_of(search: Search, language: str = "", *, beginning: str = "") -> ParsedQuery:
    """Return the query for a parsed search. Words that begin with `beginning` match it, too."""
    return ParsedQuery(_notation(search, language, beginning))


def _notation(search: Search, language: str, beginning: str) -> str:
    """Return a query in PostgreSQL's notation."""
    stemmer = STEMMERS.get(language.split("-", maxsplit=1)[0].lower())
    forms = _forms(tuple(search.terms), ("simple", *([stemmer] if stemmer else STEMMERS.values())))
    if beginning in forms:
        known = forms[beginning]
        forms = forms | {beginning: _Forms(f"{known.stems} | '{beginning}':*", is_stop_word=False)}
    alternatives = [
        _all_of([forms[term] for term in terms if term in forms]) for terms in search.alternatives
    ]
    excluded = [f"!({forms[term].stems})" for term in search.excluded if term in forms]
    any_alternative = " | ".join(filter(None, alternatives))
    return " & ".join([f"({any_alternative})" if any_alternative else "", *excluded]).removeprefix(" & ")


_LEXEME = re.compile(r"('(?:[^'\\]|''|\\.)*')")
_MIN_BEGINNING = 2


def _last_word(words: str) -> str:
    """Return the plain word at the end of what is being typed, "" where it is too short or something else."""
    word = words.rpartition(" ")[2]
    return word if len(word) >= _MIN_BEGINNING and word.isalnum() else ""


@dataclass(frozen=True, slots=True)
class _Forms:
    """The stems of a word or phrase, as alternatives, and whether a language treats it as a stop word."""

    stems: str
    is_stop_word: bool


@lru_cache(maxsize=512)
def _forms(terms: tuple[str, ...], configs: tuple[str, ...]) -> dict[str, _Forms]:
    """Return the stems of words and phrases in text search configurations. Omits signs without a letter."""
    if not terms:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT term, string_agg(DISTINCT query::text, ' | ') FILTER (WHERE numnode(query) > 0),
                bool_or(numnode(query) = 0)
            FROM unnest(%s::text[]) AS term, unnest(%s::regconfig[]) AS config,
                phraseto_tsquery(config, term) AS query
            GROUP BY term
            """,
            [list(terms), list(configs)],
        )
        return {term: _Forms(stems, is_stop) for term, stems, is_stop in cursor.fetchall() if stems}


def _all_of(terms: Sequence[_Forms]) -> str:
    """Join terms that must all match. Stop words count only when there are no other terms.

    No article is indexed under a stop word of its language, so requiring it would find nothing.
    """
    content_terms = [term for term in terms if not term.is_stop_word] or terms
    return " & ".join(f"({term.stems})" for term in content_terms)


def highlighted(words: str) -> Func:
    """Return a snippet of the article's text with matches between U+E000 and U+E001 (never markup)."""
    return Func(
        Value("simple"),
        Func(F("text"), Value(SEARCHED_CHARACTERS), function="left"),
        article_query(words),
        Value("StartSel=\ue000,StopSel=\ue001,MaxFragments=2,MaxWords=24,MinWords=8"),
        function="ts_headline",
        output_field=models.TextField(),
    )
