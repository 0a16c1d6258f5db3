"""`manage.py check_beginnings`: whether the feeds that newcomers are offered still answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from crawler.fetching.sandboxed import client
from feeds.adding.beginnings import BEGINNINGS, LANGUAGES
from feeds.adding.discovery import MAX_ADDRESSES, FoundFeed, look_at

SILENT = timedelta(days=60)
"""A feed whose newest article is older is said to be silent."""


class Command(BaseCommand):
    """A command that asks each feed of beginnings.toml, and exits with 1 when one is none any more."""

    help = "Look whether the feeds that newcomers are offered still answer, and when they last posted."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--language", choices=LANGUAGES, help="only those of this language")

    def handle(self, *args: Any, language: str | None, **options: Any) -> None:
        rows = [each for each in BEGINNINGS if language in (None, each.language)]
        broken = 0
        try:
            for first in range(0, len(rows), MAX_ADDRESSES):
                part = rows[first : first + MAX_ADDRESSES]
                for row, look in zip(part, look_at([each.url for each in part]), strict=True):
                    feed = next((candidate for candidate in look.feeds if candidate.read.size), None)
                    broken += feed is None
                    self.stdout.write(f"{row.language}  {row.title}: {self._said(look.problem, feed)}")
        finally:
            client.programs.close()
        self.stdout.write(f"{len(rows) - broken} of {len(rows)} answer.")
        if broken:
            raise SystemExit(1)

    def _said(self, problem: str, feed: FoundFeed | None) -> str:
        if feed is None:
            return f"no feed any more ({problem or 'nothing is in it'})"
        if feed.posted and max(feed.posted) < datetime.now(UTC) - SILENT:
            return f"silent since {max(feed.posted):%Y-%m-%d}"
        return "answers"
