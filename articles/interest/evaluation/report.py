"""Text report of an evaluation."""

from __future__ import annotations

from articles.interest.evaluation.metrics import METRICS, Interval
from articles.interest.evaluation.replay import Evaluation

FEW_SESSIONS = 30


def table(evaluation: Evaluation) -> str:
    """Format the replay's results as a table with a row for each method, and warnings."""
    head = ["method", *METRICS]
    lines = [head] + [
        [name, *(spelled(result[metric]) for metric in METRICS)]
        for name, result in evaluation.methods.items()
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    rows = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    return "\n".join([summary(evaluation), *rows, *remarks(evaluation)])


def summary(evaluation: Evaluation) -> str:
    """Return a line about the size of the replay and of its measured part."""
    return (
        f"{evaluation.name}: {evaluation.events:,} events of {evaluation.subscribers:,} subscribers; "
        f"{evaluation.sessions:,} lists ({evaluation.impressions:,} impressions), "
        f"{evaluation.measured:,} with an opening; "
        f"intervals of 95 % by {evaluation.resampled}"
    )


def remarks(evaluation: Evaluation) -> list[str]:
    """Return warnings about the figures' reliability."""
    lines = []
    if not evaluation.measured:
        lines.append("Nothing could be measured: no list has an article that was opened.")
    elif evaluation.measured < FEW_SESSIONS:
        lines.append(
            f"Only {evaluation.measured} lists were measured; intervals are rough below {FEW_SESSIONS}."
        )
    if evaluation.unattributed:
        lines.append(f"{evaluation.unattributed:,} openings belong to no list; they were learned from.")
    if evaluation.late:
        lines.append(
            f"{evaluation.late:,} events were logged after later ones; they were put in order of time."
        )
    return lines


def spelled(interval: Interval) -> str:
    """Format a mean with its interval: "0.412 [0.398, 0.427]". Returns "-" when nothing was measured."""
    if interval.mean is None or interval.low is None or interval.high is None:
        return "-"
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
