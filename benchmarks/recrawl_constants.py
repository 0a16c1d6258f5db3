"""The constants of the recrawl method `adaptive`, each halved and doubled: stale pages and coverage.

    python -m benchmarks.recrawl_constants HISTORY.jsonl.gz ... [--constant NAME ...] [--save WEEKS|none]

Every run replays all histories with the budget that division C spends without one. Give one half of your
histories to tune on, and judge on the other. A table of numbers is scaled as a whole, FIRST_ODDS by its odds.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from recrawl.methods import adaptive
from recrawl.methods.gated import ByLinksGated
from recrawl.replay.budgeted import SAVED_WEEKS, mean_spending, simulate
from recrawl.replay.history import read_history

CONSTANTS = (
    "FIRST_ODDS", "SITE_WEIGHT", "SECTION_WEIGHT", "NEIGHBOUR_WEIGHT", "ANSWER_WEIGHT", "SITE_RATE",
    "SITE_RATE_WEEKS", "SECTION_RATE_WEEKS", "IN_TIME", "MIN_GAIN", "UNLINKED",
    "MAX_SAVED_WEEKS", "SAVED_A_WEEK", "ROUND", "IMAGINED_WEEKS", "BURST", "LEAST",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("histories", nargs="+", type=Path, metavar="HISTORY.jsonl.gz")
    parser.add_argument("--constant", nargs="+", choices=CONSTANTS, default=CONSTANTS)
    parser.add_argument("--save", default=str(SAVED_WEEKS))
    options = parser.parse_args()
    save = math.inf if options.save == "none" else float(options.save)
    print("| constant | value | stale % | found in their week % | spent |\n|---|---|---|---|---|")
    print(_row("as it is", "", _mean(options.histories, save, {})), flush=True)
    for name in options.constant:
        for factor in (0.5, 2.0):
            value = _scaled(getattr(adaptive, name), factor)
            shown = value if isinstance(value, float) else f"x {factor:g}"
            print(_row(name, shown, _mean(options.histories, save, {name: value})), flush=True)


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):  # probabilities: their odds are scaled
        return tuple(odds * factor / (1 - odds + odds * factor) for odds in value)
    return value * factor


def _mean(histories: list[Path], save: float, changes: dict[str, Any]) -> tuple[float, ...]:
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        rows = list(pool.map(_replay, [(path, save, changes) for path in histories]))
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))


def _replay(job: tuple[Path, float, dict[str, Any]]) -> tuple[float, float, float]:
    path, save, changes = job
    for name, value in changes.items():
        setattr(adaptive, name, value)
    history = read_history(path)
    budget = mean_spending(history, ByLinksGated())
    result = simulate(history, adaptive.Adaptive(), budget, save)
    return 100 * result.staleness, 100 * result.coverage, result.spent / budget


def _row(name: str, value: object, figures: tuple[float, ...]) -> str:
    stale, coverage, spent = figures
    return f"| {name} | {value} | {stale:.2f} | {coverage:.1f} | {spent:.2f} |"


if __name__ == "__main__":
    main()
