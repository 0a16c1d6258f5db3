"""`manage.py visit_sites [SITE...]`: visit watched sites now, in this process, and print the results."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from recrawl.inline import work_off
from recrawl.models import Site
from recrawl.pages.site_summary import figures, in_words
from recrawl.visiting.mapping import map_again
from recrawl.visiting.visits import begin


class Command(BaseCommand):
    """A command that visits sites, due or not."""

    help = "Visit watched sites now: those named by number or URL, or all."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sites", nargs="*", metavar="SITE", help="number or URL; none: all")
        parser.add_argument("--due", action="store_true", help="only those whose visit is due")
        parser.add_argument("--workers", type=int, default=32, metavar="N", help="hosts side by side here")
        parser.add_argument("--json", action="store_true", help="print one JSON list")

    def handle(self, *args: Any, sites: list[str], **options: Any) -> None:
        if not 1 <= options["workers"] <= 1000:
            raise CommandError("--workers must be from 1 to 1000")
        now = datetime.now(UTC)
        chosen = [_named(name) for name in sites] if sites else list(Site.objects.all())
        if options["due"]:
            due = {site.pk for sites in (Site.objects.due(now), Site.objects.failed(now)) for site in sites}
            chosen = [site for site in chosen if site.pk in due]
        for site in chosen:
            if site.state == Site.State.FAILED:
                map_again(site)
        mapping = [site for site in chosen if site.state == Site.State.MAPPING]
        work_off(mapping, options["workers"], self.stderr.write)
        begin([site.pk for site in chosen], now)
        work_off(chosen, options["workers"], self.stderr.write)
        again = [Site.objects.get(pk=site.pk) for site in chosen]
        if options["json"]:
            self.stdout.write(json.dumps([figures(site) for site in again]))
        else:
            self.stdout.write("\n".join(map(in_words, again)))


def _named(name: str) -> Site:
    rows = Site.objects.filter(pk=int(name)) if name.isdecimal() else Site.objects.filter(url=name)
    site = rows.first()
    if site is None:
        raise CommandError(f"no site is called {name!r}")
    return site
