"""Crawls and all phases in this process: for the command line, tests and benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from django.db.models import QuerySet

from crawler.engine.leases import sweep as sweep_leases
from crawler.frontier.crawls import tend
from crawler.frontier.models import Crawl
from crawler.inline import IDLE_SECONDS, TEND_SECONDS, Rounds
from crawler.pipeline.documents import WAITING_FOR, lease, settle, sweep, work
from crawler.pipeline.extract import extract
from crawler.pipeline.index import index
from crawler.pipeline.leading import lead
from crawler.pipeline.models import Document
from crawler.pipeline.phases import run
from crawler.pipeline.plugins import call
from crawler.pipeline.sparql.replica import Replica

WORKER = "here"


def step(documents: QuerySet[Document] | None = None) -> int:
    """Run one batch of every phase that has any. Returns the number of documents that advanced."""
    return sum(step_of(phase, documents) for phase in WAITING_FOR)


def step_of(phase: str, documents: QuerySet[Document] | None = None) -> int:
    """Run one batch of a phase. Returns the number of documents that advanced."""
    rows = lease(phase, datetime.now(UTC), documents)
    if not rows:
        return 0
    in_database = {"index": index, "extract": extract}
    if phase in in_database and rows[0].lease:
        in_database[phase](rows[0].lease, WORKER)
    else:
        for batch in work(phase, rows):
            settle(run(batch, WORKER, call))
    return len(rows)


def work_off(
    documents: QuerySet[Document] | None = None, progress: Callable[[int], None] | None = None
) -> int:
    """Run steps until nothing waits. Returns the number of phase steps that documents took."""
    sweep(datetime.now(UTC))
    total = 0
    while count := step(documents):
        total += count
        if progress is not None:
            progress(total)
    return total


def _led(crawl: int) -> int:
    """Ask the crawl's query, over a replica of this process if no other writes one."""
    with suppress(OSError):  # another process writes the replica
        replica = Replica()
        replica.follow()
        del replica
    return lead(crawl)


def run_crawl(crawl: Crawl, workers: int, show: Callable[[], None]) -> None:
    """Crawl to the end in this process, `workers` hosts in parallel, and fill the graph on the way.

    `show` is called every two seconds. Workers that run elsewhere on the same database take their share.
    """
    documents = Document.objects.filter(crawl=crawl)
    tended = 0.0
    with Rounds(workers) as rounds:
        while True:
            if time.monotonic() - tended >= TEND_SECONDS:
                now = datetime.now(UTC)
                sweep_leases(now)
                if crawl.pk not in tend(now):
                    return
                tended = time.monotonic()
                show()
            count = rounds.step(IDLE_SECONDS)
            if crawl.into_graph:
                count += step(documents)
                if crawl.link_query:
                    count += _led(crawl.pk)
            if not count and not rounds.busy:
                if not crawl.urls.filter(state="queued").exists():
                    tended = 0.0  # the end is near
                time.sleep(IDLE_SECONDS)
