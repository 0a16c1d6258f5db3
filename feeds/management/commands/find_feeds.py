"""`manage.py find_feeds URL...`: the feeds behind addresses, before any is added."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from crawler.fetching.sandboxed import client
from crawler.reading.sources.kinds import PAGE
from feeds.adding.discovery import MAX_ADDRESSES, WantedSources, look_at


class Command(BaseCommand):
    """A command that prints the feeds of each address, and exits with 1 when one has none."""

    help = "Show the feeds behind the addresses of sites or feeds, and how often they post. Adds nothing."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", nargs="+", help=f"address of a site or a feed; at most {MAX_ADDRESSES}")
        parser.add_argument(
            "--kind", choices=[PAGE], default="", help="page: the lists of articles in the page itself"
        )

    def handle(self, *args: Any, url: Sequence[str], kind: str, **options: Any) -> None:
        now = datetime.now(UTC)
        try:
            looks = [
                look
                for first in range(0, len(url), MAX_ADDRESSES)
                for look in look_at(url[first:], WantedSources(kind))
            ]
        finally:
            client.programs.close()
        for look in looks:
            self.stdout.write(f"{look.address}: {look.problem or look.page or 'a feed'}")
            for feed in look.feeds:
                remark = f" Same articles as {feed.same_as}." if feed.same_as else ""
                self.stdout.write(
                    f"  {feed.url}: {feed.title} ({feed.read.format}). {feed.posts(now)}.{remark}"
                )
                for part, rule in feed.rules.items():
                    self.stdout.write(f"    --kind {feed.kind} --rule {shlex.quote(f'{part}={rule}')}")
                if feed.kind == PAGE:
                    self.stdout.writelines(f"      {title}" for title, _, _ in feed.newest)
        if any(not look.feeds for look in looks):
            raise SystemExit(1)
