"""`manage.py retention`: days that each kind of data is kept, and the rows that others would delete."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from crawler.operation.site.retention_rules import MAX_DAYS, kept


class Command(BaseCommand):
    """A command that counts old rows and deletes none."""

    help = "Say for how long each kind of data is kept, and how much another number of days would delete."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, default=365, help="days to try; 365 if not said")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        """Print a line for each kind. Deletes nothing."""
        if not 1 <= days <= MAX_DAYS:
            raise CommandError(f"--days must be from 1 to {MAX_DAYS}")
        rows = kept(days, datetime.now(UTC))
        if options["json"]:
            self.stdout.write(json.dumps([asdict(row) for row in rows], cls=DjangoJSONEncoder, indent=2))
            return
        for row in rows:
            duration = f"{row.days} days" if row.days else "for ever"
            oldest = f"since {row.oldest:%Y-%m-%d}" if row.oldest else "nothing yet"
            qualifier = "or more " if row.is_more else ""
            self.stdout.write(f"{row.words}: {duration} ({row.setting}), {oldest}")
            self.stdout.write(f"    {days} days would delete {row.deleted} {qualifier}now")
