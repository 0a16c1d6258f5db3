"""What commands that take their time show on a terminal's stderr; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable

WIDTH = 40


def bar() -> Callable[[float], None] | None:
    """Draws the share that is done."""
    if not sys.stderr.isatty():
        return None

    def draw(share: float) -> None:
        full = round(WIDTH * share)
        write_line("" if share >= 1 else f"[{'#' * full}{'.' * (WIDTH - full)}] {share:4.0%}")

    return draw


def write_line(text: str) -> None:
    """Write it in the place of the line before."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def end_line() -> None:
    """Leave what is written there, and go on below it."""
    if sys.stderr.isatty():
        sys.stderr.write("\n")
