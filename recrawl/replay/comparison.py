"""A comparison of methods on many histories, in one process for each processor."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from recrawl.methods.gated import ByLinksGated
from recrawl.methods.registry import REPLAYED, make_method
from recrawl.replay.budgeted import SAVED_WEEKS, Budgeted, mean_spending, simulate
from recrawl.replay.history import read_history
from recrawl.replay.one_shot import OneShot, Table, by_c, one_shot, share

RESTLESS = 0.25
"""A site is restless if this share of its pages changes in the median of the weeks with any change."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """The results on one history. `budget` is given to each method; `pages` is the number of pages in the
    last week.
    """

    name: str
    weeks: int
    pages: int
    changes: int
    restless: bool
    budget: float
    one_shot: Table
    budgeted: dict[str, Budgeted]


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """The results on all histories, in the requested order."""

    methods: tuple[str, ...]
    files: tuple[FileResult, ...]
    save: float = SAVED_WEEKS
    """Weeks' budget that may be saved, inf for any number."""

    def pooled(self, files: Sequence[FileResult] | None = None) -> Table:
        """Return one-shot results pooled over files."""
        table: Table = {}
        for file in self.files if files is None else files:
            for period, row in file.one_shot.items():
                for name, result in row.items():
                    table.setdefault(period, {}).setdefault(name, OneShot()).add(result)
        return table

    def mean(self, files: Sequence[FileResult] | None = None) -> dict[str, Budgeted]:
        """Return budgeted results as the unweighted mean over files."""
        selected = list(self.files if files is None else files)
        results = {}
        for name in self.methods if selected else ():
            rows = [asdict(file.budgeted[name]) for file in selected]
            means = {figure: sum(row[figure] for row in rows) / len(rows) for figure in rows[0]}
            results[name] = Budgeted(**means)
        return results

    def as_json(self) -> dict[str, Any]:
        """Return the object that `manage.py recrawl_replay --json` prints."""
        return {
            "files": len(self.files),
            "save": self.save if self.save < math.inf else None,
            "one_shot": {
                str(period): {name: row[name].as_json() for name in self.methods}
                for period, row in self.pooled().items()
            },
            "budgeted": {name: asdict(result) for name, result in self.mean().items()},
            "by_file": {
                file.name: {"budgeted": {name: asdict(file.budgeted[name]) for name in self.methods}}
                for file in self.files
            },
        }


def compare(
    paths: Sequence[Path],
    names: Sequence[str],
    periods: Sequence[int],
    budget: float | None,
    *,
    processes: int,
    save: float = SAVED_WEEKS,
    progress: Callable[[float], None] | None = None,
) -> MethodComparison:
    """Replay every history with every method. Raises ValueError (HistoryError is one), OSError."""
    for name in names:
        make_method(name)
    tell = progress or (lambda _share: None)
    with ProcessPoolExecutor(min(processes, len(paths)), get_context("fork")) as pool:
        try:
            counts = list(pool.map(_by_c, paths, [periods] * len(paths)))
            shares = {
                period: share(
                    sum(each[period][0] for each in counts), sum(each[period][1] for each in counts)
                )
                for period in periods
            }
            futures = {pool.submit(replay, path, names, shares, budget, save): path for path in paths}
            for finished_count, future in enumerate(as_completed(futures), 1):
                future.result()
                tell(finished_count / len(futures))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    results = {path: future.result() for future, path in futures.items()}
    return MethodComparison(tuple(names), tuple(results[path] for path in paths), save)


def _by_c(path: Path, periods: Sequence[int]) -> dict[int, tuple[int, int]]:
    return by_c(read_history(path), periods)


def replay(
    path: Path,
    names: Sequence[str],
    shares: Mapping[int, float],
    budget: float | None,
    save: float = SAVED_WEEKS,
) -> FileResult:
    """Replay one history with every method. `shares` has, by period, what may be fetched (`one_shot`)."""
    history = read_history(path)
    site_budget = mean_spending(history, ByLinksGated()) if budget is None else budget
    weeks = zip(history.changed, history.live, strict=True)
    busy = sorted(len(changed) / len(live) for changed, live in weeks if changed)
    return FileResult(
        name=history.name,
        weeks=len(history.weeks),
        pages=len(history.live[-1]),
        changes=sum(map(len, history.changed)),
        restless=bool(busy) and busy[len(busy) // 2] >= RESTLESS,
        budget=site_budget,
        one_shot=one_shot(history, [REPLAYED[name] for name in names], list(shares), shares),
        budgeted={name: simulate(history, make_method(name), site_budget, save) for name in names},
    )
