"""The scope of a crawl: regular expressions written by people, bounded in time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.text.patterns import PatternAllowance, PatternError, compiled


class ScopeError(ValueError):
    """An error raised for an expression that cannot be used, with the reason."""


class Scope:
    """The set of URLs that match any of the expressions; without expressions, all URLs. Raises ScopeError.

    Use one scope for one batch of URLs or one change: the total time of its expressions is bounded.
    """

    def __init__(self, expressions: Sequence[str]) -> None:
        try:
            self._patterns = [compiled(expression) for expression in expressions]
        except PatternError as error:
            raise ScopeError(f"the scope: {error}") from error
        self._allowance = PatternAllowance()

    def allows(self, url: str) -> bool:
        """Return whether one of the expressions matches somewhere in the URL."""
        return not self._patterns or self._allowance.any_found(self._patterns, url)
