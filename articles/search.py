"""Full-text search in PostgreSQL over many languages.

The vector of an article is a generated column: words of title, author and text, stemmed by the article's
language where PostgreSQL has a stemmer, as they stand elsewhere. Chinese, Japanese and Korean characters
are split one by one, and the query is a phrase of them, so that any part of a text is found.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVectorField
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Expression, F, Func, Value
from django.db.models.sql.compiler import SQLCompiler

# ISO 639-1 code -> PostgreSQL text search configuration (those PostgreSQL 14 and later ship).
STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "id": "indonesian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip
CJK = "぀-ヿ㐀-䶿一-鿿가-힯豈-﫿"
INDEXED_CHARACTERS = 200_000  # a tsvector holds at most 1 MiB


class ArticleVector(Func):
    """The generated tsvector column over title (A), author (B) and text (C)."""

    output_field = SearchVectorField()
    template = "%(expressions)s"

    def as_sql(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[str | int]]:
        """Columns into SQL; the configuration names are constants, so the expression is immutable."""
        columns = [compiler.compile(source)[0] for source in self.source_expressions]
        language, title, author, text = columns
        config = "CASE lower(split_part({}, '-', 1)) {} ELSE 'simple'::regconfig END".format(
            language, " ".join(f"WHEN '{code}' THEN '{name}'::regconfig" for code, name in STEMMERS.items())
        )
        parts = (
            ("A", f"left({title}, 1000)"),
            ("B", f"left({author}, 200)"),
            ("C", f"left({text}, {INDEXED_CHARACTERS})"),
        )
        split = r"regexp_replace({}, '([" + CJK + r"])', ' \1 ', 'g')"
        vectors = (
            f"setweight(to_tsvector({config}, {split.format(column)}), '{weight}')"
            for weight, column in parts
        )
        return " || ".join(vectors).replace("%", "%%"), []


def article_query(words: str, language: str = "") -> Expression:
    """A web-style query ("quoted phrase", -not, or) in the given language, or in all that have a stemmer.

    What is wanted may be found under any stemmer, what is not wanted must be found under none.
    """
    spaced = re.sub(f"(-?)([{CJK}]+)", lambda run: f' {run[1]}"{" ".join(run[2])}" ', words)
    unwanted = _NOT.findall(spaced)
    wanted = _NOT.sub(" ", spaced).strip()
    stemmer = STEMMERS.get(language.split("-", maxsplit=1)[0].lower())
    configs = ["simple", *([stemmer] if stemmer else STEMMERS.values())]
    refused = [~_web_query(term, config) for term in unwanted for config in configs]
    if not wanted and refused:
        return functools.reduce(operator.and_, refused)
    query = functools.reduce(operator.or_, (_web_query(wanted, config) for config in configs))
    return functools.reduce(operator.and_, refused, query)


_NOT = re.compile(r'(?:^|(?<=\s))-("[^"]*"|[^\s"]+)')


def _web_query(words: str, config: str) -> SearchQuery:
    return SearchQuery(words, config=config, search_type="websearch")


def highlighted(words: str) -> Func:
    """A snippet of the article's text with the found words between U+E000 and U+E001 (never markup)."""
    return Func(
        Value("simple"),
        Func(F("text"), Value(INDEXED_CHARACTERS), function="left"),
        article_query(words),
        Value("StartSel=\ue000,StopSel=\ue001,MaxFragments=2,MaxWords=24,MinWords=8"),
        function="ts_headline",
        output_field=models.TextField(),
    )
