"""`manage.py export_warc CRAWL FILE.warc.gz`: export a crawl for web archive tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.frontier.models import Crawl
from crawler.frontier.warc import warc_chunks


class Command(BaseCommand):
    """A command that writes requests and responses, with bodies as far as they were kept."""

    help = "Write what a crawl asked and was answered as a gzipped WARC file."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("crawl", type=int, help="its number")
        parser.add_argument("file", type=Path, metavar="FILE.warc.gz")

    def handle(self, *args: Any, crawl: int, file: Path, **options: Any) -> None:
        row = Crawl.objects.filter(pk=crawl).first()
        if row is None:
            raise CommandError(f"there is no crawl {crawl}")
        try:
            with file.open("wb") as out:
                records = sum(out.write(chunk) > 0 for chunk in warc_chunks(row))
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from error
        self.stdout.write(f"{records - 1} URLs: {file}")
