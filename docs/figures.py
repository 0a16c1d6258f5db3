"""Figures 3 to 7 of the paper (papers on advaRSS, 2010) from a recorded trace, as SVG files.

    python docs/figures.py TRACE.csv.gz [--to docs/figures]

3: articles by hour of day of one feed. 4 and 5: M, T and ToE of a busy and of a slow feed in the training
phase. 6: maximum pending articles by policy. 7: total pending articles by hour of day and policy. The paper's
policies, and Freshet's beside them; at 15 % of the feeds an hour, 28 days to learn from.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
os.environ.setdefault("DATABASE_URL", "none")

from crawler.web.charts import Axis, Bar, Line, bar_plot, line_plot, standalone
from feeds.replay.comparison import Options, compare
from feeds.replay.setup import Setup
from feeds.replay.simulation import Selection, simulate
from feeds.replay.trace import Trace, read_trace
from feeds.scheduling.rates import DAY
from feeds.scheduling.training import AdvarssTraining, after_retrieval, start

POLICIES = ("round-robin", "min-delay", "advarss", "freshness")
INKS = {"freshness": 1, "advarss": 2, "min-delay": 3, "round-robin": 4}
TRAINING_DAYS = 3


def main() -> None:
    """Write the five files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trace", type=Path)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "figures")
    options = parser.parse_args()
    trace = read_trace(options.trace)
    options.to.mkdir(parents=True, exist_ok=True)
    ranks = np.argsort(np.bincount(trace.owner, minlength=len(trace.feeds)))
    busy, slow = int(ranks[int(0.95 * len(ranks))]), int(ranks[len(ranks) // 2])
    hours = Axis("hour of day, UTC", marks=range(0, 25, 3))
    done = compare(trace, POLICIES, Setup(), Options(), processes=os.cpu_count() or 1).results
    pictures = {
        "3": line_plot(
            [Line(trace.feeds[busy], _by_hour(trace, busy), steps=True)],
            hours,
            Axis("articles an hour"),
            "Figure 3: articles by hour of day of one feed",
        ),
        "4": _training(trace, busy, "Figure 4: M, T and ToE of a busy feed"),
        "5": _training(trace, slow, "Figure 5: M, T and ToE of a slow feed"),
        "6": bar_plot(
            [Bar(result.policy, result.metrics.daily_max_pending, INKS[result.policy]) for result in done],
            "articles pending at the fullest feed, the day's maximum, mean over days",
            "Figure 6: maximum pending articles by policy",
        ),
        "7": line_plot(
            [
                Line(
                    r.policy,
                    [*enumerate(r.pending_by_hour), (24, r.pending_by_hour[-1])],
                    INKS[r.policy],
                    True,
                )
                for r in done
            ],
            hours,
            Axis("pending articles of all feeds"),
            "Figure 7: total pending articles by hour of day and policy",
        ),
    }
    for number, picture in pictures.items():
        path = options.to / f"figure-{number}.svg"
        path.write_text(standalone(picture))
        print(path.name)


def _by_hour(trace: Trace, feed: int) -> list[tuple[float, float]]:
    """Mean articles an hour over the whole trace."""
    times = trace.published[trace.owner == feed]
    counts = np.bincount((times % DAY // 3600).astype(np.int64), minlength=24) / np.ceil(trace.days)
    return [*((float(hour), float(count)) for hour, count in enumerate(counts)), (24.0, float(counts[-1]))]


def _training(trace: Trace, feed: int, label: str) -> str:
    """The paper's counters over the first days, tick by tick, from the very functions that the tick uses."""
    alone = Trace(trace.name, (trace.feeds[feed],), *_of_feed(trace, feed))
    told: list[Selection] = []
    simulate(alone, AdvarssTraining(), Setup(train_days=0, budget=6), selected=told.append)
    first = told[0].at
    visits = [s.at for s in told if len(s.rows) and s.at < first + TRAINING_DAYS * DAY]
    m, t, _ = start(1, np.random.default_rng(Setup().seed))
    lines: dict[str, list[tuple[float, float]]] = {"M": [], "T": [], "ToE": []}
    before = first
    for at in visits:
        new = bool(np.any((alone.published > before) & (alone.published <= at)))
        m, t, toe = after_retrieval(m, t, [new])
        for name, value in (("M", m), ("T", t), ("ToE", toe)):
            lines[name].append(((at - first) / 3600, float(value[0])))
        before = at
    return line_plot(
        [Line(name, points, ink, steps=True) for ink, (name, points) in enumerate(lines.items(), 1)],
        Axis("hours of training", marks=range(0, 24 * TRAINING_DAYS + 1, 12)),
        Axis("ticks of ten minutes", log=True),
        label,
    )


def _of_feed(trace: Trace, feed: int) -> tuple[np.ndarray, np.ndarray]:
    times = trace.published[trace.owner == feed]
    return np.zeros(len(times), dtype=np.int64), times


if __name__ == "__main__":
    main()
