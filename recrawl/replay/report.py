"""A comparison of recrawl methods as text tables."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.text.cells import aligned
from recrawl.replay.comparison import FileResult, MethodComparison
from recrawl.replay.one_shot import Table

FEW_CHANGES = 20
RIVALS = ("C", "history", "breadth-first")


def tables(comparison: MethodComparison) -> str:
    """Return the one-shot results by period and method, the budgeted results by method, and a table by file.
    Restless sites are also shown separately.
    """
    calm = [file for file in comparison.files if not file.restless]
    restless = [file for file in comparison.files if file.restless]
    parts = [f"{len(comparison.files)} histories, {sum(file.changes for file in comparison.files)} changes"]
    groups = [("all histories", list(comparison.files))]
    if calm and restless:
        groups += [
            ("sites whose deployments touch few pages", calm),
            ("sites whose deployments touch many", restless),
        ]
    for title, files in groups:
        parts += [
            "",
            f"One-shot, pooled: {title} ({len(files)})",
            _one_shot(comparison, comparison.pooled(files)),
        ]
    for title, files in groups:
        parts += ["", f"Budgeted, mean over files: {title} ({len(files)})", _budgeted(comparison, files)]
    parts += ["", "Budgeted, file by file: staleness / coverage", _by_file(comparison)]
    return "\n".join(parts)


def _one_shot(comparison: MethodComparison, pooled: Table) -> str:
    head = [
        "method",
        *(f"{period} w {figure}" for period in pooled for figure in ("fetched", "rate", "coverage")),
    ]
    rows = []
    for name in ("all", *comparison.methods):
        cells = [name]
        for row in pooled.values():
            figures = row[name].as_json()
            share = figures["fetched"] / row["all"].fetched if row["all"].fetched else 0.0
            cells += [f"{share:.1%}", f"{figures['rate']:.1%}", f"{figures['coverage']:.1%}"]
        rows.append(cells)
    return aligned([head, *rows])


def _budgeted(comparison: MethodComparison, files: Sequence[FileResult]) -> str:
    rows = [["method", "spent", "staleness", "coverage", "rate", "delay weeks"]]
    for name, mean in comparison.mean(files).items():
        rows.append(
            [
                name,
                f"{mean.spent:.1%}",
                f"{mean.staleness:.2%}",
                f"{mean.coverage:.1%}",
                f"{mean.rate:.1%}",
                f"{mean.delay_weeks:.2f}",
            ]
        )
    return aligned(rows)


def _by_file(comparison: MethodComparison) -> str:
    rivals = [name for name in RIVALS if name in comparison.methods]
    against = "adaptive" in comparison.methods and bool(rivals)
    head = ["history", "pages", "changes", "budget", *comparison.methods]
    rows = [head + (["adaptive / best of " + ", ".join(rivals)] if against else [])]
    for file in comparison.files:
        cells = [file.name.removesuffix(".gz").removesuffix(".jsonl"), str(file.pages), str(file.changes)]
        cells.append(f"{file.budget:.1%}")
        for name in comparison.methods:
            result = file.budgeted[name]
            cells.append(f"{result.staleness:.1%} / {result.coverage:.0%}")
        if against:
            best = min(file.budgeted[name].staleness for name in rivals)
            note = " (few changes)" if file.changes < FEW_CHANGES else ""
            cells.append((f"{file.budgeted['adaptive'].staleness / best:.2f}" if best else "") + note)
        rows.append(cells)
    return aligned(rows)
