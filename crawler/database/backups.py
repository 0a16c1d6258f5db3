"""Backups: the rows of all tables in one compressed stream, and back.

A backup is gzip over lines of JSON and chunks of PostgreSQL's COPY text:

    {"freshet": 1, "migrations": [...], "files": {...}, ...}
    {"table": "...", "columns": [...]}
    chunks: four bytes of length, then as many bytes; a length of 0 ends the table
    {"end": {"...": 17, ...}}

All tables are read in one snapshot. Rows that Django keeps for itself (`SKIPPED`) and generated columns are
left out. It depends on no version of PostgreSQL and on none of its programs. A stream that was cut or damaged
is refused by its end and by gzip's checksum.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import psycopg
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

FORMAT = 1
SKIPPED = frozenset({"django_migrations", "django_session", "shared_cache", "article_vector"})
"""Migrations are in the header and run anew; people sign in again; vectors are made again."""
CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 16 << 20
# Level 3 takes a fraction of the time of 9 for a few percent more.
_COMPRESSION = 3
Say = Callable[[str], None]

_TABLES = """
SELECT relname, (
    SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
)
FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
ORDER BY relname
"""
_SEQUENCES = """
SELECT pg_get_serial_sequence(quote_ident(relname), attname), relname, attname
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0
    AND NOT attisdropped AND pg_get_serial_sequence(quote_ident(relname), attname) IS NOT NULL
"""


class UnreadableBackup(ValueError):
    """A backup that cannot be read, or does not fit; its text is a sentence."""


def unknown_migrations(applied: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those of these migrations (app, name) of our apps that this version does not know."""
    loader = MigrationLoader(None)
    migration_names = {old for migration in loader.replacements.values() for old in migration.replaces}
    migration_names |= set(loader.disk_migrations)
    return sorted(key for key in applied if key not in migration_names and key[0] in loader.migrated_apps)


def tables_of(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Return the tables with rows of ours and their columns, without generated ones."""
    rows = connection.execute(_TABLES).fetchall()
    return {name: columns for name, columns in rows if name not in SKIPPED and columns}


def write_backup(
    connection: psycopg.Connection[Any], target: BinaryIO, header: Mapping[str, Any], say: Say
) -> dict[str, int]:
    """Write all rows. Returns the number of rows by table. The connection must not be in a transaction."""
    counts: dict[str, int] = {}
    compressed = gzip.GzipFile(fileobj=target, mode="wb", compresslevel=_COMPRESSION, mtime=0)
    with compressed as stream, connection.transaction(), connection.cursor() as cursor:
        # One snapshot of all tables: rows that refer to each other must be of one moment.
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # Tables of tens of gigabytes take longer than any statement of a page.
        cursor.execute("SET LOCAL statement_timeout = 0")
        tables = tables_of(connection)
        _write_line(stream, {"freshet": FORMAT, **header})
        for table, columns in tables.items():
            _write_line(stream, {"table": table, "columns": columns})
            names = sql.SQL(", ").join(map(sql.Identifier, columns))
            query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(names, sql.Identifier(table))
            with cursor.copy(query) as copy:
                for chunk in _gathered(bytes(part) for part in copy):
                    stream.write(len(chunk).to_bytes(4, "big") + chunk)
            stream.write(bytes(4))
            counts[table] = cursor.rowcount
            if counts[table]:
                say(f"{table}: {counts[table]:,} rows")
        _write_line(stream, {"end": counts})
    return counts


class BackupReader:
    """A backup that is read: first its header, then its tables."""

    def __init__(self, source: BinaryIO) -> None:
        """Read the header. Raises UnreadableBackup."""
        self._stream = gzip.GzipFile(fileobj=source, mode="rb")
        with _readable():
            self.header = self._line()
        if self.header.get("freshet") != FORMAT:
            raise UnreadableBackup("This is no backup of Freshet, or one of a later format.")
        migrations = self.header.get("migrations")
        if not isinstance(migrations, list) or not migrations or not all(map(_is_pair, migrations)):
            raise UnreadableBackup("The backup is damaged: it does not say which tables it needs.")
        if not isinstance(self.header.get("files", {}), dict):
            raise UnreadableBackup("The backup is damaged: its files cannot be read.")

    @property
    def migrations(self) -> set[tuple[str, str]]:
        """The migrations (app, name) that made its tables."""
        return {(app, name) for app, name in self.header["migrations"]}

    def check(self, columns_by_table: Mapping[str, Collection[str]]) -> dict[str, int]:
        """Read everything without storing it, for tables with these columns. Returns the rows by table.

        Refuses what `store` would refuse, by UnreadableBackup.
        """
        counts: dict[str, int] = {}
        with _readable():
            while "end" not in (line := self._line()):
                table, _ = _table_of(line, columns_by_table)
                counts[table] = sum(chunk.count(b"\n") for chunk in self._chunks())  # a line for each row
            self._finish(line, counts)
        return counts

    def store(self, connection: psycopg.Connection[Any], say: Say) -> dict[str, int]:
        """Replace all rows by those of the backup, in one transaction. Returns the number by table.

        The tables must be as the backup's migrations made them. Raises UnreadableBackup.
        """
        counts: dict[str, int] = {}
        with _readable(), connection.transaction(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")
            columns_by_table = tables_of(connection)
            names = [sql.Identifier(name) for name in columns_by_table]
            cursor.execute(sql.SQL("TRUNCATE {} CASCADE").format(sql.SQL(", ").join(names)))
            _switch_triggers(cursor, names, on=False)
            while "end" not in (line := self._line()):
                table, columns = _table_of(line, columns_by_table)
                query = sql.SQL("COPY {} ({}) FROM STDIN").format(
                    sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
                )
                with cursor.copy(query) as copy:
                    for chunk in self._chunks():
                        copy.write(chunk)
                counts[table] = cursor.rowcount
                if counts[table]:
                    say(f"{table}: {counts[table]:,} rows")
            self._finish(line, counts)
            for sequence, table, column in cursor.execute(_SEQUENCES).fetchall():
                setting = sql.SQL("SELECT setval(%s, coalesce(max({column}), 0) + 1, false) FROM {table}")
                cursor.execute(
                    setting.format(column=sql.Identifier(column), table=sql.Identifier(table)), [sequence]
                )
            # ALTER TABLE refuses a table for which checks of deferred constraints are pending.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            _switch_triggers(cursor, names, on=True)
        return counts

    def _line(self) -> dict[str, Any]:
        line = self._stream.readline(MAX_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise UnreadableBackup("The backup ends too early.")
        value = json.loads(line)
        if not isinstance(value, dict):
            raise UnreadableBackup("This is no backup of Freshet.")
        return value

    def _chunks(self) -> Iterator[bytes]:
        while True:
            size = int.from_bytes(self._exactly(4), "big")
            if not size:
                return
            # A damaged length must not ask for a terabyte of memory.
            if size > 2 * CHUNK_BYTES + (1 << 30):
                raise UnreadableBackup("The backup is damaged.")
            yield self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        content = self._stream.read(size)
        if len(content) != size:
            raise UnreadableBackup("The backup ends too early.")
        return content

    def _finish(self, line: Mapping[str, Any], counts: Mapping[str, int]) -> None:
        # Reading to the end also checks gzip's sum.
        if self._stream.read(1):
            raise UnreadableBackup("The backup goes on behind its end.")
        if line["end"] != counts:
            raise UnreadableBackup("The backup is damaged: not all of its rows came.")


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _table_of(
    line: Mapping[str, Any], columns_by_table: Mapping[str, Collection[str]]
) -> tuple[str, list[str]]:
    """Return table and columns of a line before rows. Raises UnreadableBackup if they are not known."""
    table, columns = str(line.get("table")), line.get("columns")
    if not isinstance(columns, list) or not columns or not all(isinstance(name, str) for name in columns):
        raise UnreadableBackup(f"The backup is damaged: it does not say which columns {table} has.")
    if not set(columns) <= set(columns_by_table.get(table, ())):
        raise UnreadableBackup(f"The backup has a table or column that is not known here: {table}.")
    return table, columns


@contextmanager
def _readable() -> Iterator[None]:
    """Turn the errors of damaged streams into UnreadableBackup."""
    try:
        yield
    except EOFError as error:
        raise UnreadableBackup("The backup ends too early.") from error
    except RecursionError as error:
        raise UnreadableBackup("This is no backup of Freshet: it is nested too deeply.") from error
    except (gzip.BadGzipFile, zlib.error, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UnreadableBackup(f"This is no backup of Freshet, or a damaged one: {error}.") from error


def _switch_triggers(cursor: psycopg.Cursor[Any], names: list[sql.Identifier], *, on: bool) -> None:
    """Switch the tables' own triggers: what they would add is in the backup already."""
    state = sql.SQL("ENABLE" if on else "DISABLE")
    for name in names:
        cursor.execute(sql.SQL("ALTER TABLE {} {} TRIGGER USER").format(name, state))


def _gathered(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Join small parts into chunks of about CHUNK_BYTES."""
    gathered: list[bytes] = []
    size = 0
    for part in parts:
        gathered.append(part)
        size += len(part)
        if size >= CHUNK_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _write_line(stream: BinaryIO | gzip.GzipFile, value: Mapping[str, Any]) -> None:
    stream.write(json.dumps(value).encode() + b"\n")
