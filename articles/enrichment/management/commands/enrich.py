"""`manage.py enrich`: make what waits now, in this process."""

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
from crawler.progress import bar


class Command(BaseCommand):
    """Keywords, category, summary and story of every article that waits for them."""

    help = (
        "Enrich the articles that wait: keywords, category, summary, story. Workers do the same on the queue "
        "`enrich`; both may run at once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--again", action="store_true", help="first let all that older versions made wait again"
        )
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["again"]:
            while renew():
                pass
        started, done = time.monotonic(), 0
        draw = bar()
        waiting = Enrichment.objects.waiting().count()
        while taken := enrich(datetime.now(UTC)):
            done += taken
            if draw is not None:
                draw(min(1.0, done / max(waiting, 1)))
        took = time.monotonic() - started
        found = figures()
        if options["json"]:
            self.stdout.write(json.dumps({"enriched": done, "seconds": round(took, 2), **found}))
            return
        rate = f", {done / took:.0f} a second" if done else ""
        self.stdout.write(f"{done} articles enriched in {took:.1f} s{rate}")
        self.stdout.write(
            f"{found['done']} done, {found['waiting']} waiting, {found['failed']} failed; "
            f"{found['stories']} stories of {found['in_stories']} articles; "
            f"{found['categorised']} with a category, {found['learned']} of them learned"
        )
