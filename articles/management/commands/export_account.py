"""The command `export_account`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from articles.management.account_file import AccountFileCommand
from articles.models import Subscriber
from articles.moving.departing import write_for_readers
from articles.personal.archive import write_archive


class Command(AccountFileCommand):
    help = "Write all that NAME owns as a ZIP file, which another Freshet takes over."
    requires_system_checks = ()

    is_for_readers = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        super().add_arguments(parser)
        parser.add_argument(
            "--for-readers",
            action="store_true",
            help="with all articles, as FreshRSS and other readers take them",
        )

    def handle(self, *, for_readers: bool = False, **options: Any) -> None:
        """Write the file for another Freshet, or for another reader."""
        self.is_for_readers = for_readers
        super().handle(**options)

    def use_file(self, subscriber: Subscriber, file: Path) -> str:
        """Write the file. Returns its name and size."""
        with file.open("wb") as out:
            if self.is_for_readers:
                write_for_readers(subscriber, out, datetime.now(UTC))
            else:
                write_archive(subscriber, out, datetime.now(UTC))
        return f"{file}: {file.stat().st_size} bytes"
