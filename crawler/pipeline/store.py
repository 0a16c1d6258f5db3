"""The graph in PostgreSQL: quads by the keys of their terms, six indexes, each graph replaced as a whole.

Writers hold the document's row, so that two never replace one graph at a time; readers see a graph as it was
before or after, for each replacement is one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import psycopg
from django.db import connection

from crawler.pipeline.terms import MAX_SALTS, Kind, Term, iri

META = iri("urn:crawl:meta")
"""The graph that tells of all others where they came from."""

IS_PART_OF = iri("http://purl.org/dc/terms/isPartOf")
"""Says in META of which document a named graph is a part."""

Triple = tuple[int, int, int]
MAX_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Replaced:
    """The changes that a replacement made."""

    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Quad:
    """A quad of terms."""

    subject: Term
    predicate: Term
    object: Term
    context: Term


class Keys:
    """The keys of the terms of one batch of graphs; `save` stores the new ones, before the quads."""

    def __init__(self) -> None:
        self._of: dict[Term, int] = {}
        self._marks: dict[int, tuple[int, Term]] = {}
        self._collided: set[Term] = set()

    def add(self, terms: Iterable[Term]) -> None:
        """Assign keys to these terms."""
        for term in terms:
            if term not in self._of:
                key, mark = term.keys()
                self._of[term] = key
                if key in self._marks and self._marks[key][1] != term:
                    self._collided.add(term)
                else:
                    self._marks[key] = (mark, term)

    def __getitem__(self, term: Term) -> int:
        return self._of[term]

    def save(self) -> None:
        """Store new terms. A term whose key belongs to another gets a salted key."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT id, mark FROM pipeline_term WHERE id = ANY(%s)", [list(self._marks)])
            stored = dict(cursor.fetchall())
        new = [(key, mark, term) for key, (mark, term) in self._marks.items() if key not in stored]
        for key, (mark, term) in self._marks.items():
            if stored.get(key, mark) != mark:
                self._collided.add(term)
        self._insert(new)
        for term in self._collided:
            self._of[term] = _salted(term)

    def _insert(self, rows: list[tuple[int, int, Term]]) -> None:
        rows.sort(key=lambda row: row[0])  # in one order, so that no two writers wait for each other
        connection.ensure_connection()
        with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
            for start in range(0, len(rows), MAX_ROWS):
                part = rows[start : start + MAX_ROWS]
                cursor.execute(
                    """
                    INSERT INTO pipeline_term (id, mark, kind, lang, datatype, value)
                    SELECT * FROM unnest(
                        %b::bigint[], %b::int[], %b::smallint[], %b::text[], %b::text[], %b::text[]
                    )
                    ON CONFLICT (id) DO NOTHING
                    """,
                    [
                        [row[0] for row in part],
                        [row[1] for row in part],
                        [int(row[2].kind) for row in part],
                        [row[2].lang for row in part],
                        [row[2].datatype for row in part],
                        [row[2].value for row in part],
                    ],
                )


def _salted(term: Term) -> int:
    """Store a term under the first salted key that is free or its own. Raises RuntimeError without one."""
    for salt in range(1, MAX_SALTS):
        key, mark = term.keys(salt)
        with connection.cursor() as cursor:
            cursor.execute(
                """
                INSERT INTO pipeline_term (id, mark, kind, lang, datatype, value)
                VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO NOTHING
                """,
                [key, mark, int(term.kind), term.lang, term.datatype, term.value],
            )
            cursor.execute("SELECT mark FROM pipeline_term WHERE id = %s", [key])
            if cursor.fetchone() == (mark,):
                return key
    raise RuntimeError(f"no free key for {term.n3()[:200]}")


def parts_of(contexts: Iterable[int]) -> dict[int, list[int]]:
    """Return the contexts of the named graphs within these documents, by document."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT o, s FROM pipeline_quad WHERE p = %s AND o = ANY(%s) AND c = %s ORDER BY o, s",
            [IS_PART_OF.key(), list(contexts), META.key()],
        )
        parts: dict[int, list[int]] = {}
        for whole, part in cursor.fetchall():
            parts.setdefault(whole, []).append(part)
    return parts


def replace_graphs(graphs: Mapping[int, set[Triple]], contexts: set[int]) -> dict[int, Replaced]:
    """Replace the triples of these contexts; `contexts` includes those that become empty."""
    old: dict[int, set[Triple]] = {context: set() for context in graphs}
    if contexts:
        with connection.cursor() as cursor:
            cursor.execute("SELECT c, s, p, o FROM pipeline_quad WHERE c = ANY(%s)", [sorted(contexts)])
            for context, *triple in cursor.fetchall():
                old[context].add((triple[0], triple[1], triple[2]))
    changes = {
        context: (triples - old[context], old[context] - triples) for context, triples in graphs.items()
    }
    _write(changes)
    return {context: Replaced(len(added), len(removed)) for context, (added, removed) in changes.items()}


def replace_subjects(context: int, subjects: Mapping[int, set[Triple]]) -> set[int]:
    """Replace the triples of these subjects in a context. Returns the changed subjects."""
    old: set[Triple] = set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s, p, o FROM pipeline_quad WHERE c = %s AND s = ANY(%s)", [context, list(subjects)]
        )
        old.update(cursor.fetchall())
    new = set().union(*subjects.values()) if subjects else set()
    _write({context: (new - old, old - new)})
    return {triple[0] for triple in new ^ old}


def _write(changes: Mapping[int, tuple[set[Triple], set[Triple]]]) -> None:
    removed_quads = [(*triple, context) for context, (_, removed) in changes.items() for triple in removed]
    new = sorted((*triple, context) for context, (added, _) in changes.items() for triple in added)
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        if removed_quads:
            cursor.execute(
                """
                DELETE FROM pipeline_quad USING unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])
                    AS gone(s, p, o, c)
                WHERE pipeline_quad.c = gone.c AND pipeline_quad.s = gone.s AND pipeline_quad.p = gone.p
                    AND pipeline_quad.o = gone.o
                """,
                [list(column) for column in zip(*removed_quads, strict=True)],
            )
        if new:
            with cursor.copy("COPY pipeline_quad (s, p, o, c) FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(["int8", "int8", "int8", "int8"])
                for row in new:
                    copy.write_row(row)


def find_key(term: Term) -> int | None:
    """Return the key of a stored term, None when it is not stored."""
    with connection.cursor() as cursor:
        for salt in range(MAX_SALTS):
            key, mark = term.keys(salt)
            cursor.execute("SELECT mark FROM pipeline_term WHERE id = %s", [key])
            row = cursor.fetchone()
            if row is None:
                return None
            if row[0] == mark:
                return key
    return None


def pattern_sql(
    subject: int | None, predicate: int | None, value: int | None, context: int | None
) -> tuple[str, list[int]]:
    """Return the SQL of an access pattern and its parameters. None is a wildcard."""
    pattern = {"s": subject, "p": predicate, "o": value, "c": context}
    bound = [(name, key) for name, key in pattern.items() if key is not None]
    where = f" WHERE {' AND '.join(f'{name} = %s' for name, _ in bound)}" if bound else ""
    return f"SELECT s, p, o, c FROM pipeline_quad{where}", [key for _, key in bound]  # noqa: S608 - our names


def quads(
    subject: Term | None = None,
    predicate: Term | None = None,
    value: Term | None = None,
    context: Term | None = None,
    *,
    limit: int = 1000,
) -> list[Quad]:
    """Return matching quads up to a maximum. None matches every term."""
    keys = [find_key(term) if term is not None else None for term in (subject, predicate, value, context)]
    terms = (subject, predicate, value, context)
    if any(term is not None and key is None for term, key in zip(terms, keys, strict=True)):
        return []
    statement, parameters = pattern_sql(*keys)
    with connection.cursor() as cursor:
        cursor.execute(f"{statement} LIMIT %s", [*parameters, limit])
        rows = cursor.fetchall()
    by_key = read_terms({key for row in rows for key in row})
    return [Quad(by_key[s], by_key[p], by_key[o], by_key[c]) for s, p, o, c in rows]


def read_terms(keys: set[int]) -> dict[int, Term]:
    """Return terms by their keys."""
    if not keys:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, kind, value, lang, datatype FROM pipeline_term WHERE id = ANY(%s)", [list(keys)]
        )
        return {key: Term(Kind(kind), value, lang, datatype) for key, kind, value, lang, datatype in cursor}
