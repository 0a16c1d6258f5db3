"""A bar for commands that take their time."""

from __future__ import annotations

import sys
from collections.abc import Callable

WIDTH = 40


def bar() -> Callable[[float], None] | None:
    """Draws the share that is done on a terminal's stderr; nothing elsewhere."""
    if not sys.stderr.isatty():
        return None

    def draw(share: float) -> None:
        full = round(WIDTH * share)
        end = "\r\033[K" if share >= 1 else ""
        sys.stderr.write(f"\r[{'#' * full}{'.' * (WIDTH - full)}] {share:4.0%}{end}")
        sys.stderr.flush()

    return draw
