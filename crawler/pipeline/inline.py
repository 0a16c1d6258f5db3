"""All phases in this process, one batch after the other: for the command line, tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from django.db.models import QuerySet

from crawler.pipeline.documents import WAITING_FOR, lease, settle, sweep, work
from crawler.pipeline.extract import extract
from crawler.pipeline.index import index
from crawler.pipeline.models import Document
from crawler.pipeline.phases import run
from crawler.pipeline.plugins import call

WORKER = "here"


def step(documents: QuerySet[Document] | None = None) -> int:
    """One batch of every phase that has any; how many documents went a phase further."""
    return sum(step_of(phase, documents) for phase in WAITING_FOR)


def step_of(phase: str, documents: QuerySet[Document] | None = None) -> int:
    """One batch of a phase."""
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
    """Until nothing waits; how many steps of documents."""
    sweep(datetime.now(UTC))
    total = 0
    while done := step(documents):
        total += done
        if progress is not None:
            progress(total)
    return total
