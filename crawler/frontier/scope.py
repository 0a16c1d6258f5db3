"""Which URLs belong to a crawl: regular expressions that people write, bounded in time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.text.patterns import PatternAllowance, PatternError, compiled


class ScopeError(ValueError):
    """An expression that cannot be used, with the reason."""


class Scope:
    """URLs that match any of the expressions; all, when there are none. Raises ScopeError.

    One scope serves one batch of URLs or one change: the time of its expressions is bounded over all of them.
    """

    def __init__(self, expressions: Sequence[str]) -> None:
        try:
            self._patterns = [compiled(expression) for expression in expressions]
        except PatternError as error:
            raise ScopeError(f"the scope: {error}") from error
        self._allowance = PatternAllowance()

    def allows(self, url: str) -> bool:
        """Whether one of them matches somewhere in the URL."""
        return not self._patterns or self._allowance.any_found(self._patterns, url)
