"""Full-text search over articles: the generated column of their words, and queries for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, Q
from django.db.models.sql.compiler import SQLCompiler

from articles.operators import split_operators
from articles.queries import ParsedQuery, last_word, query_of_author
from crawler.database.words import stems, words_query
from crawler.text.characters import SEARCHED_CHARACTERS
from crawler.text.search import Search, literal_terms, parse_search


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


def article_condition(words: str, language: str = "", *, typing: bool = False) -> Q:
    """Return the condition for articles that match a search, with the signs in its words (C++, AT&T).

    Takes what `article_query` takes. Queries the database for the stems. Raises SearchError.
    """
    plain = split_operators(words)[0]
    return condition_of(parse_search(plain), language, beginning=last_word(plain) if typing else "")


def condition_of(search: Search, language: str = "", *, beginning: str = "") -> Q:
    """Return the condition for articles that match a parsed search, with the signs in its words.

    The index has words alone: each alternative with signs, and each excluded word with signs, is looked for
    on its own, and what the index finds is looked at again.
    """
    signed = [terms for terms in search.alternatives if literal_terms(terms)]
    without = literal_terms(search.excluded)
    if not signed and not without:
        return Q(search=query_of(search, language, beginning=beginning))
    plain = tuple(terms for terms in search.alternatives if terms not in signed)
    remainder = Search(plain, tuple(term for term in search.excluded if term not in without))
    condition = Q()
    for terms in signed:
        index_match = Q(search=query_of(Search((terms,), remainder.excluded), language, beginning=beginning))
        condition |= _with_signs(index_match, terms)
    if remainder.terms and (plain or not signed):
        condition |= Q(search=query_of(remainder, language, beginning=beginning))
    for term in without:
        condition &= ~_with_signs(Q(search=query_of(Search(((term,),)), language)), (term,))
    return condition


def _with_signs(condition: Q, terms: Iterable[str]) -> Q:
    """Return the condition for what the index finds and has the words with signs as they are written."""
    for term in literal_terms(terms):
        condition &= Q(title__icontains=term) | Q(text__icontains=term) | Q(author__icontains=term)
    return condition


def author_query(words: str) -> ParsedQuery:
    """Return the query for articles that have the words in their authors' names. Raises SearchError."""
    return query_of_author(split_operators(words)[0])


def query_of(search: Search, language: str = "", *, beginning: str = "") -> ParsedQuery:
    """Return the query for a parsed search. Words that begin with `beginning` match it, too."""
    return ParsedQuery(words_query(search, language, beginning=beginning))


def wanted_stems(words: str) -> list[str]:
    """Return the stems by which a search finds articles, for marking them. Raises SearchError."""
    return stems(parse_search(split_operators(words)[0]))
