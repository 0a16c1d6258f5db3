"""`manage.py export_trace FILE.csv.gz`: export of this deployment's posting times for `manage.py replay`."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.text.cells import csv_row, guarded
from feeds.laboratory.own_history import own_trace
from feeds.replay.trace import TraceError


class Command(BaseCommand):
    """A command that writes the columns feed,published (epoch seconds)."""

    help = "Write the posting times that this deployment recorded, as a trace for the replay."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.csv.gz")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            trace, _ = own_trace(datetime.now(UTC))
            with gzip.open(file, "wt", newline="", encoding="utf-8") as out:
                out.write(csv_row(["feed", "published"]))
                for owner, published in zip(trace.owner.tolist(), trace.published.tolist(), strict=True):
                    out.write(csv_row([guarded(trace.feeds[owner]), f"{published:.0f}"]))
        except TraceError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from error
        self.stdout.write(f"{len(trace.owner)} articles of {len(set(trace.owner.tolist()))} feeds: {file}")
