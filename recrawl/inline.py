"""Mapping and visiting sites to the end in this process, for the command line and for tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from django.db.models import Q, QuerySet

from crawler.engine.leases import sweep
from crawler.frontier import crawls
from crawler.inline import IDLE_SECONDS, TEND_SECONDS, Rounds
from recrawl.models import Site
from recrawl.pages.site_summary import waits
from recrawl.visiting import visits


def work_off(sites: Sequence[Site], workers: int = 32, tell: Callable[[str], None] | None = None) -> None:
    """Work until none of these sites is being mapped or visited. Other workers take their share.

    `tell` is called with each line about a failure that will be retried, once per line.
    """
    site_rows = Site.objects.filter(pk__in=[site.pk for site in sites])
    tended, idle = 0.0, False
    shown_lines: set[str] = set()
    with Rounds(workers) as rounds:
        while True:
            now = datetime.now(UTC)
            if time.monotonic() - tended >= TEND_SECONDS:
                sweep(now)
                crawls.tend(now)
                if tell is not None:
                    _report_retries(site_rows, shown_lines, tell)
                tended = time.monotonic()
            step_count = rounds.step(IDLE_SECONDS)
            for site in site_rows.defer("memory"):
                visits.tend(now, site)
            if step_count or rounds.busy:
                idle = False
                continue
            visited = Q(state=Site.State.WATCHED, visits__finished__isnull=True, visits__number__gt=0)
            if not site_rows.filter(Q(state=Site.State.MAPPING) | visited).exists():
                return
            crawls.tend(now)
            if idle:  # what was just tended may have brought something
                time.sleep(IDLE_SECONDS)
            idle = True


def _report_retries(sites: QuerySet[Site], shown_lines: set[str], tell: Callable[[str], None]) -> None:
    for site in sites.defer("memory"):
        line = waits(site)
        if line and line not in shown_lines:
            shown_lines.add(line)
            tell(line)
