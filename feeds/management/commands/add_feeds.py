"""`manage.py add_feeds URL... | --opml FILE`: addition of feeds with a report for each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from crawler.engine.pulses import worker_alive
from crawler.failures import Failure
from crawler.reading.lines import SelectorFault
from crawler.reading.sources.kinds import DATA, FEED, PAGE, SITEMAP
from crawler.web.limits import LimitReached
from feeds.adding.add import Added, known_feeds
from feeds.adding.opml import OpmlError, Outline, feeds_in, import_outlines
from feeds.categories import category_at, path_of
from feeds.models import Feed
from feeds.rules import PARTS, checked_rules
from feeds.signals import added, wanted

FEW = 10  # addresses for which somebody waits at the keyboard
POLL_SECONDS = 0.25


class Command(BaseCommand):
    """A command that prints a line for every address and a summary, and exits with 1 when any was refused."""

    help = "Add feeds (or sites, whose feeds are found) by address or from an OPML file."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", nargs="*", help="address of a feed or of a site")
        parser.add_argument(
            "--kind", choices=[FEED, SITEMAP, PAGE, DATA], default=FEED, help="what stands at the address"
        )
        parser.add_argument(
            "--rule",
            action="append",
            default=[],
            metavar="PART=EXPRESSION",
            help=f"which parts of a page or of JSON are its articles: {', '.join(PARTS)}",
        )
        parser.add_argument("--opml", type=Path, metavar="FILE", help="add all feeds of an OPML file")
        parser.add_argument("--category", metavar="NAME", default="", help='folder, such as "News/Tech"')
        parser.add_argument(
            "--follow", metavar="NAME", default="", help="let the person with this name follow the feeds"
        )
        parser.add_argument(
            "--wait",
            type=float,
            metavar="SECONDS",
            help=f"how long to wait for the first visits (default 20 for up to {FEW} addresses, else 0)",
        )

    def handle(
        self,
        *args: Any,
        url: Sequence[str],
        opml: Path | None,
        category: str,
        follow: str,
        wait: float | None,
        kind: str,
        rule: Sequence[str],
        **options: Any,
    ) -> None:
        if bool(url) == bool(opml):
            raise CommandError("give either addresses or --opml FILE")
        user = person_named(follow) if follow else None
        rules = _rules(kind, rule)
        outlines = self._read(opml) if opml else [Outline(each, kind=kind, rules=rules) for each in url]
        outcomes = self._add(outlines, path_of(category), user)
        for outcome in outcomes:
            if outcome.outcome == "refused":
                self.stderr.write(f"refused {outcome.message}")
            else:
                self.stdout.write(outcome.message)
        added_feeds = [outcome.feed for outcome in outcomes if outcome.outcome == "added" and outcome.feed]
        self._wait(added_feeds, wait if wait is not None else (20.0 if url and len(url) <= FEW else 0.0))
        count = {kind: sum(o.outcome == kind for o in outcomes) for kind in ("added", "duplicate", "refused")}
        self.stdout.write(
            f"{count['added']} added, {count['duplicate']} already known, {count['refused']} refused"
        )
        if count["refused"]:
            raise SystemExit(1)

    def _read(self, file: Path) -> list[Outline]:
        try:
            with file.open("rb") as opened:
                return list(feeds_in(opened))
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}") from error
        except OpmlError as error:
            raise CommandError(f"{file}: {error}; nothing was added") from error

    @transaction.atomic
    def _add(self, outlines: Sequence[Outline], base: tuple[str, ...], user: User | None) -> list[Added]:
        """Add the feeds of outlines below a folder, and let the person follow them where one is named."""
        try:
            if user is not None:
                wanted.send(Feed, user=user, addresses=[outline.url for outline in outlines])
            outcomes = import_outlines(outlines, category=category_at(base)).outcomes
            if user is not None:
                follow_outcomes(user, outlines, outcomes, base)
        except LimitReached as error:
            raise CommandError(f"{error} Nothing was added.") from error
        return outcomes

    def _wait(self, feeds: Sequence[Feed], seconds: float) -> None:
        """Print the results of first visits as they end. Returns at once when no worker is alive."""
        if not feeds or seconds <= 0:
            return
        if not worker_alive("fetch", datetime.now(UTC)):
            self.stdout.write("no worker runs now; the first visits come when one does")
            return
        waiting = {feed.canonical_url for feed in feeds}
        end = time.monotonic() + seconds
        while waiting and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            # By address, because a site's feed may turn out to be one that is known already.
            for address, feed in known_feeds(waiting).items():
                if line := first_visit(feed):
                    waiting.discard(address)
                    self.stdout.write(line)
        for address in sorted(waiting):
            self.stdout.write(f"{address}: not visited yet")


def _rules(kind: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the rules of a command line. Raises CommandError."""
    raw_rules = dict(text.partition("=")[::2] for text in texts)
    try:
        return checked_rules(kind, raw_rules)
    except SelectorFault as fault:
        raise CommandError(f"--rule: {fault}") from fault


def person_named(name: str) -> User:
    """Return the person with this name. Raises CommandError."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"nobody here has the name {name!r}; nothing was added")
    return user


def follow_outcomes(
    user: User, outlines: Sequence[Outline], outcomes: Sequence[Added], base: tuple[str, ...]
) -> None:
    """Let a person follow the feeds of outlines, in their folders below `base`."""
    folders: dict[Feed, str] = {}
    for outline, outcome in zip(outlines, outcomes, strict=True):
        if outcome.feed is not None:
            folders.setdefault(outcome.feed, "/".join((*base, *outline.folder)))
    keys = {feed.pk: folder for feed, folder in folders.items()}
    added.send(Feed, user=user, feeds=list(folders), folders=keys)


def first_visit(feed: Feed) -> str:
    """Describe the visits to a feed so far. Returns "" when there was none."""
    if feed.last_success is not None:
        retrieval = feed.retrievals.filter(new__gt=0).order_by("at").first()
        count = retrieval.new if retrieval else 0
        return f"{feed.url}: {count} article{'' if count == 1 else 's'} from {feed.title!r} ({feed.format})"
    if feed.failure and feed.selected_at is None:
        detail = f" ({feed.failure_detail})" if feed.failure_detail else ""
        return (
            f"{feed.url}: {Failure.of(feed.failure).explanation}{detail} "
            f"The next try is at {feed.not_before:%Y-%m-%d %H:%M} UTC."
        )
    return ""
