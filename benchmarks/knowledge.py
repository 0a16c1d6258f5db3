"""The price of learning: total pending by what the scheduler knows, on a trace and on one redrawn from it.

    python benchmarks/knowledge.py TRACE.csv.gz [--half b]

Four rows for what `freshness` may know: what it learned itself, each feed's true level (its mean rate within
a week of the day), its true hours of the week, and both. True rates of a recorded trace come from the very
posts that are counted, so that they flatter. The second column therefore draws new posts from those rates
(Poisson, one draw): there "both" knows exactly what can be known, and what "learned" lacks of it is what
learning costs. Figures are shares of the flat optimum of the trace (`feeds.replay.simulation.flat_optimum`);
the goal is 1.00.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from feeds.replay.learning import Learner
from feeds.replay.setup import Setup
from feeds.replay.simulation import flat_optimum, simulate
from feeds.replay.trace import Trace, read_trace
from feeds.scheduling.forecast import Forecast, Population, forecast
from feeds.scheduling.freshness import Freshness
from feeds.scheduling.rates import DAY, DAY_HOURS, HOUR, WEEK_HOURS, Floats, Floats32, Integers, hour_of

KNOWN = ("learned", "level", "hours", "both")
# Days before and after a day whose posts make its level.
_AROUND = 7
_LEAST = 1e-4


def rates_in_hindsight(trace: Trace) -> tuple[Floats, Floats32]:
    """Return (n, days) levels in articles per hour, and (n, 168) hours of the week with mean 1."""
    n, day = len(trace.feeds), ((trace.published - trace.start) // DAY).astype(np.int64)
    days = int(day.max()) + 1
    daily = np.zeros((n, days))
    np.add.at(daily, (trace.owner, day), 1)
    window = np.ones(2 * _AROUND + 1)
    counted = np.array([np.convolve(row, window, "same") for row in daily])
    level = np.maximum(counted / np.convolve(np.ones(days), window, "same") / DAY_HOURS, _LEAST)
    weekly = np.zeros((n, WEEK_HOURS))
    np.add.at(weekly, (trace.owner, hour_of(trace.published, WEEK_HOURS)), 1)
    watched = np.full((n, WEEK_HOURS), days * DAY_HOURS / WEEK_HOURS)
    everyone = Population.of(weekly.sum(axis=0), watched.sum(axis=0))
    return level, forecast(weekly, watched, np.zeros((n, 4)), everyone).profile


def redraw(trace: Trace, level: Floats, hours: Floats32, seed: int = 1) -> Trace:
    """Draw the posts of all feeds anew from these rates."""
    rng, posts = np.random.default_rng(seed), []
    first = hour_of(np.array([trace.start]), WEEK_HOURS)[0]
    for feed, name in enumerate(trace.feeds):
        week = np.roll(hours[feed], -first)
        expected = np.repeat(level[feed], DAY_HOURS) * np.resize(week, level.shape[1] * DAY_HOURS)
        counts = rng.poisson(expected)
        begin = trace.start + np.repeat(np.arange(len(counts)), counts) * HOUR
        posts += [(name, time) for time in begin + rng.uniform(0, HOUR, len(begin))]
    return Trace.of(f"{trace.name}, redrawn", posts)


def hindsight_learner(what: str, trace: Trace, level: Floats, hours: Floats32) -> type[Learner]:
    """Return a learner that has `what` of KNOWN from hindsight and learns the rest."""

    class HindsightLearner(Learner):
        def forecast(self, now: float, rows: Integers | slice = slice(None)) -> Forecast:
            learned = super().forecast(now, rows)
            day = min(int((now - trace.start) // DAY), level.shape[1] - 1)
            return Forecast(
                level[rows, day] if what in ("level", "both") else learned.level,
                hours[rows] if what in ("hours", "both") else learned.profile,
            )

    return HindsightLearner


def share(trace: Trace, what: str, level: Floats, hours: Floats32) -> float:
    """Return the total pending of `freshness` as a share of the flat optimum."""
    record = simulate(trace, Freshness(), Setup(), learner_class=hindsight_learner(what, trace, level, hours))
    return record.metrics().total_pending / flat_optimum(trace, Setup())


def half_of(trace: Trace, half: str) -> Trace:
    """Return half of the feeds, by their names' checksum: `a` to tune on, `b` to judge on."""
    kept = [zlib.crc32(name.encode()) % 2 == (half == "b") for name in trace.feeds]
    posts = zip(trace.owner.tolist(), trace.published.tolist(), strict=True)
    return Trace.of(f"{trace.name}, half {half}", [(trace.feeds[at], time) for at, time in posts if kept[at]])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trace", type=Path)
    parser.add_argument("--half", choices=("a", "b"), help="of the feeds only")
    options = parser.parse_args()
    trace = read_trace(options.trace)
    if options.half:
        trace = half_of(trace, options.half)
    level, hours = rates_in_hindsight(trace)
    both = (trace, redraw(trace, level, hours))
    with ProcessPoolExecutor() as pool:
        jobs = [[pool.submit(share, posts, what, level, hours) for posts in both] for what in KNOWN]
        print(f"{trace.name}: {len(trace.feeds)} feeds; pending x flat optimum (goal 1.00)")
        print(f"{'known':10}{'recorded':>10}{'redrawn':>10}")
        for what, row in zip(KNOWN, jobs, strict=True):
            print(f"{what:10}" + "".join(f"{job.result():10.3f}" for job in row), flush=True)


if __name__ == "__main__":
    main()
