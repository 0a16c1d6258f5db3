"""`manage.py export NAME`: the articles of a person's list as a file, in any of the formats of the site."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from articles.exporting.formats import FORMATS, ExportFormat, in_chunks
from articles.exporting.querying import article_rows, keys_in
from articles.exporting.rows import ExportedList
from articles.personal.following import folder_named, subscriber_of
from articles.personal.labels import label_named
from articles.reader.lists import ReadingList
from crawler.database.readers import reading_as
from crawler.web.filters import search_problem


class Command(BaseCommand):
    """A command that writes to the file, or to standard output without one."""

    help = (
        "Write the articles that NAME follows as a file, newest first: all, or those of a feed, a folder or "
        "a label, starred or saved ones."
    )

    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the account")
        parser.add_argument("--as", dest="form", choices=[*FORMATS], default="csv", help="default: csv")
        parser.add_argument("--query", default="", metavar="WORDS", help="only what a search for these finds")
        parser.add_argument("--feed", type=int, metavar="ID", help="only this feed")
        parser.add_argument("--folder", default="", help="only this folder and those inside it")
        parser.add_argument("--label", default="", help="only articles with this label")
        parser.add_argument("--starred", action="store_true", help="only starred articles")
        parser.add_argument("--saved", action="store_true", help="only saved pages, and what is highlighted")
        parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")

    def handle(
        self, *args: Any, name: str, form: str, query: str, output: Path | None, **options: Any
    ) -> None:
        """Write the list; a name, a search or a file that cannot be used ends it with a sentence."""
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"nobody here is called {name!r}")
        if problem := search_problem(query):
            raise CommandError(problem)
        reading_list = ReadingList(
            feed=options["feed"],
            folder=folder_named(options["folder"]),
            label=label_named(options["label"]),
            show="starred" if options["starred"] else "saved" if options["saved"] else "all",
        )
        with reading_as(user.pk):
            parts = _parts(reading_list, user, FORMATS[form], query)
            if output is None:
                self._print(parts)
                return
            try:
                _write(parts, output)
            except OSError as error:
                raise CommandError(f"{output} cannot be written: {error.strerror or error}") from error

    def _print(self, parts: Iterable[bytes]) -> None:
        """Write to standard output; who reads no further, such as `head`, ends it."""
        stream = getattr(self.stdout._out, "buffer", None)
        with contextlib.suppress(BrokenPipeError):
            for part in parts:
                if stream is None:
                    self.stdout.write(part.decode("utf-8", "surrogateescape"), ending="")
                else:
                    stream.write(part)
            if stream is not None:
                stream.flush()
            return
        sys.stdout = None  # else Python complains when it flushes it at its end


def _parts(reading_list: ReadingList, user: User, form: ExportFormat, query: str) -> Iterable[bytes]:
    subscriber = subscriber_of(user)
    listed = reading_list.articles(subscriber)
    if query:
        listed = listed.search(query)
    title = query or reading_list.label or reading_list.folder or reading_list.show
    rows = article_rows(keys_in(listed), subscriber, form)
    return in_chunks(form.write(rows, ExportedList(title)))


def _write(parts: Iterable[bytes], output: Path) -> None:
    """Write a file that takes its name when it is whole."""
    unfinished = output.with_name(f"{output.name}.part")
    try:
        with unfinished.open("wb") as file:
            file.writelines(parts)
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)
