"""An evaluation as a table of text."""

from __future__ import annotations

from articles.interest.metrics import METRICS, Interval
from articles.interest.replay import Evaluation

FEW_SESSIONS = 30


def table(found: Evaluation) -> str:
    """What was replayed, a line for each method, and what to beware of."""
    head = ["method", *METRICS]
    lines = [head] + [
        [name, *(spelled(result[metric]) for metric in METRICS)] for name, result in found.methods.items()
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    rows = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    return "\n".join([summary(found), *rows, *remarks(found)])


def summary(found: Evaluation) -> str:
    """How much was replayed, and how much of it could be measured."""
    return (
        f"{found.name}: {found.events:,} events of {found.subscribers:,} subscribers; "
        f"{found.sessions:,} lists ({found.impressions:,} impressions), {found.measured:,} with an opening; "
        f"intervals of 95 % by {found.resampled}"
    )


def remarks(found: Evaluation) -> list[str]:
    """Why the figures may say less than they seem to."""
    said = []
    if not found.measured:
        said.append("Nothing could be measured: no list has an article that was opened.")
    elif found.measured < FEW_SESSIONS:
        said.append(f"Only {found.measured} lists were measured; intervals are rough below {FEW_SESSIONS}.")
    if found.unattributed:
        said.append(f"{found.unattributed:,} openings belong to no list; they were learned from.")
    if found.late:
        said.append(f"{found.late:,} events were logged after later ones; they were put in order of time.")
    return said


def spelled(interval: Interval) -> str:
    """A mean with its interval: "0.412 [0.398, 0.427]"."""
    if interval.mean is None or interval.low is None or interval.high is None:
        return "-"
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
