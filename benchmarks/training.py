"""The training phase on recorded posting times: visits a day, and delays, by how busy feeds are.

    python benchmarks/training.py TRACE.csv.gz [--days 28]

The paper tells of at most some 20 visits a day for busy feeds, fewer than 10 for slow ones, a mean delay of
14 minutes and ten worst delays of 27 to 35 minutes. Freshet's training has a ceiling on the wait between two
visits (FEED_TRAINING_MAX_TICKS, 5 by default): both are shown.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.visits import Visits, visits_of
from feeds.replay.setup import Setup
from feeds.replay.trace import Trace, read_trace
from feeds.scheduling.rates import DAY, Floats
from feeds.scheduling.training import AdvarssTraining

# By articles a day.
GROUPS = (
    (10.0, np.inf, "10 and more"),
    (3.0, 10.0, "3 to 10"),
    (1.0, 3.0, "1 to 3"),
    (0.0, 1.0, "less than 1"),
)


def main() -> None:
    """A table for the paper's rule, and one with the ceiling."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trace", type=Path)
    parser.add_argument("--days", type=float, default=28.0, help="the first days of the trace")
    options = parser.parse_args()
    trace = _beginning(read_trace(options.trace), options.days)
    rates = np.bincount(trace.owner, minlength=len(trace.feeds)) / options.days
    for ceiling in (None, 5):
        found = visits_of(trace, AdvarssTraining(max_ticks=ceiling), Setup(train_days=0))
        rule = "the paper's rule" if ceiling is None else f"at most {ceiling} ticks between visits"
        print(f"{trace.name}, first {options.days:g} days, {rule}")
        print("articles a day   feeds  visits a day  mean delay min  p95  ten worst of a busy feed")
        for low, high, name in GROUPS:
            print(_line(found, rates, (rates >= low) & (rates < high), name))
        print(_line(found, rates, np.ones(len(rates), dtype=bool), "all"), "\n")


def _beginning(trace: Trace, days: float) -> Trace:
    kept = trace.published < trace.start + days * DAY
    return Trace(trace.name, trace.feeds, trace.owner[kept], trace.published[kept])


def _line(found: Visits, rates: Floats, group: np.ndarray[tuple[int], np.dtype[np.bool_]], name: str) -> str:
    if not group.any():
        return f"{name:15} {0:6}"
    delays = found.delay[group[found.owner]]
    visits = found.a_day(len(rates))[group].mean()
    busiest = int(np.argmax(np.where(group, rates, -1)))
    worst = np.sort(found.delay[found.owner == busiest])[-10:]
    mean, late = (delays.mean(), np.percentile(delays, 95)) if len(delays) else (np.nan, np.nan)
    return (
        f"{name:15} {int(group.sum()):6} {visits:13.1f} {mean:15.1f} {late:4.0f}  "
        f"{worst.min(initial=np.inf):.0f} to {worst.max(initial=0):.0f}"
    )


if __name__ == "__main__":
    main()
