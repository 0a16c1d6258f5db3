"""The report of the pipeline: documents, failures and speed of each phase, beside the paper's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, QuerySet, Sum

from crawler.frontier.models import Crawl, CrawlUrl
from crawler.pipeline.documents import queues
from crawler.pipeline.messages import PHASES
from crawler.pipeline.models import Document, PhaseFigure

PAPER = {"fetch": 38.0, "detect": 460.0, "transform": 5.0, "index": 92.0, "extract": 260.0}
"""Pages per second of one node (table 2 of the paper)."""


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """A phase: documents done, those that failed, seconds of work, and pages per second of work.

    Fetching is done by many at once: its seconds are those of all requests, one after the other.
    """

    phase: str
    documents: int
    failures: int
    seconds: float
    pages_per_second: float | None
    paper_pages_per_second: float
    waiting: int = 0


def phases() -> list[PhaseReport]:
    """Return the figures of each phase over all workers."""
    sums: dict[str, Any] = {
        row["phase"]: row
        for row in PhaseFigure.objects.values("phase").annotate(
            documents=Sum("documents"), failures=Sum("failures"), seconds=Sum("seconds")
        )
    }
    to_fetch = CrawlUrl.objects.free().filter(state=CrawlUrl.State.QUEUED, crawl__in=Crawl.objects.running())
    waiting = queues() | {"fetch": to_fetch.count()}
    none = {"documents": 0, "failures": 0, "seconds": 0.0}
    reports = []
    for name in PHASES:
        row = sums.get(name, none)
        reports.append(
            phase_report(name, row["documents"], row["failures"], row["seconds"], waiting.get(name, 0))
        )
    return reports


def phase_report(name: str, documents: int, failures: int, seconds: float, waiting: int = 0) -> PhaseReport:
    """Build the report of a phase, with its speed."""
    pace = documents / seconds if seconds else None
    return PhaseReport(name, documents, failures, seconds, pace, PAPER[name], waiting)


def summary(documents: QuerySet[Document], reports: list[PhaseReport]) -> dict[str, Any]:
    """Summarise these documents and phases, for json.dumps."""
    plain = documents.order_by()
    dead = plain.filter(state=Document.State.DEAD)
    causes = dead.values("failed_phase", "failure").annotate(count=Count("id")).order_by("-count")
    return {
        "documents": plain.count(),
        "done": plain.filter(state=Document.State.DONE).count(),
        "dead": dead.count(),
        "phases": {
            report.phase: {k: v for k, v in asdict(report).items() if k != "phase"} for report in reports
        },
        "types": dict(plain.values_list("type").annotate(count=Count("id")).order_by("-count")),
        "failures": [
            {"phase": row["failed_phase"], "cause": row["failure"], "documents": row["count"]}
            for row in causes
        ],
        "quads": plain.aggregate(total=Sum("quads", default=0))["total"],
        "links": plain.aggregate(total=Sum("links", default=0))["total"],
    }
