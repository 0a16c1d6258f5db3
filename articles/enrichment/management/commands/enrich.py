"""`manage.py enrich`: enrichment of the waiting articles in this process."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand

from articles.enrichment.enrich import enrich, renew
from articles.enrichment.figures import figures
from articles.enrichment.models import Enrichment
from crawler.telemetry.progress import bar


class Command(BaseCommand):
    """A command that makes keywords, category, summary and story of every waiting article."""

    help = (
        "Enrich the articles that wait: keywords, category, summary, story. Workers do the same on the queue "
        "`enrich`; both may run at once."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--again", action="store_true", help="first let all that older versions made wait again"
        )
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["again"]:
            while renew():
                pass
        started, enriched = time.monotonic(), 0
        draw = bar()
        waiting = Enrichment.objects.waiting().count()
        while batch_size := enrich(datetime.now(UTC)):
            enriched += batch_size
            if draw is not None:
                draw(min(1.0, enriched / max(waiting, 1)))
        seconds = time.monotonic() - started
        totals = figures()
        if options["json"]:
            self.stdout.write(json.dumps({"enriched": enriched, "seconds": round(seconds, 2), **totals}))
            return
        rate = f", {enriched / seconds:.0f} a second" if enriched else ""
        self.stdout.write(f"{enriched} articles enriched in {seconds:.1f} s{rate}")
        self.stdout.write(
            f"{totals['done']} done, {totals['waiting']} waiting, {totals['failed']} failed; "
            f"{totals['stories']} stories of {totals['in_stories']} articles; "
            f"{totals['categorised']} with a category, {totals['learned']} of them learned"
        )
