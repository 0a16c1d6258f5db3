"""How many retrievals `freshness` needs for the mean delay that other policies have at a budget.

    python benchmarks/budget.py TRACE.csv.gz [--budget 0.15] [--against advarss miniflux]

Also prints the curve: mean delay and total pending of freshness by budget.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from feeds.replay.comparison import Options, replay
from feeds.replay.metrics import Metrics
from feeds.replay.setup import Setup
from feeds.replay.trace import Trace, read_trace

STEPS = 7  # halvings: the budget is right to a hundredth of itself
CURVE = (0.03, 0.05, 0.075, 0.10, 0.15, 0.20, 0.30)


def measured(trace: Trace, name: str, setup: Setup, budget: float) -> Metrics:
    """One replay at this budget."""
    return replay(trace, name, replace(setup, budget=budget), Options()).metrics


def needed(trace: Trace, setup: Setup, delay: float) -> float:
    """The budget at which freshness has this mean delay (minutes), by bisection."""
    low, high = setup.budget / 16, setup.budget * 2
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        late = measured(trace, "freshness", setup, middle).delay_mean > delay
        low, high = (middle, high) if late else (low, middle)
    return math.sqrt(low * high)


def main() -> None:
    """Print the curve, then the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trace", type=Path)
    parser.add_argument("--budget", type=float, default=0.15)
    parser.add_argument("--against", nargs="+", default=["advarss", "miniflux"])
    options = parser.parse_args()
    trace, setup = read_trace(options.trace), Setup(budget=options.budget)
    with ProcessPoolExecutor() as pool:
        print(f"{trace.name}: freshness\n budget   delay min  pending")
        for budget, found in zip(
            CURVE, pool.map(partial(measured, trace, "freshness", setup), CURVE), strict=True
        ):
            print(f"{budget:7.3f} {found.delay_mean:11.1f} {found.total_pending:8.2f}")
        others = list(pool.map(partial(_at, trace, setup), options.against))
        budgets = pool.map(partial(needed, trace, setup), [found.delay_mean for found in others])
        for name, found, budget in zip(options.against, others, budgets, strict=True):
            fewer = 1 - budget / setup.budget
            print(
                f"{name} at {setup.budget:g}: {found.delay_mean:.1f} min; "
                f"freshness needs {budget:.4f}, {fewer:.0%} fewer"
            )


def _at(trace: Trace, setup: Setup, name: str) -> Metrics:
    return measured(trace, name, setup, setup.budget)


if __name__ == "__main__":
    main()
