"""Questions to the graph: words in its literals, and all that is said of a thing, by whom."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import connection

from crawler.pipeline.store import Quad, find_key, quads, read_terms
from crawler.pipeline.terms import Kind, Term, parse_term

MOST_LITERALS = 200
MOST_HITS = 100
MOST_SAID = 1000


@dataclass(frozen=True, slots=True)
class Hit:
    """A quad whose literal matched, with its rank (higher is better)."""

    quad: Quad
    rank: float


def search(words: str, most: int = MOST_HITS) -> list[Hit]:
    """Quads whose literals have these words (as web searches take them), the best first."""
    if not words.strip():
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH found AS MATERIALIZED (
                SELECT id, ts_rank(words, query) AS rank
                FROM pipeline_term, websearch_to_tsquery('simple', %s) AS query
                WHERE words @@ query ORDER BY rank DESC, id LIMIT %s
            )
            SELECT s, p, o, c, rank FROM found JOIN pipeline_quad ON o = id
            ORDER BY rank DESC, s, p, c LIMIT %s
            """,
            [words[:500], MOST_LITERALS, most],
        )
        rows = cursor.fetchall()
    found = read_terms({key for row in rows for key in row[:4]})
    return [Hit(Quad(found[s], found[p], found[o], found[c]), rank) for s, p, o, c, rank in rows]


@dataclass(frozen=True, slots=True)
class Said:
    """What one document says of a thing."""

    context: Term
    quads: list[Quad]


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing: what is said of it by each document, and where else it is named."""

    term: Term
    said: list[Said]
    named: list[Quad]


def entity(term: Term) -> Entity | None:
    """All about a thing; None when the graph has never heard of it."""
    if find_key(term) is None:
        return None
    by_context: dict[Term, list[Quad]] = {}
    for quad in quads(subject=term, most=MOST_SAID):
        by_context.setdefault(quad.context, []).append(quad)
    said = [
        Said(context, sorted(found, key=lambda one: (one.predicate.value, one.object.value)))
        for context, found in sorted(by_context.items(), key=lambda one: (one[0] != term, one[0].value))
    ]
    named = sorted(
        quads(value=term, most=MOST_HITS), key=lambda one: (one.predicate.value, one.subject.value)
    )
    return Entity(term, said, named)


def term_of(text: str) -> Term:
    """A term as people write it: N-Triples, or an address without its brackets. Raises ValueError."""
    text = text.strip()
    bare = "://" in text or text.startswith("urn:")
    if bare and not text.startswith(("<", '"', "_:")):
        return Term(Kind.IRI, text)
    term = parse_term(text)
    return replace(term, lang=term.lang.lower())  # as they are stored
