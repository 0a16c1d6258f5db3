"""`manage.py derive`: the derived graphs, computed in this process."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from articles.things.derived.save import WEEKS, derive

MAX_WEEKS = 520


class Command(BaseCommand):
    """A command that computes the derived graphs."""

    help = (
        "Compute the graphs of people and organisations, and each week's stories, links between sites and "
        "mentions. Workers do so once a day."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--weeks", type=int, default=WEEKS, help="weeks back from now (default %(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="print statements by graph as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["weeks"] <= MAX_WEEKS:
            raise CommandError(f"--weeks is a number from 1 to {MAX_WEEKS}")
        counts = derive(datetime.now(UTC), options["weeks"])
        if options["json"]:
            self.stdout.write(json.dumps(counts))
            return
        for name, count in counts.items():
            self.stdout.write(f"{name}: {count} statements")
