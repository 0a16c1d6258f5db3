"""`manage.py priors`: learn what is expected of new feeds, from traces or from one's own, and exchange it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from feeds.models import PostingHistory, PostingPopulation
from feeds.replay.trace import TraceError, read_trace
from feeds.visiting.posting import NOTHING_POSTED
from feeds.visiting.priors import SHIPPED, PriorError, as_json, learn_prior, read_prior


class Command(BaseCommand):
    """A command that prints a prior as JSON, or takes one into use."""

    requires_system_checks = ()
    help = (
        "What is expected of a feed before it was watched: at which hours of the week it posts, and how "
        "often. Without options, print the file in use. Its hours weigh as much as the first thousand "
        "articles of one's own feeds."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        group.add_argument(
            "--learn",
            nargs="+",
            type=Path,
            metavar="TRACE.csv.gz",
            help="print what these teach (no database needed)",
        )
        group.add_argument(
            "--own", action="store_true", help="print what one's own feeds teach, for others to use"
        )
        group.add_argument(
            "--use", metavar="FILE", help="use this file from now on; `shipped`: Freshet's own"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one JSON object, or say what is used from now on."""
        try:
            if options["use"]:
                self.stdout.write(_use(options["use"]))
                return
            if options["learn"]:
                content = learn_prior(read_trace(path) for path in options["learn"])
            else:
                content = _own() if options["own"] else _in_use()
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}") from error
        except (PriorError, TraceError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(content))


def _use(name: str) -> str:
    """Store a prior for this deployment, and return what to say of it."""
    content: dict[str, Any] = {}
    if name != "shipped":
        content = read_prior(Path(name))
    PostingPopulation.objects.update_or_create(
        id=1,
        defaults={"prior": content},
        create_defaults={"prior": content, **NOTHING_POSTED, "updated": datetime.now(UTC)},
    )
    return "New feeds are expected to post as this file says." if content else "Freshet's own prior is used."


def _own() -> dict[str, Any]:
    """Return what the deployment's own feeds teach."""
    row = PostingPopulation.objects.filter(id=1).first()
    if row is None:
        raise PriorError("nothing was posted yet")
    counts, exposure = np.frombuffer(row.week_counts, "<f8"), np.frombuffer(row.week_exposure, "<f8")
    return as_json(counts, exposure, PostingHistory.objects.count())


def _in_use() -> dict[str, Any]:
    row = PostingPopulation.objects.filter(id=1).first()
    chosen: dict[str, Any] = row.prior if row is not None else {}
    return chosen or json.loads(SHIPPED.read_text())
