"""`manage.py crawl SEED...`: run a priority-queue crawl to its end, with live progress and a report."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from crawler.frontier.crawls import CrawlError, begin, pause, resume, tried
from crawler.frontier.models import Crawl
from crawler.frontier.report import CrawlReport, report
from crawler.frontier.scope import ScopeError
from crawler.frontier.score import INTER_WEIGHT, INTRA_WEIGHT
from crawler.frontier.strategies import DEFAULT, STRATEGIES
from crawler.pipeline.inline import run_crawl
from crawler.telemetry.progress import end_line, write_line
from crawler.web.validators import first_fault


class Command(BaseCommand):
    """A command that crawls in this process; workers on the same database take their share."""

    help = "Crawl from these seeds until nothing is left, or a limit is reached."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("seeds", nargs="*", metavar="SEED")
        parser.add_argument("--resume", type=int, metavar="CRAWL", help="go on with a stopped crawl")
        parser.add_argument("--strategy", choices=list(STRATEGIES), default=DEFAULT)
        parser.add_argument("--inter-weight", type=float, default=INTER_WEIGHT, help="of link-score")
        parser.add_argument("--intra-weight", type=float, default=INTRA_WEIGHT, help="of link-score")
        parser.add_argument("--max-pages", type=int, metavar="N")
        parser.add_argument("--max-wait", type=float, default=30.0, metavar="MINUTES", help="in the queue")
        parser.add_argument("--max-minutes", type=float, metavar="MINUTES", help="of the whole crawl")
        parser.add_argument("--max-bytes", type=int, metavar="BYTES")
        parser.add_argument("--max-depth", type=int, metavar="LINKS")
        parser.add_argument("--max-hosts", type=int, metavar="N")
        parser.add_argument("--scope", action="append", default=[], metavar="REGEX", help="may come often")
        parser.add_argument(
            "--anywhere",
            action="store_true",
            help="follow links to hosts that are not those of the seeds",
        )
        parser.add_argument("--sitemaps", action="store_true", help="also what sitemaps name")
        parser.add_argument("--no-bodies", action="store_true", help="keep no content")
        parser.add_argument("--graph", action="store_true", help="feeds and data too, all into the graph")
        parser.add_argument(
            "--query", metavar="SPARQL", help="follow what it names as ?address in the graph (with --graph)"
        )
        parser.add_argument(
            "--try", action="store_true", dest="is_trial", help="only print what --query names"
        )
        parser.add_argument("--workers", type=int, default=32, metavar="N", help="hosts side by side here")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["is_trial"]:
            self._try(options["query"] or "")
            return
        if not 1 <= options["workers"] <= 1000:
            raise CommandError("--workers must be from 1 to 1000")
        if bool(options["seeds"]) == (options["resume"] is not None):
            raise CommandError("name seeds, or a crawl to --resume")
        crawl = self._begin(options) if options["seeds"] else self._resumed(options["resume"])
        began = time.monotonic()
        try:
            run_crawl(crawl, options["workers"], lambda: show_progress(crawl, began))
        except KeyboardInterrupt:
            pause(Crawl.objects.filter(pk=crawl.pk))
            end_line()
            self.stderr.write(f"stopped; go on with: {settings.PROGRAM} crawl --resume {crawl.pk}")
        else:
            end_line()
        crawl_report = report(Crawl.objects.get(pk=crawl.pk))
        self.stdout.write(json.dumps(crawl_report.as_json()) if options["json"] else in_words(crawl_report))

    def _begin(self, options: dict[str, Any]) -> Crawl:
        names = ("seeds", "strategy", "max_pages", "max_wait", "max_minutes", "max_bytes", "max_depth",
                 "max_hosts", "scope", "anywhere", "sitemaps", "inter_weight", "intra_weight")  # fmt: skip
        crawl = Crawl(
            keep_bodies=not options["no_bodies"],
            into_graph=options["graph"],
            link_query=options["query"] or "",
            **{name: options[name] for name in names},
        )
        try:
            crawl.clean_fields()
            return begin(crawl)
        except ValidationError as error:
            raise CommandError(first_fault(error)) from error
        except (CrawlError, ScopeError) as error:
            raise CommandError(str(error)) from error

    def _try(self, query: str) -> None:
        """Print the addresses that a query names over what is stored. Raises CommandError."""
        addresses, why = tried(query)
        if why:
            raise CommandError(why)
        for address, weight in addresses.items():
            self.stdout.write(f"{weight:.2f}  {address}")

    def _resumed(self, number: int) -> Crawl:
        """Return the crawl, resumed unless it runs already. Raises CommandError when it cannot go on."""
        crawl = Crawl.objects.filter(pk=number).first()
        if crawl is None:
            raise CommandError(f"there is no crawl {number}")
        if not resume(crawl) and crawl.state != Crawl.State.RUNNING:
            raise CommandError(f"crawl {number} is {crawl.get_state_display()}: it cannot go on")
        return crawl


def show_progress(crawl: Crawl, began: float) -> None:
    """Write the crawl's current counters to stderr if it is a terminal."""
    if sys.stderr.isatty():
        now, waiting = Crawl.objects.get(pk=crawl.pk), crawl.waiting.count()
        pace = now.crawled / max(time.monotonic() - began, 0.1)
        write_line(
            f"{now.crawled} crawled, {waiting} waiting, {now.dropped} dropped, "
            f"{now.duplicates} duplicates, {pace:.1f} pages/s"
        )


def in_words(summary: CrawlReport) -> str:
    """Return the report as lines of text."""
    rows = summary.tables["I"].items()
    causes = ", ".join(f"{name} {row.count} ({row.share:.1%})" for name, row in rows) or "none"
    http = summary.tables["II"]["HTTP"].share if "HTTP" in summary.tables["II"] else 0.0
    domains = ", ".join(f"{name} {share:.1%}" for name, share in list(summary.top_level_domains.items())[:8])
    refused = ", ".join(f"{name} {count}" for name, count in sorted(summary.refused.items())) or "none"
    return "\n".join(
        [
            f"Crawl {summary.crawl}, {summary.state}: {summary.reason}",
            f"crawled {summary.crawled} of {summary.crawled + sum(summary.uncrawled.values())} "
            f"({summary.crawled_share:.2%}; the paper: {summary.paper_crawled_share:.2%}), "
            f"{summary.pages_per_second:.1f} pages/s",
            f"not crawled by cause: {causes}",
            f"of these, errors of HTTP: {http:.1%}",
            f"dropped {summary.dropped}, duplicates {summary.duplicates}, waiting {summary.queue}, "
            f"moved {summary.moved}",
            f"refused by budget: {refused}",
            f"{summary.hosts} hosts; top-level domains: {domains}",
            f"links: {summary.inter_share:.1%} to other domains, {summary.intra_share:.1%} to their own",
        ]
    )
