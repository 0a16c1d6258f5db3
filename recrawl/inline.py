"""Sites worked on in this process: mapped and visited to the end. For the command line and for tests."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from django.db.models import QuerySet

from crawler.controller.leases import sweep
from crawler.frontier import crawls
from crawler.inline import IDLE_SECONDS, TEND_SECONDS, Rounds
from recrawl import visits
from recrawl.models import Site

State = Site.State


def work_off(sites: Sequence[Site], workers: int = 32) -> None:
    """Go on until none of these sites is being mapped or visited; workers elsewhere take their share."""
    mine = Site.objects.filter(pk__in=[site.pk for site in sites])
    tended = 0.0
    with Rounds(workers) as rounds:
        while True:
            now = datetime.now(UTC)
            if time.monotonic() - tended >= TEND_SECONDS:
                sweep(now)
                crawls.tend(now)
                tended = time.monotonic()
            done = rounds.step(IDLE_SECONDS)
            for site in mine.defer("memory"):
                visits.tend(now, site)
            if not done and not rounds.busy and not _open(mine):
                return
            if not done and not rounds.busy:
                crawls.tend(now)
                time.sleep(IDLE_SECONDS)


def _open(sites: QuerySet[Site]) -> bool:
    mapping = sites.filter(state=State.MAPPING)
    visited = sites.filter(state=State.WATCHED, visits__finished__isnull=True, visits__number__gt=0)
    return mapping.exists() or visited.exists()
