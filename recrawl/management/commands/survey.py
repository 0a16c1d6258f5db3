"""`manage.py survey [HISTORY ...]`: how much of the web changes, and what a changed top page tells."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler.fetching.http.domains import host_of, top_level_domain
from recrawl.management.commands.recrawl_replay import periods_of
from recrawl.models import Site
from recrawl.own_history import WEEK, NoHistoryError, own_history
from recrawl.replay.history import group_of, read_history
from recrawl.replay.survey import Survey, survey, tables


class Command(BaseCommand):
    """A command that prints tables 1 to 3 and figure 1 of the paper for histories, or for watched sites."""

    help = (
        "Count servers, pages and changes as tables 1 to 3 and figure 1 of Kumagai and Yamana (2004) do. "
        "Without files: of this deployment's own sites."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("histories", nargs="*", type=Path, metavar="HISTORY.jsonl.gz")
        parser.add_argument("--weeks", type=periods_of, default="2,4,12,24", help="the periods")
        parser.add_argument("--days", type=float, default=WEEK, help="length of a week of one's own sites")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, histories: list[Path], weeks: list[int], **options: Any) -> None:
        """Print the tables."""
        groups: dict[str, Survey] = {}
        surveys = self._read(histories, weeks) if histories else self._own(weeks, options["days"])
        for name, counts in surveys:
            groups.setdefault(name, Survey()).add(counts)
        if options["json"]:
            self.stdout.write(json.dumps({name: group.as_json() for name, group in sorted(groups.items())}))
        else:
            self.stdout.write(tables(dict(sorted(groups.items()))))

    def _read(self, paths: Sequence[Path], weeks: Sequence[int]) -> list[tuple[str, Survey]]:
        """Return the counts of each file, with its group. Raises CommandError."""
        try:
            with ProcessPoolExecutor(min(os.cpu_count() or 1, len(paths)), get_context("fork")) as pool:
                counts = list(pool.map(_survey_of, paths, [weeks] * len(paths)))
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}") from error
        except ValueError as error:  # HistoryError is one
            raise CommandError(str(error)) from error
        return [(group_of(path.name), each) for path, each in zip(paths, counts, strict=True)]

    def _own(self, weeks: Sequence[int], days: float) -> list[tuple[str, Survey]]:
        """Return the counts of each watched site, with its top-level domain. Raises CommandError."""
        surveys = []
        for site in Site.objects.order_by("pk"):
            try:
                history = own_history(site, days)
            except NoHistoryError as error:
                self.stderr.write(f"{site}: {error}")
                continue
            surveys.append((top_level_domain(host_of(site.url)), survey(history, weeks)))
        if not surveys:
            raise CommandError("no site has a history yet; name history files, or watch sites for two weeks")
        return surveys


def _survey_of(path: Path, weeks: Sequence[int]) -> Survey:
    return survey(read_history(path), weeks)
