"""`manage.py upgrade_database`: take over the data of an older major version of PostgreSQL."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from crawler.operation.deployment.database import is_given, is_running
from crawler.postgresql.credentials import EmbeddedError, credentials_file
from crawler.postgresql.postgresql import MAJOR, PostgreSQL, binaries_of, major_of

ROOT = Path(__file__).resolve().parents[3]
"""The folder with our packages."""


class Command(BaseCommand):
    """A command that backs up with the older PostgreSQL's programs, and restores into a new database."""

    help = (
        "Take over the data of Freshet's own database after an update that brings another PostgreSQL: a "
        "backup by the older one's programs, restored into a new database. The old one stays until you "
        "delete it."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--programs",
            type=Path,
            metavar="FOLDER",
            help="with the older version's postgres (else: looked for)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        data_dir: Path = settings.DATA_DIR
        if is_given():
            raise CommandError("DATABASE_URL names a PostgreSQL of yours: its own tools upgrade it")
        if is_running():
            raise CommandError("Freshet is running: stop it first")
        major = major_of(data_dir)
        if major in {"", MAJOR}:
            self.stdout.write(f"There is nothing to do: the data is PostgreSQL {major or MAJOR}'s already.")
            return
        if not major.isdecimal():
            raise CommandError(f"{data_dir / 'postgresql' / 'PG_VERSION'} names no version")
        programs = options["programs"].resolve() if options["programs"] else binaries_of(major)
        if programs is None or not (programs / "postgres").exists():
            raise CommandError(
                f"the programs of PostgreSQL {major} are not here: install them and name their folder "
                "(--programs), or make a backup with the Freshet of before and restore it"
            )
        backup = data_dir / f"postgresql-{major}.backup"
        self._back_up(PostgreSQL(data_dir, say=self.stdout.write, older=(int(major), programs)), backup)
        self._take_over(data_dir, backup, data_dir / f"postgresql-{major}")
        self.stdout.write(
            self.style.SUCCESS(
                f"taken over; {data_dir / f'postgresql-{major}'} and {backup} are not needed any more: "
                "delete them when you have seen that all is well"
            )
        )

    def _back_up(self, server: PostgreSQL, backup: Path) -> None:
        """Write all of the older database into a file."""
        try:
            server.start()
        except EmbeddedError as error:
            raise CommandError(str(error)) from error
        try:
            self._run({"DATABASE_URL": server.credentials.database_url}, "backup", str(backup))
        finally:
            server.stop()

    def _take_over(self, data_dir: Path, backup: Path, aside: Path) -> None:
        """Restore into a new database beside the old one, and exchange the two when it is whole."""
        if aside.exists():
            raise CommandError(f"{aside} is there already: delete it or move it away")
        draft = data_dir / "upgrade"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o711)
        shutil.copy2(credentials_file(data_dir), credentials_file(draft))
        self._run({"DATA_DIR": str(draft)}, "restore", str(backup))
        with (data_dir / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CommandError("Freshet was started meanwhile: stop it and run this again") from None
            (data_dir / "postgresql").rename(aside)
            (draft / "postgresql").rename(data_dir / "postgresql")
        shutil.rmtree(draft, ignore_errors=True)

    def _run(self, variables: dict[str, str], *command: str) -> None:
        """Run one of our commands in a separate process, which reads its settings anew."""
        inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        program = [sys.executable, "-c", "from crawler.operation.command_line import main; main()", *command]
        path = os.pathsep.join([str(ROOT), inherited.get("PYTHONPATH", "")])
        environment = {**inherited, "PYTHONPATH": path, **variables}
        process = subprocess.run(program, env=environment, check=False)  # noqa: S603 - our own commands
        if process.returncode:
            raise CommandError(f"`freshet {command[0]}` ended with {process.returncode}")
