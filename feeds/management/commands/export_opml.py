"""`manage.py export_opml [FILE]`: all feeds as OPML 2.0, categories as folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from feeds.adding.opml import export_opml


class Command(BaseCommand):
    """A command that writes to the file, or to standard output without one."""

    help = "Write all feeds as OPML, categories as nested folders."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="where to write (default: standard output)")

    def handle(self, *args: Any, file: Path | None, **options: Any) -> None:
        document = export_opml()
        if file is None:
            self.stdout.write(document.decode())
            return
        try:
            file.write_bytes(document)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from error
