"""Full-text search over articles: the generated column of their words, and queries for it."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func
from django.db.models.sql.compiler import SQLCompiler

from articles.operators import split_operators
from articles.queries import ParsedQuery, last_word, query_of_author
from crawler.database.words import stems, words_query
from crawler.text.characters import SEARCHED_CHARACTERS
from crawler.text.search import Search, parse_search


class ArticleVector(Func):
    """The generated tsvector column over title (A), author (B) and text (C)."""

    output_field = SearchVectorField()
    template = "%(expressions)s"

    def as_sql(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[str | int]]:
        """Compile the columns language, title, author and text into calls of `search_words`."""
        columns = [compiler.compile(source)[0] for source in self.source_expressions]
        language, title, author, text = columns
        parts = (
            ("A", f"left({title}, 1000)"),
            ("B", f"left({author}, 200)"),
            ("C", f"left({text}, {SEARCHED_CHARACTERS})"),
        )
        vectors = (
            f"setweight(search_words({language}, 'simple', {column}), '{weight}')" for weight, column in parts
        )
        return " || ".join(vectors), []


def article_query(words: str, language: str = "", *, typing: bool = False) -> ParsedQuery:
    """Return the query for the words of a search in the given language, or in all that have a stemmer.

    With `typing`, the last word may be the beginning of one. Queries the database for the stems. Raises
    SearchError for a search that is too long.
    """
    plain = split_operators(words)[0]
    return query_of(parse_search(plain), language, beginning=last_word(plain) if typing else "")


def author_query(words: str) -> ParsedQuery:
    """Return the query for articles that have the words in their authors' names. Raises SearchError."""
    return query_of_author(split_operators(words)[0])


def query_of(search: Search, language: str = "", *, beginning: str = "") -> ParsedQuery:
    """Return the query for a parsed search. Words that begin with `beginning` match it, too."""
    return ParsedQuery(words_query(search, language, beginning=beginning))


def wanted_stems(words: str) -> list[str]:
    """Return the stems by which a search finds articles, for marking them. Raises SearchError."""
    return stems(parse_search(split_operators(words)[0]))
