"""Methods beside each other on many histories, in as many processes as there are processors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from recrawl.methods.gated import ByLinksGated
from recrawl.methods.registry import METHODS, make_method
from recrawl.replay.budgeted import Budgeted, mean_spending, simulate
from recrawl.replay.history import read_history
from recrawl.replay.one_shot import OneShot, Table, one_shot

RESTLESS = 0.25
"""A site is told apart where so many of its pages change in the median of the weeks that change any."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """One history: `budget` is what each method was given, `pages` those of its last week."""

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
    """All histories in the order asked for."""

    methods: tuple[str, ...]
    files: tuple[FileResult, ...]

    def pooled(self, files: Sequence[FileResult] | None = None) -> Table:
        """One-shot results pooled over files."""
        found: Table = {}
        for file in self.files if files is None else files:
            for period, row in file.one_shot.items():
                for name, result in row.items():
                    found.setdefault(period, {}).setdefault(name, OneShot()).add(result)
        return found

    def mean(self, files: Sequence[FileResult] | None = None) -> dict[str, Budgeted]:
        """Budgeted results, the plain mean over files."""
        some = list(self.files if files is None else files)
        found = {}
        for name in self.methods if some else ():
            rows = [asdict(file.budgeted[name]) for file in some]
            means = {figure: sum(row[figure] for row in rows) / len(rows) for figure in rows[0]}
            found[name] = Budgeted(**means)
        return found

    def as_json(self) -> dict[str, Any]:
        """The object of `manage.py recrawl_replay --json`."""
        return {
            "files": len(self.files),
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
    progress: Callable[[float], None] | None = None,
) -> MethodComparison:
    """Replay every history with every method. Raises ValueError (HistoryError is one), OSError."""
    for name in names:
        make_method(name)
    tell = progress or (lambda _share: None)
    with ProcessPoolExecutor(min(processes, len(paths)), get_context("fork")) as pool:
        futures = {pool.submit(replay, path, names, periods, budget): path for path in paths}
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                tell(done / len(futures))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    results = {path: future.result() for future, path in futures.items()}
    return MethodComparison(tuple(names), tuple(results[path] for path in paths))


def replay(path: Path, names: Sequence[str], periods: Sequence[int], budget: float | None) -> FileResult:
    """One history with every method."""
    history = read_history(path)
    given = mean_spending(history, ByLinksGated()) if budget is None else budget
    weeks = zip(history.changed, history.live, strict=True)
    busy = sorted(len(changed) / len(live) for changed, live in weeks if changed)
    return FileResult(
        name=history.name,
        weeks=len(history.weeks),
        pages=len(history.live[-1]),
        changes=sum(map(len, history.changed)),
        restless=bool(busy) and busy[len(busy) // 2] >= RESTLESS,
        budget=given,
        one_shot=one_shot(history, [METHODS[name] for name in names], periods),
        budgeted={name: simulate(history, make_method(name), given) for name in names},
    )
