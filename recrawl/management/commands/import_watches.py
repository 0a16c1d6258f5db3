"""`manage.py import_watches FILE`: watch the pages of a backup of changedetection.io, or of a list."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from recrawl.importing.changedetection import BackupError
from recrawl.importing.watches import import_watches


class Command(BaseCommand):
    """A command that imports watches."""

    help = "Watch the pages of a backup of changedetection.io, of jobs of urlwatch, or of a list."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the backup, or the list of addresses")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        try:
            with open(file, "rb") as content:
                imported = import_watches(content, None)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        for problem in imported.problems:
            self.stderr.write(f"{problem.url}: {problem.message}")
        self.stdout.write(
            f"{imported.added} pages in {len(imported.sites)} lists, {imported.known} watched already"
        )
