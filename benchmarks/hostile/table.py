"""The outcome of a run as Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.hostile.kind import Cell
from benchmarks.hostile.kinds import KINDS
from benchmarks.hostile.poisons import POISONS


def as_markdown(faults: Mapping[Cell, Sequence[str]], whole: Sequence[str], figures: Sequence[str]) -> str:
    """A row for each poison, a column for each kind; then what is red, in words."""
    kinds = [kind for kind in KINDS if any(cell.kind is kind for cell in faults)]
    poisons = [poison for poison in POISONS if any(cell.poison is poison for cell in faults)]
    by_name = {(cell.kind.name, cell.poison.name): found for cell, found in faults.items()}
    lines = [
        "| poison | " + " | ".join(kind.name for kind in kinds) + " |",
        "|---|" + "---|" * len(kinds),
    ]
    for poison in poisons:
        marks = (_mark(by_name.get((kind.name, poison.name))) for kind in kinds)
        lines.append(f"| {poison.name} | " + " | ".join(marks) + " |")
    lines += ["", *figures]
    if reasons := list(_reasons(faults, whole)):
        lines += ["", "Red:", "", *reasons]
    return "\n".join(lines)


def as_json(faults: Mapping[Cell, Sequence[str]], whole: Sequence[str]) -> dict[str, Any]:
    """The same for programs."""
    cells = [
        {"kind": cell.kind.name, "poison": cell.poison.name, "ok": not found, "faults": list(found)}
        for cell, found in faults.items()
    ]
    return {"ok": not whole and all(cell["ok"] for cell in cells), "whole": list(whole), "cells": cells}


def _mark(found: Sequence[str] | None) -> str:
    if found is None:
        return "–"
    return "**red**" if found else "ok"


def _reasons(faults: Mapping[Cell, Sequence[str]], whole: Sequence[str]) -> Iterator[str]:
    for words in whole:
        yield f"- everything: {words}"
    for cell, found in faults.items():
        if found:
            yield f"- {cell.kind.name}, {cell.poison.name}: {'; '.join(found)}"
