"""Regular expressions that people write: checked when they are taken, bounded in time when they are used.

Pure. They are those of the PyPI package `regex`, which can be told to stop.
"""

from __future__ import annotations

from functools import lru_cache

import regex

LONGEST = 1000
SECONDS = 0.05
"""For one text: an expression that backtracks for longer does not match it."""


class PatternError(ValueError):
    """An expression that cannot be used, with the reason."""


@lru_cache(maxsize=1024)
def compiled(expression: str) -> regex.Pattern[str]:
    """The expression, ready for use. Raises PatternError."""
    if len(expression) > LONGEST:
        raise PatternError(f"an expression is longer than {LONGEST} characters")
    try:
        return regex.compile(expression)
    except regex.error as error:
        raise PatternError(f"{expression[:100]!r} is no regular expression: {error}") from error


def found_in(pattern: regex.Pattern[str], text: str) -> bool:
    """Whether it matches somewhere in the text, within its time."""
    try:
        return pattern.search(text, timeout=SECONDS) is not None
    except TimeoutError:
        return False
