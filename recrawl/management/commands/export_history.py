"""`manage.py export_history [SITE ...] --to DIR`: write watched sites as history files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from recrawl.models import Site
from recrawl.own_history import WEEK, NoHistoryError, own_history, packed


class Command(BaseCommand):
    """A command that writes what visits have found, for `recrawl_replay`, `recrawl_report` and `survey`."""

    help = (
        "Write watched sites as history files, one state a week: checksums and links, no contents. "
        "recrawl_replay, recrawl_report and survey read them."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sites", nargs="*", type=int, metavar="SITE", help="numbers; default: all")
        parser.add_argument("--to", type=Path, required=True, metavar="DIR")
        parser.add_argument("--days", type=float, default=WEEK, help="length of a step (default: a week)")
        parser.add_argument("--no-addresses", action="store_true", help="numbers in place of addresses")

    def handle(self, *args: Any, sites: list[int], to: Path, **options: Any) -> None:
        """Write a file for each site. Sites without a history are named and left out."""
        if not options["days"] > 0:
            raise CommandError("--days must be above 0")
        rows = Site.objects.filter(pk__in=sites) if sites else Site.objects.all()
        missing = set(sites) - set(rows.values_list("pk", flat=True))
        if missing:
            raise CommandError(f"there is no site {min(missing)}")
        to.mkdir(parents=True, exist_ok=True)
        written = 0
        for site in rows.order_by("pk"):
            try:
                history = own_history(site, options["days"], anonymous=options["no_addresses"])
            except NoHistoryError as error:
                self.stderr.write(f"{site}: {error}")
                continue
            path = to / f"site-{site.pk}.jsonl.gz"
            path.write_bytes(packed(history))
            written += 1
            self.stdout.write(f"{path}: {len(history.weeks)} weeks, {len(history.weeks[-1])} pages")
        if not written:
            raise CommandError("no site has a history yet")
