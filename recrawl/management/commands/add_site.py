"""`manage.py add_site URL`: watch a site; with --now it is mapped in this process, else by the workers."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.web.validators import first_fault
from recrawl.inline import work_off
from recrawl.mapping import SiteError, add_site
from recrawl.methods.registry import DEFAULT, METHODS
from recrawl.models import SETTINGS, Site
from recrawl.site_summary import in_words


class Command(BaseCommand):
    """A command that adds one site."""

    help = "Watch a site: map it by a bounded crawl, then visit it again and again under a budget."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", metavar="URL", help="its top page; pages below its directory are watched")
        parser.add_argument("--method", choices=list(METHODS), default=DEFAULT, metavar="NAME")
        parser.add_argument("--every", type=float, default=7.0, metavar="DAYS", help="between two visits")
        parser.add_argument(
            "--budget", type=float, default=0.25, metavar="FRACTION", help="of its pages, in each visit"
        )
        parser.add_argument("--max-pages", type=int, default=1000, metavar="N")
        parser.add_argument(
            "--ignore", dest="ignore_selectors", action="append", default=[], metavar="SELECTOR",
            help="CSS selector of what does not count; may come often",
        )  # fmt: skip
        parser.add_argument(
            "--ignore-text", dest="ignore_patterns", action="append", default=[], metavar="REGEX",
            help="lines of text that do not count; may come often",
        )  # fmt: skip
        parser.add_argument("--minimum-change", type=int, default=0, metavar="CHARACTERS")
        parser.add_argument("--now", action="store_true", help="map it in this process, and wait")

    def handle(self, *args: Any, url: str, **options: Any) -> None:
        chosen = {name: options[name] for name in SETTINGS}
        try:
            Site(url=url, **chosen).clean_fields(exclude=["host", "crawl"])
            site = add_site(url, **chosen)
        except ValidationError as error:
            raise CommandError(first_fault(error)) from error
        except SiteError as error:
            raise CommandError(str(error)) from error
        if not options["now"]:
            self.stdout.write(f"site {site.pk}, {site.url}: the workers map it now")
            return
        work_off([site], tell=self.stderr.write)
        self.stdout.write(in_words(Site.objects.get(pk=site.pk)))
