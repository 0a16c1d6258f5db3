"""`manage.py tick [--now] [--json]`: run one tick of the controller and wait for its harvests."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from json import dumps
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count, Q, Sum

from crawler.engine import pulses
from crawler.engine.tasks import dispatch
from crawler.engine.ticking import tick_seconds
from crawler.inline import work_off
from feeds.models import Feed, Retrieval, Tick
from feeds.visiting import planning
from feeds.visiting.ticks import tick


class Command(BaseCommand):
    """A command that runs a tick now, served by live workers if there are any, else by this process."""

    help = "Run one tick of the controller and wait for its harvests."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--now",
            action="store_true",
            help="select every feed whose floors allow it, whatever its schedule says",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--wait", type=float, default=300, metavar="SECONDS", help="at most (default 300)"
        )

    def handle(self, *args: Any, now: bool, json: bool, wait: float, **options: Any) -> None:
        started = datetime.now(UTC)
        workers = pulses.alive(started, timedelta(seconds=3 * tick_seconds()))
        if not workers and planning.claim(started):
            planning.plan(started)
        finished = tick(started, everything=now)
        if finished is None:
            raise CommandError("another controller is in the middle of a tick; try again")
        if workers:
            dispatch()
        _wait(wait, by_workers=workers)
        result = _result(finished)
        self.stdout.write(dumps(result) if json else _in_words(finished, result, workers))


def _wait(seconds: float, *, by_workers: bool) -> None:
    """Wait until every selected feed has come back. Some wait a moment for their minimum interval to pass."""
    until = time.monotonic() + seconds
    while Feed.objects.active().filter(selected_at__isnull=False).exists() and time.monotonic() < until:
        if not by_workers:
            work_off()
        time.sleep(0.2)


def _result(finished: Tick) -> dict[str, Any]:
    counts = Retrieval.objects.filter(at__gte=finished.started).aggregate(
        retrieved=Count("id"),
        not_modified=Count("id", filter=Q(outcome=Retrieval.Outcome.NOT_MODIFIED)),
        failed=Count("id", filter=Q(outcome=Retrieval.Outcome.FAILED)),
        new_articles=Sum("new", default=0),
    )
    waiting = Feed.objects.filter(selected_at__isnull=False).count()
    return {
        "started": finished.started.isoformat(),
        "policy": finished.policy,
        "training": finished.training,
        "ranked": finished.ranked,
        "swept": finished.swept,
        **counts,
        "waiting": waiting,
    }


def _in_words(finished: Tick, got: dict[str, Any], workers: bool) -> str:
    served = "by the workers" if workers else "in this process, as no worker answers"
    return (
        f"Selected {got['training']} training feeds and {got['ranked']} of {finished.candidates} ranked ones "
        f"({finished.policy}); {got['retrieved']} retrieved {served}: {got['new_articles']} new articles, "
        f"{got['not_modified']} not modified, {got['failed']} failed; {got['waiting']} still waiting."
    )
