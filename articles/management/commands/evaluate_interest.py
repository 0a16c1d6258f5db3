"""`manage.py evaluate_interest EVENTS.jsonl`: comparison of list rankers on a log of clicks."""

from __future__ import annotations

import json
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from articles.interest.evaluation.events import EventsError, read_events
from articles.interest.evaluation.replay import evaluate
from articles.interest.evaluation.report import table
from crawler.telemetry.progress import bar

FORMAT = """
EVENTS.jsonl (or .jsonl.gz) has one JSON object a line, in order of time:

  {"at": "2026-03-01T08:00:00Z", "subscriber": "ann", "event": "impression", "article": "a1", "list": "l1",
   "feed": "f7", "category": "science", "author": "Ada", "keywords": [["comet", 3.2], ["probe", 1.1]],
   "title": "A probe meets a comet", "published": "2026-03-01T07:12:00Z"}
  {"at": "2026-03-01T08:00:31Z", "subscriber": "ann", "event": "click", "article": "a1"}

at          ISO 8601 (UTC without an offset) or seconds since 1970
subscriber  text or number
event       impression, click, more, less, hide, save; "article" for lines that only tell of one
article     text or number; what is known of it is told once, on any line
list        what was shown together; without it, impressions up to ten minutes apart
keywords    terms with or without weights; without any, the words of the title

Every list is ordered by what was learned from events before it. Lists without an opening are learned from but
not measured. docs/interest.md has the details, other names of these fields, and what the figures mean.
"""


class Command(BaseCommand):
    """A command that prints a table or one JSON object. Needs no database."""

    help = (
        "Replay a log of impressions and clicks: newest first, source affinity, keywords only, popularity, "
        "interest."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = FORMAT
        parser.add_argument("events", type=Path, metavar="EVENTS.jsonl")
        parser.add_argument("--seed", type=int, default=1, help="of the bootstrap")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, events: Path, **options: Any) -> None:
        if options["seed"] < 0:
            raise CommandError("--seed must be 0 or more")
        try:
            log = read_events(events)
        except OSError as error:
            raise CommandError(f"{error.filename or events} cannot be read: {error.strerror}") from error
        except EventsError as error:
            raise CommandError(str(error)) from error
        evaluation = evaluate(log, seed=options["seed"], progress=bar())
        self.stdout.write(json.dumps(evaluation.as_json()) if options["json"] else table(evaluation))
