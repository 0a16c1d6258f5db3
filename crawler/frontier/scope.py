"""The scope of a crawl: hosts, or regular expressions written by people, bounded in time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crawler.fetching.http.domains import host_of
from crawler.text.patterns import PatternAllowance, PatternError, compiled


class ScopeError(ValueError):
    """An error raised for an expression that cannot be used, with the reason."""


class Scope:
    """The URLs that a crawl may fetch. Raises ScopeError for an expression that cannot be used.

    They are those that match one of `expressions`; without expressions, those of `hosts`, where a leading
    "www." makes no difference; without either, all. Use one scope for one batch of URLs or one change: the
    total time of its expressions is bounded.
    """

    def __init__(self, expressions: Sequence[str], hosts: Iterable[str] = ()) -> None:
        try:
            self._patterns = [compiled(expression) for expression in expressions]
        except PatternError as error:
            raise ScopeError(f"the scope: {error}") from error
        # Sites move between the two spellings, and redirects lead from one to the other.
        self._hosts = {host.removeprefix("www.") for host in hosts}
        self._allowance = PatternAllowance()

    def allows(self, url: str) -> bool:
        """Return whether a canonical URL lies in the scope."""
        if self._patterns:
            return self._allowance.any_found(self._patterns, url)
        return not self._hosts or host_of(url).removeprefix("www.") in self._hosts
