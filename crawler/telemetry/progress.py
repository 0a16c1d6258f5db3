"""Progress of long commands, shown on a terminal's stderr and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable

WIDTH = 40


def bar() -> Callable[[float], None] | None:
    """Return a function that draws the completed share. Returns None when stderr is no terminal."""
    if not sys.stderr.isatty():
        return None

    def draw(share: float) -> None:
        full = round(WIDTH * share)
        write_line("" if share >= 1 else f"[{'#' * full}{'.' * (WIDTH - full)}] {share:4.0%}")

    return draw


def write_line(text: str) -> None:
    """Replace the current line of the terminal with the text."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def end_line() -> None:
    """Keep the current line, and continue below it."""
    if sys.stderr.isatty():
        sys.stderr.write("\n")
