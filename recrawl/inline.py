"""Sites worked on in this process: mapped and visited to the end. For the command line and for tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from django.db.models import Q, QuerySet

from crawler.engine.leases import sweep
from crawler.frontier import crawls
from crawler.inline import IDLE_SECONDS, TEND_SECONDS, Rounds
from recrawl import visits
from recrawl.models import Site
from recrawl.site_summary import waits


def work_off(sites: Sequence[Site], workers: int = 32, tell: Callable[[str], None] | None = None) -> None:
    """Go on until none of these sites is being mapped or visited; workers elsewhere take their share.

    `tell` is given a line, once each, on what has failed and is going to be tried again.
    """
    mine = Site.objects.filter(pk__in=[site.pk for site in sites])
    tended, idle = 0.0, False
    said: set[str] = set()
    with Rounds(workers) as rounds:
        while True:
            now = datetime.now(UTC)
            if time.monotonic() - tended >= TEND_SECONDS:
                sweep(now)
                crawls.tend(now)
                if tell is not None:
                    _tell_what_waits(mine, said, tell)
                tended = time.monotonic()
            done = rounds.step(IDLE_SECONDS)
            for site in mine.defer("memory"):
                visits.tend(now, site)
            if done or rounds.busy:
                idle = False
                continue
            visited = Q(state=Site.State.WATCHED, visits__finished__isnull=True, visits__number__gt=0)
            if not mine.filter(Q(state=Site.State.MAPPING) | visited).exists():
                return
            crawls.tend(now)
            if idle:  # what was just tended may have brought something
                time.sleep(IDLE_SECONDS)
            idle = True


def _tell_what_waits(sites: QuerySet[Site], said: set[str], tell: Callable[[str], None]) -> None:
    for site in sites.defer("memory"):
        line = waits(site)
        if line and line not in said:
            said.add(line)
            tell(line)
