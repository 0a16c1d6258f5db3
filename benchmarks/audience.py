"""What weighing subscribers does: delays as readers meet them, by policy and weight c.

    python benchmarks/audience.py TRACE.csv.gz [--budget 0.15]

Subscribers are invented: feed number k of a random order has 200 / k of them, so that few feeds have most
readers, as is common. A reader's delay counts once for every subscriber of the article's feed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.visits import visits_of
from feeds.replay.setup import Setup
from feeds.replay.trace import read_trace
from feeds.scheduling.registry import make_policy

WEIGHTS = (0.0, 0.1, 1.0)
MAX_SUBSCRIBERS = 200


def main() -> None:
    """A line for each policy and weight."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trace", type=Path)
    parser.add_argument("--budget", type=float, default=0.15)
    options = parser.parse_args()
    trace = read_trace(options.trace)
    places = np.random.default_rng(1).permutation(len(trace.feeds)) + 1
    subscribers = np.floor(MAX_SUBSCRIBERS / places)
    setup = Setup(budget=options.budget, subscribers=subscribers)
    print(f"{trace.name}: {len(trace.feeds)} feeds, {subscribers.sum():.0f} subscriptions")
    print("policy         c  readers' delay min  articles' delay min  visits a day to the 10 most read")
    for name in ("advarss", "freshness"):
        for weight in WEIGHTS:
            found = visits_of(trace, make_policy(name, c=weight), replace(setup))
            readers = np.average(found.delay, weights=subscribers[found.owner])
            most_read = found.a_day(len(trace.feeds))[places <= 10].mean()
            print(
                f"{name:10} {weight:5.1f} {readers:19.1f} {found.delay.mean():20.1f} {most_read:33.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
