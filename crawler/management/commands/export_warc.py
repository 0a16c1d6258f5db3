"""`manage.py export_warc CRAWL FILE.warc.gz`: a crawl for the tools of web archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.frontier.models import Crawl
from crawler.frontier.warc import warc_chunks


class Command(BaseCommand):
    """Requests and answers; contents as far as they were kept."""

    help = "Write what a crawl asked and was answered as a gzipped WARC file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("crawl", type=int, help="its number")
        parser.add_argument("file", type=Path, metavar="FILE.warc.gz")

    def handle(self, *args: Any, crawl: int, file: Path, **options: Any) -> None:
        found = Crawl.objects.filter(pk=crawl).first()
        if found is None:
            raise CommandError(f"there is no crawl {crawl}")
        try:
            with file.open("wb") as out:
                records = sum(out.write(chunk) > 0 for chunk in warc_chunks(found))
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from error
        self.stdout.write(f"{records - 1} URLs: {file}")
