"""The comparison of recrawl methods as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.text.cells import aligned
from recrawl.replay.comparison import FileResult, MethodComparison
from recrawl.replay.one_shot import Table

FEW_CHANGES = 20
RIVALS = ("C", "history", "breadth-first")


def tables(done: MethodComparison) -> str:
    """One-shot by period and method, budgeted by method, then file by file; restless sites apart."""
    calm = [file for file in done.files if not file.restless]
    restless = [file for file in done.files if file.restless]
    parts = [f"{len(done.files)} histories, {sum(file.changes for file in done.files)} changes"]
    groups = [("all histories", list(done.files))]
    if calm and restless:
        groups += [
            ("sites whose deployments touch few pages", calm),
            ("sites whose deployments touch many", restless),
        ]
    for title, files in groups:
        parts += ["", f"One-shot, pooled: {title} ({len(files)})", _one_shot(done, done.pooled(files))]
    for title, files in groups:
        parts += ["", f"Budgeted, mean over files: {title} ({len(files)})", _budgeted(done, files)]
    parts += ["", "Budgeted, file by file: staleness / coverage", _by_file(done)]
    return "\n".join(parts)


def _one_shot(done: MethodComparison, pooled: Table) -> str:
    head = [
        "method",
        *(f"{period} w {what}" for period in pooled for what in ("fetched", "rate", "coverage")),
    ]
    rows = []
    for name in ("all", *done.methods):
        cells = [name]
        for row in pooled.values():
            figures = row[name].as_json()
            share = figures["fetched"] / row["all"].fetched if row["all"].fetched else 0.0
            cells += [f"{share:.1%}", f"{figures['rate']:.1%}", f"{figures['coverage']:.1%}"]
        rows.append(cells)
    return aligned([head, *rows])


def _budgeted(done: MethodComparison, files: Sequence[FileResult]) -> str:
    rows = [["method", "spent", "staleness", "coverage", "rate", "delay weeks"]]
    for name, mean in done.mean(files).items():
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


def _by_file(done: MethodComparison) -> str:
    rivals = [name for name in RIVALS if name in done.methods]
    against = "adaptive" in done.methods and bool(rivals)
    head = ["history", "pages", "changes", "budget", *done.methods]
    rows = [head + (["adaptive / best of " + ", ".join(rivals)] if against else [])]
    for file in done.files:
        cells = [file.name.removesuffix(".gz").removesuffix(".jsonl"), str(file.pages), str(file.changes)]
        cells.append(f"{file.budget:.1%}")
        for name in done.methods:
            result = file.budgeted[name]
            cells.append(f"{result.staleness:.1%} / {result.coverage:.0%}")
        if against:
            best = min(file.budgeted[name].staleness for name in rivals)
            few = " (few changes)" if file.changes < FEW_CHANGES else ""
            cells.append((f"{file.budgeted['adaptive'].staleness / best:.2f}" if best else "") + few)
        rows.append(cells)
    return aligned(rows)
