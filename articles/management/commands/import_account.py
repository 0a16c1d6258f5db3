"""The command `import_account`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from django.core.management.base import CommandError

from articles.management.account_file import AccountFileCommand
from articles.models import Subscriber
from articles.personal.archive import ArchiveError, read_archive


class Command(AccountFileCommand):
    help = "Take over the ZIP file of another Freshet for NAME."
    requires_system_checks = ()

    def use_file(self, subscriber: Subscriber, file: Path) -> str:
        """Read the file. Returns what was taken over."""
        try:
            counts = read_archive(subscriber, file.read_bytes(), datetime.now(UTC), makes_articles=True)
        except ArchiveError as error:
            raise CommandError(f"{file}: {error}") from error
        return counts.in_words()
