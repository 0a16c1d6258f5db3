"""Queries of PostgreSQL's full-text search for articles."""

from __future__ import annotations

import re

from django.contrib.postgres.search import SearchQuery

from crawler.database.words import words_query
from crawler.text.search import parse_search

_LEXEME = re.compile(r"('(?:[^'\\]|''|\\.)*')(:\*)?")
_MIN_BEGINNING = 2


class ParsedQuery(SearchQuery):
    """A text search query already parsed by PostgreSQL, in the notation of its type `tsquery`."""

    template = "%(expressions)s::tsquery"


def query_of_author(words: str, *, typing: bool = False) -> ParsedQuery:
    """Return the query for articles that have the words in their authors' names. Raises SearchError.

    With `typing`, the last word may be the beginning of one.
    """
    query = words_query(parse_search(words), beginning=last_word(words) if typing else "")
    return ParsedQuery(_LEXEME.sub(lambda lexeme: f"{lexeme[1]}:{'*' if lexeme[2] else ''}B", query))


def last_word(words: str) -> str:
    """Return the plain word at the end of what is being typed, "" if it is too short or something else."""
    word = words.rpartition(" ")[2]
    return word if len(word) >= _MIN_BEGINNING and word.isalnum() else ""
