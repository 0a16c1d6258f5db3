"""`manage.py add_site URL ...`: watch a site, or with --pages chosen pages.

With --now they are read in this process, else by the workers.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.web.validators import first_fault
from recrawl.importing.browser_steps import steps_of_lines
from recrawl.inline import work_off
from recrawl.methods.registry import DEFAULT, METHODS
from recrawl.models import LIST_DEFAULTS, SETTINGS, Site
from recrawl.pages.site_summary import in_words
from recrawl.visiting.mapping import SiteError, add_pages, add_site


class Command(BaseCommand):
    """A command that adds one site or list."""

    help = (
        "Watch a site: map it by a bounded crawl, then visit it again and again under a budget. "
        "With --pages, watch the given pages alone."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "urls", metavar="URL", nargs="+", help="its top page; pages below its directory are watched"
        )
        parser.add_argument("--pages", action="store_true", help="watch these pages and no others")
        parser.add_argument("--method", choices=list(METHODS), default=DEFAULT, metavar="NAME")
        parser.add_argument(
            "--every", type=float, metavar="DAYS", help="between two visits: 7, of chosen pages 1"
        )
        parser.add_argument(
            "--budget",
            type=float,
            metavar="FRACTION",
            help="of its pages, in each visit: 0.25, of chosen all",
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
        parser.add_argument(
            "--part", dest="parts", action="append", default=[], metavar="PART",
            help="css:, xpath:, jsonpath: or jq: with an expression; only these parts count; may come often",
        )  # fmt: skip
        parser.add_argument("--compare", dest="compared", choices=Site.Compared.values, default="text")
        parser.add_argument(
            "--trigger", dest="trigger_patterns", action="append", default=[], metavar="REGEX",
            help="report only if one matches a changed line; may come often",
        )  # fmt: skip
        parser.add_argument("--only", dest="direction", choices=["added", "removed"], default="any")
        parser.add_argument("--minimum-percent", type=float, default=0.0, metavar="PERCENT")
        parser.add_argument(
            "--number", dest="number_rule", choices=["above", "below", "percent"], default="",
            help="report only if the price or first number is above or below --than, or changed by so much",
        )  # fmt: skip
        parser.add_argument("--than", dest="number", type=float, default=0.0, metavar="NUMBER")
        parser.add_argument("--browser", action="store_true", help="open pages in a browser")
        parser.add_argument(
            "--step", dest="steps", action="append", default=[], metavar="STEP",
            help="a step in the browser, such as 'click #more' or 'wait for .prices'; may come often",
        )  # fmt: skip
        parser.add_argument("--visual-percent", type=float, default=0.0, metavar="PERCENT")
        parser.add_argument(
            "--visual-ignore", dest="visual_ignored", action="append", default=[], metavar="X,Y,WIDTH,HEIGHT"
        )
        parser.add_argument(
            "--keep-copies", action="store_true", help="keep the bytes of each version, for archives"
        )
        parser.add_argument("--now", action="store_true", help="map it in this process, and wait")

    def handle(self, *args: Any, urls: list[str], **options: Any) -> None:
        usual = {"every": 7.0, "budget": 0.25} | (LIST_DEFAULTS if options["pages"] else {})
        chosen = {name: options[name] for name in SETTINGS if options[name] is not None}
        chosen = usual | chosen
        if len(urls) > 1 and not options["pages"]:
            raise CommandError("a site has one address; several are a list, with --pages")
        try:
            chosen["steps"] = steps_of_lines(options["steps"])
        except ValueError as error:
            raise CommandError(f"--step: {error}") from error
        try:
            Site(url=urls[0], **chosen).clean_fields(exclude=["host", "crawl"])
            site = add_pages(urls, **chosen) if options["pages"] else add_site(urls[0], **chosen)
        except ValidationError as error:
            raise CommandError(first_fault(error)) from error
        except SiteError as error:
            raise CommandError(str(error)) from error
        if not options["now"]:
            self.stdout.write(f"site {site.pk}, {site.url}: the workers map it now")
            return
        work_off([site], tell=self.stderr.write)
        self.stdout.write(in_words(Site.objects.get(pk=site.pk)))
