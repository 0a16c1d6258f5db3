"""The tables that a new database gets at once are those that all migrations make."""

from __future__ import annotations

import difflib
import gzip

import psycopg
import pytest
from django.conf import settings

from crawler.database.schema import FILE
from crawler.postgresql.postgresql import MAJOR
from tests.copies import dumped

FIRST_ROWS = {
    "content types": "SELECT app_label, model FROM django_content_type",
    "permissions": """
        SELECT app_label, model, codename FROM auth_permission
        JOIN django_content_type ON django_content_type.id = content_type_id""",
    "migrations": "SELECT app, name FROM django_migrations",
    "queries of crawls": "SELECT (to_jsonb(one) - 'id')::text FROM pipeline_linkquery AS one",
}


def first_rows(connection: psycopg.Connection) -> dict[str, set[tuple[object, ...]]]:
    return {name: set(connection.execute(query)) for name, query in FIRST_ROWS.items()}  # type: ignore[arg-type]


def tables_with_rows(connection: psycopg.Connection) -> set[str]:
    names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return {name for (name,) in names if connection.execute(f'SELECT FROM "{name}" LIMIT 1').fetchone()}


def without_rows(statements: bytes) -> list[str]:
    """The statements that make tables, a line each."""
    lines, in_rows = [], False
    for line in statements.decode().splitlines():
        in_rows = in_rows or line.startswith("INSERT INTO ")
        if not in_rows and line and not line.startswith(("\\", "--", "SET ", "SELECT pg_catalog.")):
            lines.append(line)
        in_rows = in_rows and not line.endswith(";")
    return lines


def test_the_file_makes_what_all_migrations_make(migrated: str) -> None:
    """Renew it with `make schema` after a new migration."""
    address = settings.DATABASE_URL.rpartition("/")[0]
    copy, made = f"{migrated}_read", f"{migrated}_made"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as server:
        major = server.info.server_version // 10_000
        if major != int(MAJOR):
            pytest.skip(f"it is for PostgreSQL {MAJOR}, and this is {major}")
        for name, options in ((copy, f" TEMPLATE {migrated}"), (made, "")):
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            server.execute(f"CREATE DATABASE {name}{options}")
        try:
            statements = gzip.decompress(FILE.read_bytes())
            right = without_rows(dumped(f"{address}/{copy}", "--rows-per-insert=500"))
            differences = list(
                difflib.unified_diff(right, without_rows(statements), "migrations", "file", "", "", 2)
            )
            assert differences == [], "\n".join(differences)
            with psycopg.connect(f"{address}/{made}") as new, psycopg.connect(f"{address}/{copy}") as old:
                new.execute(statements)
                new.execute("RESET search_path")
                assert tables_with_rows(new) == tables_with_rows(old)
                assert first_rows(new) == first_rows(old)
        finally:
            for name in (copy, made):
                server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
