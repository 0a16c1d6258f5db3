"""`manage.py pipeline URL... | --crawl ID`: run documents through all phases, and report on each phase."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler.frontier.crawls import CrawlError, begin
from crawler.frontier.models import Crawl
from crawler.pipeline.documents import take_crawl
from crawler.pipeline.inline import run_crawl, work_off
from crawler.pipeline.models import Document
from crawler.pipeline.report import PhaseReport, phase_report, phases, summary
from crawler.telemetry.progress import write_line


class Command(BaseCommand):
    """A command that fetches, detects, transforms, indexes and extracts, in this process."""

    help = "Take these addresses, or what a crawl has fetched, through all phases into the graph."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("urls", nargs="*", metavar="URL")
        parser.add_argument("--crawl", type=int, metavar="ID", help="what this crawl has fetched")
        parser.add_argument("--workers", type=int, default=32, metavar="N", help="hosts side by side")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["urls"]) == (options["crawl"] is not None):
            raise CommandError("name addresses, or a --crawl")
        if not 1 <= options["workers"] <= 1000:
            raise CommandError("--workers must be from 1 to 1000")
        before = {phase.phase: phase for phase in phases()}
        if options["urls"]:
            crawl = self._fetched(options["urls"], options["workers"])
        else:
            crawl = self._known(options["crawl"])
            take_crawl(crawl)
        documents = Document.objects.filter(crawl=crawl)
        work_off(documents, lambda count: write_line(f"{count} steps"))
        failed = crawl.urls.filter(state="failed").count()
        fetched = phase_report("fetch", documents.count() + failed, failed, crawl.running_for)
        reports = [fetched, *(_since(before[phase.phase], phase) for phase in phases()[1:])]
        figures = {"crawl": crawl.pk} | summary(documents, reports)
        self.stdout.write(json.dumps(figures) if options["json"] else in_words(figures, reports))

    def _known(self, number: int) -> Crawl:
        crawl = Crawl.objects.filter(pk=number).first()
        if crawl is None:
            raise CommandError(f"there is no crawl {number}")
        if not crawl.keep_bodies:
            raise CommandError(f"crawl {number} has kept no content")
        return crawl

    def _fetched(self, urls: list[str], workers: int) -> Crawl:
        """Fetch the addresses by a new crawl that follows nothing but redirects. Returns the crawl."""
        try:
            crawl = begin(Crawl(seeds=urls, max_depth=0, into_graph=True))
        except CrawlError as error:
            raise CommandError(str(error)) from error
        run_crawl(crawl, workers, lambda: None)
        for url, failure, detail in crawl.urls.filter(state="failed").values_list("url", "failure", "detail"):
            self.stderr.write(f"{url}: {failure} {detail}".rstrip())
        return Crawl.objects.get(pk=crawl.pk)


def _since(before: PhaseReport, after: PhaseReport) -> PhaseReport:
    return phase_report(
        after.phase,
        after.documents - before.documents,
        after.failures - before.failures,
        after.seconds - before.seconds,
        after.waiting,
    )


def in_words(figures: dict[str, Any], reports: list[PhaseReport]) -> str:
    """Return the figures as a table."""
    lines = ["phase      documents  failures  pages/s  the paper"]
    for phase in reports:
        pace = f"{phase.pages_per_second:8.0f}" if phase.pages_per_second is not None else "       -"
        paper = f"{phase.paper_pages_per_second:9.0f}"
        lines.append(f"{phase.phase:10} {phase.documents:9}  {phase.failures:8} {pace}  {paper}")
    types = ", ".join(f"{name or 'unknown'} {count}" for name, count in figures["types"].items()) or "none"
    progress = f"{figures['done']} of {figures['documents']} through, {figures['quads']} quads"
    lines.append(f"{progress}; types: {types}")
    lines += [
        f"dead in {phase['phase']}: {phase['cause']} {phase['documents']}" for phase in figures["failures"]
    ]
    return "\n".join(lines)
