"""The command `import_account`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from articles.personal.archive import ArchiveError, read_archive
from articles.personal.following import subscriber_of


class Command(BaseCommand):
    help = "Take over the ZIP file of another Freshet for NAME."

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
        try:
            taken = read_archive(subscriber, file.read_bytes(), datetime.now(UTC), makes_articles=True)
        except (ArchiveError, OSError) as error:
            raise CommandError(f"{file}: {error}") from error
        self.stdout.write(taken.in_words())
