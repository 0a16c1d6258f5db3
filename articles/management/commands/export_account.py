"""The command `export_account`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from articles.management.account_file import AccountFileCommand
from articles.models import Subscriber
from articles.personal.archive import write_archive


class Command(AccountFileCommand):
    help = "Write all that NAME owns as a ZIP file, which another Freshet takes over."
    requires_system_checks = ()

    def use_file(self, subscriber: Subscriber, file: Path) -> str:
        """Write the file. Returns its name and size."""
        with file.open("wb") as out:
            write_archive(subscriber, out, datetime.now(UTC))
        return f"{file}: {file.stat().st_size} bytes"
