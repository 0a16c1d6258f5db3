"""`manage.py recrawl_report HISTORY... --to DIR`: the paper's figures 5 to 18 for recorded histories."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.telemetry.progress import bar
from crawler.web.charts import standalone
from recrawl.evaluation.paper_figures import Figure, figures, trade_off
from recrawl.management.commands.recrawl_replay import periods_of
from recrawl.methods.registry import METHODS
from recrawl.replay.comparison import compare
from recrawl.replay.history import group_of, read_history
from recrawl.replay.study import Study, study


class Command(BaseCommand):
    """A command that writes figures from history files. It needs no database."""

    help = "Write update rate, coverage and their trade-offs as pictures and tables."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("histories", nargs="+", type=Path, metavar="HISTORY.jsonl.gz")
        parser.add_argument("--to", type=Path, required=True, metavar="DIR")
        parser.add_argument("--weeks", type=periods_of, default="2,4,12,24", help="the periods")
        parser.add_argument(
            "--group", action="append", default=[], metavar="NAME=GLOB",
            help="sites of one group, by their files' names; default: what comes before the first dash",
        )  # fmt: skip
        parser.add_argument("--no-budget", action="store_true", help="leave out the weekly replay")

    def handle(self, *args: Any, histories: list[Path], **options: Any) -> None:
        patterns = [_pattern(text) for text in options["group"]]
        paths = list(dict.fromkeys(histories))
        try:
            with ProcessPoolExecutor(min(os.cpu_count() or 1, len(paths)), get_context("fork")) as pool:
                studies = list(pool.map(_study_of, paths, [options["weeks"]] * len(paths)))
            whole, groups = Study(), dict[str, Study]()
            for path, study in zip(paths, studies, strict=True):
                whole.add(study)
                group_names = (group for group, glob in patterns if fnmatch(path.name, glob))
                groups.setdefault(next(group_names, group_of(path.name)), Study()).add(study)
            paper_figures = figures(whole, groups, options["weeks"])
            if not options["no_budget"]:
                processes = os.cpu_count() or 1
                results = compare(paths, list(METHODS), [4], None, processes=processes, progress=bar())
                paper_figures.append(trade_off(results.mean()))
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}") from error
        except ValueError as error:  # HistoryError is one
            raise CommandError(str(error)) from error
        options["to"].mkdir(parents=True, exist_ok=True)
        _write(options["to"], paper_figures)
        self.stdout.write(
            f"{len(paper_figures)} figures of {len(paths)} histories in {options['to']}/report.md"
        )


def _study_of(path: Path, weeks: Sequence[int]) -> Study:
    return study(read_history(path), weeks)


def _write(to: Path, paper_figures: Sequence[Figure]) -> None:
    parts = ["# Recrawl methods on recorded histories", ""]
    for figure in paper_figures:
        (to / f"{figure.name}.svg").write_text(standalone(figure.svg))
        picture = f"![{figure.title}]({figure.name}.svg)"
        parts.append(f"## {figure.title}\n\n{picture}\n\n```\n{figure.table}\n```\n")
    (to / "report.md").write_text("\n".join(parts))


def _pattern(text: str) -> tuple[str, str]:
    name, mark, glob = text.partition("=")
    if not (name and mark and glob):
        raise CommandError(f"--group: {text!r} is not NAME=GLOB")
    return name, glob
