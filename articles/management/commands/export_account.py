"""The command `export_account`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from articles.personal.archive import write_archive
from articles.personal.following import subscriber_of


class Command(BaseCommand):
    help = "Write all that NAME owns as a ZIP file, which another Freshet takes over."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("name", help="name of the account")
        parser.add_argument("file", type=Path, help="the ZIP file")

    def handle(self, *, name: str, file: Path, **options: Any) -> None:
        """Run the command."""
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"nobody here is called {name!r}")
        subscriber = subscriber_of(user)
        with file.open("wb") as out:
            write_archive(subscriber, out, datetime.now(UTC))
        self.stdout.write(f"{file}: {file.stat().st_size} bytes")
