"""`manage.py replay TRACE.csv.gz`: comparison of scheduling policies on recorded posting times."""

from __future__ import annotations

import json
import os
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.telemetry.progress import bar
from crawler.text.cells import aligned
from feeds.replay.comparison import Options, PolicyComparison, compare
from feeds.replay.setup import Setup
from feeds.replay.trace import TraceError, read_subscribers, read_trace
from feeds.scheduling.registry import POLICIES
from feeds.visiting.priors import parse_prior, read_prior

COLUMNS = (
    ("pending", "total_pending", "{:.2f}"),
    ("max", "max_pending", "{:.2f}"),
    ("daily max", "daily_max_pending", "{:.2f}"),
    ("delay min", "delay_mean", "{:.1f}"),
    ("p50", "delay_p50", "{:.0f}"),
    ("p95", "delay_p95", "{:.0f}"),
    ("p99", "delay_p99", "{:.0f}"),
    ("retrievals", "retrievals", "{}"),
    ("new each", "new_per_retrieval", "{:.3f}"),
    ("lost", "lost", "{}"),
)


class Command(BaseCommand):
    """A command that prints a table or one JSON object. Needs no database."""

    help = "Replay posting times with scheduling policies and compare how fresh each keeps the feeds."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("trace", type=Path, metavar="TRACE.csv.gz", help="columns feed,published")
        parser.add_argument("--policy", nargs="+", action="extend", metavar="NAME", help="default: all")
        parser.add_argument("--budget", type=_positive, default=0.15, help="retrievals per feed and hour")
        parser.add_argument("--tick", type=_positive, default=600.0, metavar="SECONDS")
        parser.add_argument("--train-days", type=_not_negative, default=28.0, help="not measured")
        parser.add_argument("--beta", type=_not_negative, help="freshness ranks by n * age^beta instead")
        parser.add_argument("--subscribers", type=Path, metavar="FILE", help="columns feed,subscribers")
        parser.add_argument("--window", type=int, default=0, help="entries a document holds (0: all)")
        parser.add_argument(
            "--prior", type=Path, metavar="FILE", help="a file of `priors`, for the beginning"
        )
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, trace: Path, **options: Any) -> None:
        names = list(dict.fromkeys(options["policy"] or POLICIES))
        try:
            posts = read_trace(trace)
            if options["window"] < 0:
                raise TraceError("--window must be 0 or a number of entries")
            if posts.days <= options["train_days"]:
                raise TraceError(f"{posts.name} is {posts.days:.1f} days long: nothing is left to measure")
            subscribers = read_subscribers(options["subscribers"], posts) if options["subscribers"] else None
            parameters = {name: options[name] for name in ("budget", "tick", "train_days", "window", "seed")}
            if options["prior"]:
                parameters["prior"] = parse_prior(read_prior(options["prior"]))
            setup = Setup(subscribers=subscribers, **parameters)
            weight = settings.FEED_AUDIENCE_WEIGHT if setup.subscribers is not None else 0.0
            comparison = compare(
                posts,
                names,
                setup,
                Options(options["beta"], weight),
                processes=os.cpu_count() or 1,
                progress=bar(),
            )
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}") from error
        except ValueError as error:  # TraceError is one
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(comparison.as_json()) if options["json"] else table(comparison))


def table(comparison: PolicyComparison) -> str:
    """Format a row for each policy, with its total pending relative to advarss and to the flat optimum."""
    base = next((r.metrics.total_pending for r in comparison.results if r.policy == "advarss"), 0.0)
    head = ["policy", "x advarss", "x flat", *(title for title, _, _ in COLUMNS)]
    lines = [head] + [
        [
            result.policy,
            _times(result.metrics.total_pending, base),
            _times(result.metrics.total_pending, comparison.flat_optimum),
            *(form.format(getattr(result.metrics, name)) for _, name, form in COLUMNS),
        ]
        for result in comparison.results
    ]
    summary = (
        f"{comparison.trace}: {comparison.feeds} feeds, {comparison.articles} articles; "
        f"flat optimum {comparison.flat_optimum:.2f}"
    )
    return f"{summary}\n{aligned(lines)}"


def _times(value: float, base: float) -> str:
    return f"{value / base:.3f}" if base else ""


def _positive(text: str) -> float:
    value = _not_negative(text)
    if value == 0:
        raise ArgumentTypeError("must be more than 0")
    return value


def _not_negative(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"{text} must be a number, 0 or more")
    return value
