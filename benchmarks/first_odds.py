"""What `adaptive` should assume of a site that has shown nothing yet, and whether that holds on other sites.

    python -m benchmarks.first_odds HISTORY.jsonl.gz ...

Counts in recorded histories how often pages changed in each situation and habit, under C's own spending, each
history counting the same. Then every history is replayed with odds counted on those of other groups alone
(what comes before the first dash of their names), beside the odds in `recrawl/methods/ledger.py`.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods import ledger
from recrawl.methods.adaptive import Adaptive, ledger_of
from recrawl.methods.belief import believe
from recrawl.methods.registry import DEFAULT, METHODS, make_method
from recrawl.replay.budgeted import mean_spending, simulate
from recrawl.replay.comparison import FileResult, MethodComparison, compare, replay
from recrawl.replay.history import History, HistoryError, group_of, read_history

Odds = tuple[tuple[float, ...], ...]
Counts = dict[ledger.Cell, tuple[float, float]]
"""By situation and habit: the share of all pages and weeks, and of those that changed."""

FORMER = 0.02
"""How much the odds in use count where histories show little, as a share of one history."""


class Watched(Adaptive):
    """Counts what the pages in each cell really did, whether they were fetched or not."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.pages: defaultdict[ledger.Cell, int] = defaultdict(int)
        self.changes: defaultdict[ledger.Cell, int] = defaultdict(int)

    def finish(self, server: KnownServer, visit: OpenVisit) -> None:
        """Look before anything is learned from the visit."""
        belief = believe(server, visit, ledger_of(server))
        live, changed = self.history.live[int(visit.now)], set(self.history.changed[int(visit.now)])
        for path, kind, habit in zip(belief.gates.paths, belief.kinds, belief.habits, strict=True):
            if path != server.top and path in live:
                cell = (ledger.KINDS * belief.top + int(kind), int(habit))
                self.pages[cell] += 1
                self.changes[cell] += path in changed
        super().finish(server, visit)


def main() -> None:
    """Count, replay, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("histories", nargs="+", type=Path)
    paths = parser.parse_args().histories
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        try:
            counts = dict(zip(paths, pool.map(_count, paths), strict=True))
        except (OSError, HistoryError) as error:
            parser.error(str(error))
        print("Odds counted, by situation (rows) and habit; in use:")
        for counted, used in zip(_odds(counts.values()), ledger.FIRST_ODDS, strict=True):
            print("  ", *(f"{odds:.3f}" for odds in counted), "  ;  ", *(f"{odds:.3f}" for odds in used))
        rows = {"in use": [ledger.FIRST_ODDS] * len(paths), "of other groups": []}
        for path in paths:
            others = [found for other, found in counts.items() if group_of(other.name) != group_of(path.name)]
            rows["of other groups"].append(_odds(others))
        for name, odds in rows.items():
            _tell(MethodComparison((DEFAULT,), tuple(pool.map(_replay, paths, odds))), f", odds {name}")
    others = [name for name in METHODS if name != DEFAULT]
    _tell(compare(paths, others, (), None, processes=os.cpu_count() or 1))


def _tell(comparison: MethodComparison, which: str = "") -> None:
    for name, one in comparison.mean().items():
        print(f"{name + which:32}staleness {one.staleness:7.2%}  coverage {one.coverage:6.1%}", flush=True)


def _count(path: Path) -> Counts:
    history = read_history(path)
    watched = Watched(history)
    simulate(history, watched, mean_spending(history, make_method("C")))
    whole = sum(watched.pages.values()) or 1
    return {cell: (pages / whole, watched.changes[cell] / whole) for cell, pages in watched.pages.items()}


def _odds(counts: Iterable[Counts]) -> Odds:
    pages: defaultdict[ledger.Cell, float] = defaultdict(float)
    changes: defaultdict[ledger.Cell, float] = defaultdict(float)
    for one in counts:
        for cell, (share, changed) in one.items():
            pages[cell] += share
            changes[cell] += changed
    return tuple(
        tuple(
            (changes[situation, habit] + FORMER * used) / (pages[situation, habit] + FORMER)
            for habit, used in enumerate(row)
        )
        for situation, row in enumerate(ledger.FIRST_ODDS)
    )


def _replay(path: Path, odds: Odds) -> FileResult:
    ledger.FIRST_ODDS = odds
    return replay(path, [DEFAULT], (), None)


if __name__ == "__main__":
    main()
