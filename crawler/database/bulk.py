"""Bulk writes in one statement with one JSON parameter, which PostgreSQL reads into the table's row type.

Django's bulk_create and bulk_update bind one parameter per value; for a visit's articles and log that took
several times the processor time of everything else (benchmarks/refresh.py).
"""

# ruff: noqa: S608 - statements are put together from the names of our own tables and columns

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache
from typing import Any, TypeVar, cast

import orjson
import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection, models, transaction

from crawler.text.reasons import Reason, packed

Model = type[models.Model]
AnyModel = TypeVar("AnyModel", bound=models.Model)

MAX_ROWS = 500  # in one statement: their text is in memory three times while it is sent


def insert_rows(model: Model, rows: Sequence[object], *, returning: str = "") -> list[Any]:
    """Insert new rows in the caller's transaction, leaving out rows that a constraint refuses.

    Returns the column `returning` of the inserted rows. A row is an instance of the model or anything with
    its attributes (`feed_id`, not `feed`). The database fills the primary key, generated columns and columns
    with a default of its own. Values must be what the columns hold: no field converts them. Raises ValueError
    for text that UTF-8 cannot carry, DatabaseError as bulk_create does.
    """
    returning_clause = f' RETURNING "{returning}"' if returning else ""
    # Two check-ins may bring the same row; the first one stays.
    statement = f"INSERT INTO {_columns(model)} ON CONFLICT DO NOTHING{returning_clause}"
    return [value for (value,) in _run(model, statement, _inserted(model), rows)]


def row_builder(model: type[AnyModel]) -> Callable[..., AnyModel]:
    """Return a class with the attributes of a new row of the model, for `insert_rows`.

    Its instances take the columns as keywords, with the model's defaults, and are made ten times faster than
    instances of the model, whose methods they lack.
    """
    columns = [field for field in model._meta.concrete_fields if str(field.column) in set(_inserted(model))]
    fields = [
        (str(field.attname), Any, dataclasses.field(default_factory=field.get_default))
        if field.has_default() or field.null or field.empty_strings_allowed
        else (str(field.attname), Any)
        for field in columns
    ]
    builder: Any = dataclasses.make_dataclass(f"New{model.__name__}", fields, slots=True, kw_only=True)
    return cast(Callable[..., AnyModel], builder)


def columns_except(model: Model, *names: str) -> list[str]:
    """Return the names of the model's fields but these and its primary key, for `update_rows`.

    Raises ValueError for a name that the model does not have.
    """
    fields = [field.name for field in model._meta.concrete_fields if not field.primary_key]
    if unknown := set(names) - set(fields):
        raise ValueError(f"{model.__name__} has no field {', '.join(sorted(unknown))}")
    return [name for name in fields if name not in names]


def upsert_rows(model: Model, rows: Sequence[object]) -> None:
    """Insert rows, or update those whose primary key is there already. No key may come twice."""
    key = model._meta.pk.column
    changes = ", ".join(f'"{name}" = EXCLUDED."{name}"' for name in _inserted(model) if name != key)
    statement = f'INSERT INTO {_columns(model)} ON CONFLICT ("{key}") DO UPDATE SET {changes}'
    _run(model, statement, _inserted(model), rows)


def update_rows(model: Model, rows: Sequence[object], fields: Sequence[str]) -> None:
    """Write these fields of rows that are in the database; the caller holds their locks."""
    meta = model._meta
    columns = {field.name: str(field.column) for field in meta.concrete_fields}
    names = [columns[field] for field in fields]
    changes = ", ".join(f'"{name}" = given."{name}"' for name in names)
    statement = (
        f'UPDATE "{meta.db_table}" AS kept SET {changes} FROM {_given(meta.db_table)} '
        f'WHERE kept."{meta.pk.column}" = given."{meta.pk.column}"'
    )
    _run(model, statement, (str(meta.pk.column), *names), rows)


def select_blocks(query: models.QuerySet[Any], size: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a `values_list` query in blocks of at most `size`, in PostgreSQL's binary format.

    No binary column is spelled in hex, and values are what psycopg makes of them: no field converts them. One
    cursor on the server serves all blocks: a query for each block that begins behind the last one would join
    the other tables from their beginning each time. While the caller works on a block the server is asked for
    the next one.
    """
    try:
        statement, parameters = query.query.sql_with_params()
    except EmptyResultSet:
        return
    connection.ensure_connection()
    with (
        # A cursor on the server lives in a transaction.
        nullcontext() if connection.in_atomic_block else transaction.atomic(),
        connection.wrap_database_errors,
        psycopg.ServerCursor(connection.connection, f"blocks_{uuid.uuid4().hex}") as cursor,
    ):
        cursor.execute(statement, parameters, binary=True)
        rows = cursor.fetchmany(size)
        if len(rows) < size:
            if rows:
                yield rows
            return
        with ThreadPoolExecutor(1) as ahead:
            while rows:
                following = ahead.submit(cursor.fetchmany, size)
                yield rows
                rows = following.result()


@cache
def _inserted(model: Model) -> tuple[str, ...]:
    """Return the columns that an insert fills."""
    return tuple(
        str(field.column)
        for field in model._meta.concrete_fields
        if not (isinstance(field, models.AutoField) or field.generated or field.has_db_default())
    )


def _columns(model: Model) -> str:
    """Return `table (columns) SELECT columns FROM given`."""
    names = ", ".join(f'"{name}"' for name in _inserted(model))
    table = model._meta.db_table
    return f'"{table}" ({names}) SELECT {names} FROM {_given(table)}'


def _given(table: str) -> str:
    return f'json_populate_recordset(NULL::"{table}", %s::json) AS given'


def _run(
    model: Model, statement: str, names: Sequence[str], objects: Sequence[object]
) -> list[tuple[Any, ...]]:
    """Run the statement for all rows and return its results."""
    if not objects:
        return []
    returned: list[tuple[Any, ...]] = []
    attributes = {field.column: field.attname for field in model._meta.concrete_fields}
    pairs = [(name, attributes[name]) for name in names]
    connection.ensure_connection()
    # psycopg's own cursor sends the parameter as it is; Django's would quote it into the statement.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        for start in range(0, len(objects), MAX_ROWS):
            part = objects[start : start + MAX_ROWS]
            rows = [{name: getattr(row, attribute) for name, attribute in pairs} for row in part]
            cursor.execute(statement, [_json(rows)])
            returned += cursor.fetchall() if cursor.description else []
    return returned


def _json(rows: Sequence[dict[str, Any]]) -> str:
    try:
        return orjson.dumps(rows, default=_plain, option=orjson.OPT_PASSTHROUGH_SUBCLASS).decode()
    except TypeError as error:  # orjson's word for lone surrogates, too
        raise ValueError(f"a row cannot be written: {error}") from error


def _plain(value: Any) -> str:
    """Convert binary values to the form of PostgreSQL's JSON, and kinds of text to that of a row."""
    if isinstance(value, bytes | memoryview):
        return "\\x" + bytes(value).hex()
    if isinstance(value, str):
        return packed(value) if isinstance(value, Reason) else str.__str__(value)
    raise TypeError(f"no column takes a {type(value).__name__}")
