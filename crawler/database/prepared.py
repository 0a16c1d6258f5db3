"""Prepared statements, which PostgreSQL plans once for each connection: planning often takes longer than
reading.

Django never prepares, for the sake of poolers that share a connection between transactions. With this module
poolers must support prepared statements (PgBouncer does from 1.21 on).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet
from psycopg.pq import Format

PREPARED_AFTER = 5
"""Times that a connection was asked the same; what is asked seldom is planned anew."""
MAX_PARAMETERS = 50
"""With more it is a search for words in twenty languages, whose plan is large."""


def planned_rows(statement: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return all rows of a prepared statement, as psycopg reads them; no field converts them."""
    connection.ensure_connection()
    raw = connection.connection
    cursor = psycopg.Cursor(raw)
    cursor.format = Format.BINARY
    logged = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    # Set for this statement alone: Django's own must stay unprepared for poolers.
    raw.prepare_threshold = PREPARED_AFTER if len(parameters) <= MAX_PARAMETERS else None
    try:
        with logged(cursor) as executed:  # type: ignore[arg-type]  # the stubs name another
            executed.execute(statement, parameters)
            rows: list[tuple[Any, ...]] = executed.fetchall()
    finally:
        raw.prepare_threshold = None
    return rows


def rows_of(query: QuerySet[Any, tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows of a `values_list` query by a prepared statement."""
    try:
        statement, parameters = query.query.sql_with_params()
    except EmptyResultSet:
        return []
    return planned_rows(statement, parameters)
