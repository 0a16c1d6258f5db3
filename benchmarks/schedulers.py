"""When other programs would have visited the feeds of the same recorded week, and how long articles waited.

    python -m benchmarks.schedulers --traces publishers.csv.gz communities.csv.gz [--days 7] [--feeds N]
        [--json FILE] [--pictures FOLDER]

Every program's rule (`feeds/scheduling/peers.py`) runs at its default, and with all intervals multiplied by
one factor, so that it makes as many requests as Freshet's `freshness` at its default budget. All learn from
the same days before. Only the half of the feeds that nothing was tuned on counts (half b of
`benchmarks/knowledge.py`). Peers may visit every 5 minutes, Freshet every 10, as its default is. Requests are
not bounded otherwise: the batches, workers and limits for a host that programs have are left out.

Measured are the articles of the week before the trace's last day. The last day is there to find the week's
last articles; one that no visit has found by its end counts with the time until then.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
os.environ.setdefault("DATABASE_URL", "none")

from benchmarks.knowledge import half_of
from crawler.text.cells import aligned
from crawler.web.charts import Axis, Line, line_plot, standalone
from feeds.replay.setup import Setup
from feeds.replay.simulation import Selection, simulate
from feeds.replay.trace import Trace, read_trace
from feeds.scheduling.base import Policy
from feeds.scheduling.freshness import Freshness
from feeds.scheduling.peers import CommaFeed, FreshRss, Intervals, MediaCloud, Miniflux, NewsBlur, Reader
from feeds.scheduling.rates import DAY, HOUR

PEERS: tuple[Intervals, ...] = (Reader(), FreshRss(), Miniflux(), CommaFeed(), NewsBlur(), MediaCloud())
BUDGET = 1.0  # FEED_BUDGET's default
CURVE = (0.05, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
TICK, PEERS_TICK = 600.0, 300.0
NEAR, RUNS = 0.01, 7


@dataclass(frozen=True, slots=True)
class Row:
    """One rule's week: `requests` per feed and day, `most` those to the feed visited most, delays in minutes.

    `busiest` is the share of all feeds that is asked in the same ten minutes at most. `factor` multiplies the
    rule's intervals; for Freshet it is the budget.
    """

    rule: str
    factor: float
    requests: float
    most: float
    busiest: float
    median: float
    p95: float
    mean: float


def week_of(trace: Trace, days: float) -> tuple[float, float]:
    """Return the measured week's begin and end: `days` until the midnight before the trace's last day."""
    end = float(trace.published[-1] // DAY) * DAY
    return end - days * DAY, end


def measured(trace: Trace, policy: Policy, setup: Setup, days: float, factor: float) -> Row:
    """Replay one rule and measure its week."""
    told: list[Selection] = []
    simulate(trace, policy, setup, selected=told.append)
    begin, end = week_of(trace, days)
    feed = np.concatenate([selection.rows for selection in told])
    at = np.repeat([selection.at for selection in told], [len(selection.rows) for selection in told])
    inside = (at >= begin) & (at < end)
    a_day = np.bincount(feed[inside], minlength=len(trace.feeds)) / days
    windows = np.bincount(((at[inside] - begin) // 600).astype(np.int64))
    delays = _delays(trace, feed, at, begin, end) / 60
    median, p95 = np.percentile(delays, [50, 95]).tolist()
    return Row(
        rule=policy.name,
        factor=factor,
        requests=float(a_day.mean()),
        most=float(a_day.max()),
        busiest=float(windows.max(initial=0) / len(trace.feeds)),
        median=median,
        p95=p95,
        mean=float(delays.mean()),
    )


def _delays(trace: Trace, feed: np.ndarray, at: np.ndarray, begin: float, end: float) -> np.ndarray:
    """Seconds from each article of the week to the first visit after it, or to the end of the trace."""
    last = float(trace.published[-1])
    order = np.lexsort((at, feed))
    feed, at = feed[order], at[order]
    begins = np.searchsorted(feed, np.arange(len(trace.feeds) + 1))
    waits = []
    for number in range(len(trace.feeds)):
        times = trace.published[trace.owner == number]
        times = times[(times >= begin) & (times < end)]
        visits = np.append(at[begins[number] : begins[number + 1]], max(last, end))
        waits.append(visits[np.minimum(np.searchsorted(visits, times), len(visits) - 1)] - times)
    return np.concatenate(waits)


def ours(trace: Trace, days: float, budget: float) -> Row:
    """Freshet's rule at this budget."""
    return measured(trace, Freshness(), Setup(budget=budget, tick=TICK), days, budget)


def theirs(trace: Trace, days: float, peer: Intervals, factor: float = 1.0) -> Row:
    """Replay a peer's rule with its intervals multiplied, and a budget that takes everything due."""
    setup = Setup(budget=HOUR / PEERS_TICK, tick=PEERS_TICK)
    return measured(trace, replace(peer, scale=factor), setup, days, factor)


def at_equal_requests(trace: Trace, days: float, default: Row, peer: Intervals, goal: float) -> Row:
    """Find the factor with which a peer makes `goal` requests per feed and day, to a hundredth.

    Requests fall with the factor, but not in proportion, and in steps for rules with rounds: the nearest of
    a few tries is taken.
    """
    tried = [default]
    low, high = 0.0, float("inf")
    for _ in range(RUNS):
        best = min(tried, key=lambda row: abs(row.requests / goal - 1))
        if abs(best.requests / goal - 1) <= NEAR:
            break
        newest = tried[-1]
        if newest.requests > goal:
            low = max(low, newest.factor)
        else:
            high = min(high, newest.factor)
        factor = newest.factor * newest.requests / goal
        if not low < factor < high:
            factor = float(np.sqrt(low * high))
        tried.append(theirs(trace, days, peer, factor))
    return min(tried, key=lambda row: abs(row.requests / goal - 1))


def table(rows: Sequence[Row]) -> str:
    """Format the rows under their headings."""
    head = ["rule", "factor", "requests", "most", "busiest", "median", "p95", "mean"]
    lines = [head] + [
        [
            row.rule,
            f"{row.factor:.2f}",
            f"{row.requests:.1f}",
            f"{row.most:.0f}",
            f"{row.busiest:.0%}",
            f"{row.median:.0f}",
            f"{row.p95:.0f}",
            f"{row.mean:.0f}",
        ]
        for row in rows
    ]
    return aligned(lines)


def picture(name: str, curve: Sequence[Row], pairs: Sequence[tuple[Row, Row]]) -> str:
    """Draw the median delay by requests: Freshet's budgets as a line, each peer from equal to default."""
    lines = [Line("freshet", [(row.requests, row.median) for row in curve], 1)]
    for ink, (default, equal) in enumerate(pairs, 2):
        points = sorted({(row.requests, row.median) for row in (default, equal)})
        lines.append(Line(default.rule, points, ink))
    return standalone(
        line_plot(
            lines,
            Axis("requests per feed and day", log=True),
            Axis("median delay, minutes", log=True),
            f"{name}: median delay by requests per feed and day; lower and further left is better",
        )
    )


def sample(trace: Trace, feeds: int) -> Trace:
    """Return a trace of so many of the feeds, drawn at random and always the same."""
    if not 0 < feeds < len(trace.feeds):
        return trace
    kept = set(np.random.default_rng(1).permutation(len(trace.feeds))[:feeds].tolist())
    posts = zip(trace.owner.tolist(), trace.published.tolist(), strict=True)
    return Trace.of(trace.name, [(trace.feeds[at], time) for at, time in posts if at in kept])


def main() -> None:
    """Print a table for each trace, and write the JSON and the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=Path, nargs="+", required=True, metavar="TRACE.csv.gz")
    parser.add_argument("--feeds", type=int, default=0, help="at most so many, drawn at random (0: all)")
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    found = {}
    for path in options.traces:
        trace = sample(half_of(read_trace(path), "b"), options.feeds)
        begin, end = week_of(trace, options.days)
        if begin <= trace.start:
            sys.exit(f"{path.name} is {trace.days:.1f} days long: nothing is left to learn from")
        articles = int(((trace.published >= begin) & (trace.published < end)).sum())
        name = path.name.split(".")[0]
        print(
            f"{name}: {len(trace.feeds)} feeds, {articles} articles in {options.days:g} days, "
            f"{(begin - trace.start) / DAY:.0f} days to learn from",
            flush=True,
        )
        curve = [ours(trace, options.days, budget) for budget in CURVE]
        goal = next(row for row in curve if row.factor == BUDGET)
        pairs = []
        for peer in PEERS:
            default = theirs(trace, options.days, peer)
            pairs.append((default, at_equal_requests(trace, options.days, default, peer, goal.requests)))
        print("at their defaults\n" + table([goal, *(default for default, _ in pairs)]))
        print("at our number of requests\n" + table([goal, *(equal for _, equal in pairs)]), flush=True)
        found[name] = {
            "feeds": len(trace.feeds),
            "articles": articles,
            "freshet": [asdict(row) for row in curve],
            "defaults": [asdict(default) for default, _ in pairs],
            "equal": [asdict(equal) for _, equal in pairs],
        }
        if options.pictures:
            options.pictures.mkdir(parents=True, exist_ok=True)
            (options.pictures / f"schedulers-{name}.svg").write_text(picture(name, curve, pairs))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
