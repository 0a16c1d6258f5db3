"""`manage.py backup`: write everything that is kept into one file."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from crawler.database.backups import write_backup
from crawler.operation.deployment.database import answering_database
from crawler.telemetry.version import version
from crawler.text.encrypted import EncryptedWriter

PASSWORD = "FRESHET_BACKUP_PASSWORD"  # noqa: S105 - a variable's name
NAME = "freshet-{}.backup"
SECONDS_AN_HOUR = 3600
RETRY_SECONDS = 600
"""A scheduled backup that failed is tried again after this, or after its period if that is shorter."""


def add_password_argument(parser: ArgumentParser) -> None:
    """Add the argument for a file with the password of encrypted backups."""
    parser.add_argument("--password-file", type=Path, help=f"its first line encrypts (else: {PASSWORD})")


def password_of(options: dict[str, Any]) -> str:
    """Return the password for encryption, empty for none. Raises CommandError for an unusable file."""
    path: Path | None = options["password_file"]
    if path is None:
        return os.environ.get(PASSWORD, "")
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"the password file cannot be read: {error}") from error
    if not lines or not lines[0]:
        raise CommandError(f"{path} has no password in its first line")
    return lines[0]


class Command(BaseCommand):
    help = (
        "Write all feeds, articles, people, settings and the graph into one file, also while Freshet runs. "
        "FILE may be - (standard output), or a folder, where the file gets a name with the time."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("--keep", type=int, default=0, metavar="N", help="keep the newest N of a folder")
        parser.add_argument(
            "--schedule", type=float, default=0.0, metavar="HOURS",
            help="stay, and write one into the folder every so many hours",
        )  # fmt: skip
        add_password_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Write a backup, or one after the other. A file appears under its name when it is whole."""
        password, target, self.verbosity = password_of(options), options["file"], options["verbosity"]
        folder = Path(target) if target != "-" and Path(target).is_dir() else None
        if folder is None and (options["keep"] or options["schedule"]):
            raise CommandError("--keep and --schedule need a folder that exists")
        if options["keep"] < 0 or options["schedule"] < 0:
            raise CommandError("--keep and --schedule take numbers above 0")
        period = options["schedule"] * SECONDS_AN_HOUR
        while True:
            began = time.monotonic()
            seconds = period
            try:
                with answering_database(self._say):
                    self._write_one(target, folder, password)
                if folder and options["keep"]:
                    self._thin_out(folder, options["keep"])
            except (CommandError, DatabaseError, OSError) as error:
                if not period:
                    raise
                began = time.monotonic()
                seconds = min(period, RETRY_SECONDS)
                self._say(self.style.ERROR(f"{error}; once more in {seconds / 60:,.0f} minutes"))
            if not period:
                return
            time.sleep(max(seconds - (time.monotonic() - began), 0))

    def _write_one(self, target: str, folder: Path | None, password: str) -> None:
        if target == "-":
            try:
                self._write(cast(BinaryIO, sys.stdout.buffer), password)
                sys.stdout.flush()
            except OSError as error:  # whoever reads it has gone, or its disk is full
                raise _unwritten(error) from error
            return
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
        self._write_file(folder / NAME.format(stamp) if folder else Path(target), password)

    def _write_file(self, path: Path, password: str) -> None:
        draft = path.with_name(f".{path.name}.unfinished")
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                rows = self._write(file, password)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            raise _unwritten(error) from error
        finally:
            with suppress(OSError):
                draft.unlink()
        size = path.stat().st_size / 1e6
        self._say(self.style.SUCCESS(f"{path}: {rows:,} rows, {size:,.1f} MB"))

    def _write(self, file: BinaryIO, password: str) -> int:
        """Write a backup into an open file. Returns the number of rows."""
        connection.ensure_connection()
        applied = sorted(MigrationRecorder(connection).applied_migrations())
        header = {
            "version": version(),
            "made": datetime.now(UTC).isoformat(),
            "migrations": applied,
            # Links and secrets of people stay valid with it; all accounts are in the backup anyway.
            "files": {} if os.environ.get("SECRET_KEY") else {"secret_key": settings.SECRET_KEY},
        }
        say = self._say if self.verbosity > 1 else lambda line: None
        try:
            with psycopg.connect(settings.DATABASE_URL) as own_connection:
                if not password:
                    return sum(write_backup(own_connection, file, header, say).values())
                with EncryptedWriter(file, password) as encrypted:
                    return sum(write_backup(own_connection, cast(BinaryIO, encrypted), header, say).values())
        except (DatabaseError, psycopg.Error) as error:
            raise CommandError(f"the database broke off: {error}") from error
        finally:
            connection.close()

    def _thin_out(self, folder: Path, keep: int) -> None:
        """Delete all but the newest backups of a folder."""
        for path in sorted(folder.glob(NAME.format("*")))[:-keep]:
            path.unlink(missing_ok=True)
            self._say(f"{path.name} deleted: {keep} newer ones are kept")

    def _say(self, line: str) -> None:
        self.stderr.write(line)


def _unwritten(error: OSError) -> CommandError:
    return CommandError(f"the backup could not be written: {error.strerror or error}")
