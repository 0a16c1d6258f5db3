"""Many rows in one statement: one JSON parameter, which PostgreSQL reads into the table's own row type.

Django's bulk_create and bulk_update bind one parameter per value; for a visit's articles and log that took
several times the processor time of everything else (benchmarks/refresh.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import orjson
import psycopg
from django.db import connection, models

MOST_ROWS = 500  # in one statement: their text is in memory three times while it is sent


def insert_rows(objects: Sequence[models.Model]) -> None:
    """Insert new objects of one model; those that a unique constraint refuses are left out.

    The primary key, generated columns and columns with a default of the database are left to it.
    Values must be what the columns hold: no field converts them. Raises ValueError for text that
    UTF-8 cannot carry, DatabaseError as bulk_create does.
    """
    if objects:
        model = type(objects[0])
        _run(f"INSERT INTO {_columns(model)} ON CONFLICT DO NOTHING", _inserted(model), objects)


def upsert_rows(objects: Sequence[models.Model]) -> None:
    """The same, but a row with this primary key takes the object's values. No key may come twice."""
    if objects:
        model = type(objects[0])
        key = model._meta.pk.column
        changes = ", ".join(f'"{name}" = EXCLUDED."{name}"' for name in _inserted(model) if name != key)
        statement = f'INSERT INTO {_columns(model)} ON CONFLICT ("{key}") DO UPDATE SET {changes}'
        _run(statement, _inserted(model), objects)


def update_rows(objects: Sequence[models.Model], fields: Sequence[str]) -> None:
    """Write these fields of objects that are in the database; the caller holds their rows."""
    if objects:
        meta = type(objects[0])._meta
        names = [meta.get_field(field).column for field in fields]
        changes = ", ".join(f'"{name}" = given."{name}"' for name in names)
        key = meta.pk.column
        _run(
            f'UPDATE "{meta.db_table}" AS kept SET {changes} FROM {_given(meta.db_table)} '
            f'WHERE kept."{key}" = given."{key}"',
            (key, *names),
            objects,
        )


@cache
def _inserted(model: type[models.Model]) -> tuple[str, ...]:
    """Columns that an insert fills."""
    return tuple(
        field.column
        for field in model._meta.concrete_fields
        if not (isinstance(field, models.AutoField) or field.generated or field.has_db_default())
    )


def _columns(model: type[models.Model]) -> str:
    """`table (columns) SELECT columns FROM given`."""
    names = ", ".join(f'"{name}"' for name in _inserted(model))
    table = model._meta.db_table
    return f'"{table}" ({names}) SELECT {names} FROM {_given(table)}'


def _given(table: str) -> str:
    return f'json_populate_recordset(NULL::"{table}", %s::json) AS given'


def _run(statement: str, names: Sequence[str], objects: Sequence[models.Model]) -> None:
    attributes = {field.column: field.attname for field in type(objects[0])._meta.concrete_fields}
    pairs = [(name, attributes[name]) for name in names]
    connection.ensure_connection()
    # psycopg's own cursor sends the parameter as it is; Django's would quote it into the statement.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        for start in range(0, len(objects), MOST_ROWS):
            rows = [
                {name: getattr(one, attribute) for name, attribute in pairs}
                for one in objects[start : start + MOST_ROWS]
            ]
            cursor.execute(statement, [_json(rows)])


def _json(rows: Sequence[dict[str, Any]]) -> str:
    try:
        return orjson.dumps(rows, default=_plain).decode()
    except TypeError as error:  # orjson's word for lone surrogates, too
        raise ValueError(f"a row cannot be written: {error}") from error


def _plain(value: Any) -> str:
    """Binary columns as PostgreSQL writes them."""
    if isinstance(value, bytes | memoryview):
        return "\\x" + bytes(value).hex()
    raise TypeError(f"no column takes a {type(value).__name__}")
