"""Databases that a benchmark makes, marks as its own, and removes.

A benchmark fills, flushes and truncates tables, so it must never reach a database that somebody uses.
`own_database` starts an embedded PostgreSQL in a temporary directory, creates the table `freshet_disposable`
in it, and only then lets Django read its settings. `refuse_foreign_databases`, which `benchmarks/__init__.py`
calls, closes every connection of this process to a database that has neither that table nor a name that only
test databases have.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.signals import connection_created

from crawler.environment import TEST_DATABASE_PREFIX

MARKER_TABLE = "freshet_disposable"


class ForeignDatabaseError(Exception):
    """A benchmark has connected to a database that it did not make."""


def refuse_foreign_databases() -> None:
    """Check every database that this process connects to through Django from now on."""
    connection_created.connect(_require_marker, dispatch_uid="benchmarks.database")


def mark_disposable(url: str) -> None:
    """Mark a database that the caller has just made, so that a benchmark may change its rows."""
    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {MARKER_TABLE} ()".encode())


def product_database_url(data_dir: Path) -> str:
    """Return the address of the database of a product that runs on this data directory."""
    from crawler.postgresql.credentials import Credentials

    credentials = Credentials.read(data_dir)
    if credentials is None:
        raise ForeignDatabaseError(f"no product keeps its data in {data_dir}")
    return credentials.database_url


@contextmanager
def own_database(
    name: str, configuration: Mapping[str, str] | None = None, **variables: str
) -> Iterator[Path]:
    """Set Django up with a new, migrated database, and remove it afterwards; yield its directory.

    `configuration` goes to PostgreSQL, `variables` into the environment, where Freshet finds its settings.
    Raises ForeignDatabaseError when the settings were read before: they name another database.
    """
    from crawler.postgresql.postgresql import PostgreSQL

    if settings.configured:
        raise ForeignDatabaseError("the settings were read before this benchmark made its database")
    directory = Path(tempfile.mkdtemp(prefix=f"freshet-{name}-"))
    directory.chmod(0o711)
    server = PostgreSQL(directory, configuration)
    server.start()
    try:
        mark_disposable(server.credentials.database_url)
        os.environ |= {
            "DATABASE_URL": server.credentials.database_url,
            "DJANGO_SETTINGS_MODULE": "crawler.settings",
            "CELERY_BROKER_URL": "memory://",
            "DATA_DIR": str(directory / "data"),
            **variables,
        }
        import django

        django.setup()
        from django.core.management import call_command

        from crawler.database import schema

        schema.load()  # ten seconds less than all migrations
        call_command("migrate", verbosity=0)  # those that came since the file was written
        yield directory
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _require_marker(connection: Any, **_: object) -> None:
    """Close the connection and raise ForeignDatabaseError unless its database may be changed.

    Django's own connection to the server, which creates and drops test databases, names no database.
    """
    name = connection.settings_dict["NAME"]
    if name is None or name.startswith(TEST_DATABASE_PREFIX):
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NULL", [MARKER_TABLE])
        (is_foreign,) = cursor.fetchone()
    if is_foreign:
        connection.close()
        raise ForeignDatabaseError(f"no benchmark made the database {name!r}: it is left alone")
