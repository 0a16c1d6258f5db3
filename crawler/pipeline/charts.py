"""Progress of the five phases over time, as figures 2 to 6 of Harth, Umbrich and Decker (2006)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from django.db.models import Sum
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from crawler.pipeline.messages import PHASES
from crawler.pipeline.models import PhaseFigure
from crawler.web.charts import Axis, Line, line_plot

WINDOW = timedelta(hours=24)
STEP = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class PhaseProgress:
    """Documents in steps of ten minutes: when they start, and by phase a count for each of them."""

    starts: tuple[datetime, ...]
    documents: dict[str, tuple[int, ...]]


def progress(now: datetime) -> PhaseProgress:
    """Return the progress of the last 24 hours, from the first step with any work on."""
    first = _step_of(now - WINDOW) + 1
    counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    rows = PhaseFigure.objects.filter(minute__gt=now - WINDOW).values("phase", "minute")
    for row in rows.annotate(count=Sum("documents")).order_by("minute"):
        counts[row["phase"]][_step_of(row["minute"])] += row["count"]
    begin = max(first, min((step for phase in counts.values() for step in phase), default=first))
    steps = range(begin, _step_of(now) + 1)
    starts = tuple(datetime.fromtimestamp(step * STEP.total_seconds(), UTC) for step in steps)
    return PhaseProgress(starts, {name: tuple(counts[name][step] for step in steps) for name in PHASES})


def progress_chart(phase_progress: PhaseProgress) -> SafeString | None:
    """Draw how many documents each phase has done since the first step. Returns None without any."""
    if not any(map(any, phase_progress.documents.values())):
        return None
    hours = [(start - phase_progress.starts[0]) / timedelta(hours=1) for start in phase_progress.starts]
    ends = [*hours, hours[-1] + STEP / timedelta(hours=1)]
    lines = [
        Line(name, list(zip(ends, map(float, accumulate(counts, initial=0)), strict=True)), ink)
        for ink, (name, counts) in enumerate(phase_progress.documents.items(), 1)
    ]
    label = _("Documents done by each phase in the last 24 hours")
    return line_plot(lines, Axis(_("hours since the beginning")), Axis(_("documents")), label)


def _step_of(at: datetime) -> int:
    return int(at.timestamp() // STEP.total_seconds())
