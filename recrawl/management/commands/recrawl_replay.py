"""`manage.py recrawl_replay HISTORY.jsonl.gz ...`: compare recrawl methods on recorded sites."""

from __future__ import annotations

import json
import math
import os
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.telemetry.progress import bar
from recrawl.methods.registry import REPLAYED
from recrawl.replay.budgeted import SAVED_WEEKS
from recrawl.replay.comparison import compare
from recrawl.replay.report import tables


class Command(BaseCommand):
    """A command that prints tables or one JSON object. It needs no database."""

    help = (
        "Replay histories of sites with recrawl methods: the paper's one-shot comparison, and week by week."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("histories", nargs="+", type=Path, metavar="HISTORY.jsonl.gz")
        parser.add_argument(
            "--method",
            nargs="+",
            action="extend",
            metavar="NAME",
            help="default: all",
        )
        parser.add_argument(
            "--weeks", type=periods_of, default="2,4,12,24", help="periods of the one-shot part"
        )
        parser.add_argument(
            "--budget",
            type=_share,
            metavar="FRACTION",
            help="of a site's pages a week; default: what C fetched",
        )
        parser.add_argument(
            "--save",
            type=_weeks,
            default=SAVED_WEEKS,
            metavar="WEEKS|none",
            help="weeks' budget that may be saved for later; none: any number (default: 8)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, histories: list[Path], **options: Any) -> None:
        names = list(dict.fromkeys(options["method"] or REPLAYED))
        try:
            results = compare(
                list(dict.fromkeys(histories)),
                names,
                options["weeks"],
                options["budget"],
                processes=os.cpu_count() or 1,
                save=options["save"],
                progress=bar(),
            )
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}") from error
        except ValueError as error:  # HistoryError is one
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(results.as_json()) if options["json"] else tables(results))


def periods_of(text: str) -> list[int]:
    """Parse periods in weeks, such as `2,4,12,24`. Raises ArgumentTypeError."""
    try:
        periods = [int(word) for word in text.split(",")]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no list of weeks such as 2,4,12,24") from None
    if not periods or min(periods) < 1:
        raise ArgumentTypeError("weeks must be 1 or more")
    return list(dict.fromkeys(periods))


def _weeks(text: str) -> float:
    if text == "none":
        return math.inf
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number of weeks, nor none") from None
    if not 0 <= value <= 1000:
        raise ArgumentTypeError(f"{text} must be at least 0 and at most 1000")
    return value


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 < value <= 1:
        raise ArgumentTypeError(f"{text} must be more than 0 and at most 1")
    return value
