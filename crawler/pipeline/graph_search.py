"""Queries of the graph: words in its literals, and all statements about a thing by document."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import connection

from crawler.database.words import words_query
from crawler.pipeline.store import Quad, find_key, quads, read_terms
from crawler.pipeline.terms import Kind, Term, parse_term
from crawler.text.search import parse_search

MAX_LITERALS = 200
MAX_HITS = 100
MAX_STATEMENTS = 1000


@dataclass(frozen=True, slots=True)
class Hit:
    """A quad whose literal matched, with its rank (higher is better)."""

    quad: Quad
    rank: float


def search(words: str, limit: int = MAX_HITS) -> list[Hit]:
    """Return quads whose literals match a search, the best first. Raises SearchError for one too long."""
    query = words_query(parse_search(words))
    if not query:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH found AS MATERIALIZED (
                SELECT id, ts_rank(words, query) AS rank
                FROM pipeline_term, CAST(%s AS tsquery) AS query
                WHERE words @@ query ORDER BY rank DESC, id LIMIT %s
            )
            SELECT s, p, o, c, rank FROM found JOIN pipeline_quad ON o = id
            ORDER BY rank DESC, s, p, c LIMIT %s
            """,
            [query, MAX_LITERALS, limit],
        )
        rows = cursor.fetchall()
    terms = read_terms({key for row in rows for key in row[:4]})
    return [Hit(Quad(terms[s], terms[p], terms[o], terms[c]), rank) for s, p, o, c, rank in rows]


@dataclass(frozen=True, slots=True)
class DocumentStatements:
    """The statements of one document about a thing."""

    context: Term
    quads: list[Quad]


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing: the statements about it by document, and the other documents that name it."""

    term: Term
    said: list[DocumentStatements]
    named: list[Quad]


def entity(term: Term) -> Entity | None:
    """Return all statements about a thing. Returns None when the graph does not have the term."""
    if find_key(term) is None:
        return None
    by_context: dict[Term, list[Quad]] = {}
    for quad in quads(subject=term, limit=MAX_STATEMENTS):
        by_context.setdefault(quad.context, []).append(quad)
    statements = [
        DocumentStatements(
            context,
            sorted(document_quads, key=lambda quad: (quad.predicate.value, quad.object.value)),
        )
        for context, document_quads in sorted(
            by_context.items(), key=lambda pair: (pair[0] != term, pair[0].value)
        )
    ]
    naming_quads = sorted(
        quads(value=term, limit=MAX_HITS), key=lambda quad: (quad.predicate.value, quad.subject.value)
    )
    return Entity(term, statements, naming_quads)


def term_of(text: str) -> Term:
    """Parse a term as people write it: N-Triples, or an address without its brackets. Raises ValueError."""
    text = text.strip()
    bare = "://" in text or text.startswith("urn:")
    if bare and not text.startswith(("<", '"', "_:")):
        return Term(Kind.IRI, text)
    term = parse_term(text)
    return replace(term, lang=term.lang.lower())  # as they are stored
