"""`manage.py restore`: read a backup into an empty Freshet."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, BinaryIO, cast

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from crawler.database.backups import BackupReader, UnreadableBackup, unknown_migrations
from crawler.database.takeover import refuse_older
from crawler.management.commands.backup import add_password_argument, password_of
from crawler.operation.deployment.database import answering_database, is_given, is_running
from crawler.pipeline.sparql.replica import home
from crawler.text.encrypted import MAGIC, EncryptedReader, PasswordError

TABLES_IN_SQL = {
    "pipeline_quad": ("s", "p", "o", "c"),
    "pipeline_term": ("id", "mark", "kind", "lang", "datatype", "value"),
}
"""Tables that migrations make by SQL, which the models do not know."""
UNFINISHED = "freshet_unfinished_restore"
"""A table that exists while a restore is under way, so that nothing starts on half of one."""


class Command(BaseCommand):
    help = (
        "Read a backup of this or an earlier version into an empty Freshet, or with --replace into one that "
        "has something. FILE may be - (standard input). Freshet must not be running."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("--replace", action="store_true", help="delete what is there")
        parser.add_argument("--check", action="store_true", help="only read it, and say whether it is whole")
        add_password_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the backup, make the tables of its version, store its rows, and bring them up to date."""
        password, self.verbosity = password_of(options), options["verbosity"]
        try:
            with _opened(options["file"]) as file:
                if options["check"]:
                    backup = BackupReader(_decrypted(file, password))
                    counts = backup.check(columns_after(self._targets(backup)))
                    self.stdout.write(f"whole: {sum(counts.values()):,} rows in {len(counts)} tables")
                    return
                if not is_given() and is_running():
                    raise CommandError("Freshet is running: stop it first")
                with answering_database(self._say):
                    self._restore(BackupReader(_decrypted(file, password)), replace=options["replace"])
        except (UnreadableBackup, PasswordError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"the backup could not be read: {error}") from error

    def _restore(self, backup: BackupReader, *, replace: bool) -> None:
        targets = self._targets(backup)
        try:
            with psycopg.connect(settings.DATABASE_URL, autocommit=True) as target:
                _refuse_in_use(target)
                if not replace and not _is_empty(target):
                    raise CommandError("there is something already: --replace deletes it")
                _empty(target)
                target.execute(f"CREATE TABLE {UNFINISHED} ()")
                self._say(f"tables of version {backup.header.get('version', 'unknown')}")
                MigrationExecutor(connection).migrate(targets)
                connection.close()
                counts = backup.store(target, self._say if self.verbosity > 1 else lambda line: None)
                self._say(f"{sum(counts.values()):,} rows stored; bringing them up to date")
                call_command("migrate", interactive=False, verbosity=0)
                self._keep_files(backup.header.get("files", {}))
                shutil.rmtree(home(), ignore_errors=True)  # a replica of what was there before
                target.execute("ANALYZE")
                target.execute(f"DROP TABLE {UNFINISHED}")
        except (DatabaseError, psycopg.Error) as error:
            raise CommandError(f"the database refused: {str(error).strip()}") from error
        finally:
            connection.close()
        self.stdout.write(
            self.style.SUCCESS("restored; everybody signs in again, with the passwords of then")
        )

    def _targets(self, backup: BackupReader) -> list[tuple[str, str]]:
        """Return the newest migrations of the backup.

        Raises CommandError for one of a later version, or of one too old.
        """
        loader = MigrationExecutor(None).loader
        graph, applied = loader.graph, backup.migrations
        if unknown := unknown_migrations(applied):
            raise CommandError(
                f"The backup is of version {backup.header.get('version')}, later than this one, "
                f"which does not know {unknown[0][0]}.{unknown[0][1]}: install the newer version."
            )
        refuse_older(applied, "The backup")
        applied |= {key for key, squashed in loader.replacements.items() if applied >= set(squashed.replaces)}
        applied &= set(graph.nodes)
        parents = {
            parent.key for key in applied for parent in graph.node_map[key].parents if parent.key[0] == key[0]
        }
        return sorted(applied - parents)

    def _keep_files(self, files: dict[str, str]) -> None:
        """Write the key that signs sessions and links, unless the environment has one."""
        if files.get("secret_key") and not os.environ.get("SECRET_KEY"):
            path = settings.DATA_DIR / "secret_key"
            draft = path.with_suffix(".new")
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(str(files["secret_key"]))
            draft.replace(path)

    def _say(self, line: str) -> None:
        self.stderr.write(line)


def columns_after(targets: list[tuple[str, str]]) -> dict[str, set[str]]:
    """Return the columns of each table as these migrations make them."""
    state = MigrationExecutor(None).loader.project_state(targets)
    columns = {table: set(names) for table, names in TABLES_IN_SQL.items()}
    for model in state.apps.get_models(include_auto_created=True):
        names = {str(field.column) for field in model._meta.local_concrete_fields}
        columns.setdefault(model._meta.db_table, set()).update(names)
    return columns


def _opened(name: str) -> BinaryIO:
    return cast(BinaryIO, sys.stdin.buffer) if name == "-" else Path(name).open("rb")


def _decrypted(file: BinaryIO, password: str) -> BinaryIO:
    """Return the file, decrypted if it is encrypted. Raises CommandError without a password for it."""
    beginning = file.peek(len(MAGIC))[: len(MAGIC)] if hasattr(file, "peek") else b""
    if beginning != MAGIC:
        return file
    if not password:
        raise CommandError("the backup is encrypted: name its password (--password-file)")
    file.read(len(MAGIC))
    return cast(BinaryIO, EncryptedReader(file, password))


def _refuse_in_use(target: psycopg.Connection[Any]) -> None:
    """Raise CommandError where others are connected to the database."""
    others = target.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    ).fetchone()
    if others and others[0]:
        raise CommandError(f"{others[0]} others use the database: stop Freshet's processes first")


def _is_empty(target: psycopg.Connection[Any]) -> bool:
    """Return whether nobody uses this database yet: no person but a new administrator, and no feed."""
    if _exists(target, UNFINISHED):
        return True
    if not _exists(target, "auth_user"):
        return True
    tables = ("feeds_feed", "articles_article", "recrawl_site", "frontier_crawl", "pipeline_document")
    used = [table for table in tables if _exists(target, table) and _has_rows(target, table)]
    people = target.execute("SELECT count(*) FROM auth_user").fetchone()
    return not used and people is not None and people[0] <= 1


def _exists(target: psycopg.Connection[Any], table: str) -> bool:
    row = target.execute("SELECT to_regclass(%s)", [f"public.{table}"]).fetchone()
    return row is not None and row[0] is not None


def _has_rows(target: psycopg.Connection[Any], table: str) -> bool:
    return target.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None  # noqa: S608 - a known name


def _empty(target: psycopg.Connection[Any]) -> None:
    """Delete all tables and functions."""
    target.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
