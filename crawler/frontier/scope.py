"""Which URLs belong to a crawl: regular expressions that people write, bounded in time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import regex

LONGEST = 1000
SECONDS = 0.05
"""For one URL: an expression that backtracks for longer lets it not match."""


class ScopeError(ValueError):
    """An expression that cannot be used, with the reason."""


class Scope:
    """URLs that match any of the expressions; all, when there are none. Raises ScopeError."""

    def __init__(self, expressions: Sequence[str]) -> None:
        self._patterns = [_compiled(expression) for expression in expressions]

    def allows(self, url: str) -> bool:
        """Whether one of them matches somewhere in the URL."""
        return not self._patterns or any(_matches(pattern, url) for pattern in self._patterns)


def _matches(pattern: regex.Pattern[str], url: str) -> bool:
    try:
        return pattern.search(url, timeout=SECONDS) is not None
    except TimeoutError:
        return False


@lru_cache(maxsize=256)
def _compiled(expression: str) -> regex.Pattern[str]:
    if len(expression) > LONGEST:
        raise ScopeError(f"a scope is longer than {LONGEST} characters")
    try:
        return regex.compile(expression)
    except regex.error as error:
        raise ScopeError(f"{expression[:100]!r} is no regular expression: {error}") from error
