"""The table of articles' vectors, made by pgvector when there is the first one, and the nearest in it.

The table is in no migration: most deployments have no use for it, and many a PostgreSQL has no pgvector.
Its comment names the model; another model, or vectors of another length, make it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from psycopg import sql

from articles.models import Article
from crawler.text.marking import gettext_noop

TABLE = "article_vector"
NEAREST = 200
LOCK = 5_720_411
"""The key of the advisory lock under which the table is made."""
NO_EXTENSION = gettext_noop("PostgreSQL has no extension “vector” (pgvector 0.8 or later).")
NOT_ALLOWED = gettext_noop("PostgreSQL does not let Freshet create the extension “vector”.")
MIN_VERSION = (0, 8)


class NoVectorsError(Exception):
    """Error for a database that cannot hold vectors; `detail` is a sentence for people."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table as it is: the model whose vectors it holds, and their length."""

    model: str
    size: int


def extension_problem() -> str:
    """Return why the database cannot hold vectors, "" if it can: a query, which creates nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT coalesce(installed_version, default_version), installed_version IS NOT NULL,
                (SELECT v.trusted OR v.superuser IS FALSE FROM pg_available_extension_versions v
                 WHERE v.name = e.name AND v.version = e.default_version)
                OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
            FROM pg_available_extensions e WHERE name = 'vector'
            """
        )
        row = cursor.fetchone()
    if row is None or _version(row[0]) < MIN_VERSION:
        return NO_EXTENSION
    return "" if row[1] or row[2] else NOT_ALLOWED


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


def vector_table() -> VectorTable | None:
    """Return the table of vectors, None if there is none yet; one query."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT coalesce(obj_description(attrelid, 'pg_class'), ''), atttypmod FROM pg_attribute
            WHERE attrelid = to_regclass(%s) AND attname = 'vector' AND NOT attisdropped
            """,
            [TABLE],
        )
        row = cursor.fetchone()
    return VectorTable(*row) if row else None


@transaction.atomic
def ensure_vectors(model: str, size: int) -> bool:
    """Make the extension and the table for vectors of a model. Returns False if the table was there.

    A table for another model, or another length, is dropped first. Raises NoVectorsError.
    """
    table = VectorTable(model, size)
    if vector_table() == table:
        return False
    if problem := extension_problem():
        raise NoVectorsError(problem)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        if vector_table() == table:
            return False
        try:
            with transaction.atomic():
                cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except DatabaseError as error:
            raise NoVectorsError(NOT_ALLOWED) from error
        cursor.execute(f"DROP TABLE IF EXISTS {TABLE}")
        # The reference locks articles for a moment, behind which all who write would wait.
        cursor.execute("SET LOCAL lock_timeout = '5s'")
        # Without a vector is an article that the model refuses, or whose words it knows none of.
        cursor.execute(
            f"CREATE TABLE {TABLE} ("
            "article_id bigint PRIMARY KEY REFERENCES articles_article ON DELETE CASCADE,"
            f" vector halfvec({size:d}))"
        )
        cursor.execute(f"CREATE INDEX {TABLE}_nearest ON {TABLE} USING hnsw (vector halfvec_cosine_ops)")
        comment = sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(TABLE), sql.Literal(model))
        cursor.execute(comment.as_string(connection.connection))
        cursor.execute("SET LOCAL lock_timeout = 0")
    return True


def literal(vector: Sequence[float]) -> str | None:
    """Return a vector in the notation of pgvector, None for one of no length."""
    return f"[{','.join(f'{value:.5g}' for value in vector)}]" if vector else None


def store_vectors(vectors: dict[int, str | None]) -> None:
    """Store vectors of articles, in place of those that are there. Articles that have gone are left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {TABLE} (article_id, vector)"  # noqa: S608 - a constant
            " SELECT id, vector::halfvec FROM unnest(%s::bigint[], %s::text[]) AS given (id, vector)"
            " JOIN articles_article USING (id) ORDER BY id"
            " ON CONFLICT (article_id) DO UPDATE SET vector = EXCLUDED.vector",
            [list(vectors), list(vectors.values())],
        )


def without_vectors(after: int, limit: int) -> list[tuple[int, str, str]]:
    """Return key, title and the beginning of the text of articles without a vector, the newest first.

    Articles with keys up to `after`, and those that have no words, are left out.
    """
    with connection.cursor() as cursor:
        has_table = vector_table() is not None
        absent = f"NOT EXISTS (SELECT FROM {TABLE} v WHERE v.article_id = a.id)" if has_table else "TRUE"
        cursor.execute(
            "SELECT id, left(title, 500), left(text, 1500) FROM articles_article a"  # noqa: S608 - constants
            f" WHERE id > %s AND {absent} AND (title <> '' OR text_length > 0) ORDER BY id DESC LIMIT %s",
            [after, limit],
        )
        rows: list[tuple[int, str, str]] = cursor.fetchall()
    return rows


def nearest(vector: str, articles: QuerySet[Article], limit: int = NEAREST) -> list[tuple[int, float]]:
    """Return keys and cosine distances of the articles of a query that are nearest to a vector.

    The index yields the nearest of all, as many as it takes until enough of them are in the query.
    """
    keys, parameters = articles.order_by().values("pk").query.sql_with_params()
    return _nearest(f"article_id IN ({keys})", "%s::halfvec", [vector, *parameters, vector, limit])


def nearest_to_article(key: int, articles: QuerySet[Article], limit: int) -> list[tuple[int, float]]:
    """Return keys and cosine distances of the articles of a query that are nearest to an article."""
    keys, parameters = articles.order_by().values("pk").query.sql_with_params()
    vector = f"(SELECT vector FROM {TABLE} WHERE article_id = %s)"  # noqa: S608 - a constant
    return _nearest(f"article_id IN ({keys})", vector, [key, *parameters, key, limit])


def _nearest(condition: str, vector: str, parameters: list[Any]) -> list[tuple[int, float]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL hnsw.ef_search = {NEAREST}")
        cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
        cursor.execute(
            f"SELECT article_id, vector <=> {vector} FROM {TABLE}"  # noqa: S608 - values are parameters
            f" WHERE vector IS NOT NULL AND {condition} ORDER BY vector <=> {vector} LIMIT %s",
            parameters,
        )
        rows = [(key, distance) for key, distance in cursor.fetchall() if distance is not None]
    return sorted(rows, key=lambda row: (row[1], row[0]))
