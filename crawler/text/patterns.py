"""Regular expressions written by users: checked when they are entered, bounded in time when they are used.

Pure. They are those of the PyPI package `regex`, which can be told to stop.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache

import regex

LONGEST = 1000
MOST = 100
"""Expressions of one list: a scope, or what does not count in a site."""
SECONDS = 0.05
"""For one text: an expression that backtracks for longer does not match it."""
SECONDS_TOGETHER = 0.5
"""Of processor time for all expressions and texts of one piece of work, beside what follows for each search:
plain ones need less than that and are never stopped, however large the page."""
SECONDS_A_SEARCH, SECONDS_A_CHARACTER = 10e-6, 20e-9
MIN_SECONDS = 1e-3


class PatternError(ValueError):
    """An error about an invalid expression, with the reason."""


@lru_cache(maxsize=1024)
def compiled(expression: str, longest: int = LONGEST) -> regex.Pattern[str]:
    """Compile an expression. Raises PatternError."""
    if len(expression) > longest:
        raise PatternError(f"an expression is longer than {longest} characters")
    try:
        return regex.compile(expression)
    except (regex.error, OverflowError) as error:
        raise PatternError(f"{expression[:100]!a} is no regular expression: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise PatternError(f"{expression[:100]!a} is nested too deeply") from error


class PatternAllowance:
    """The time that expressions may take together over one piece of work: a page's lines, a batch's URLs.

    All searches of one allowance take at most about SECONDS_TOGETHER beyond what plain expressions need. Once
    that is used up, an expression that is slow again matches nothing for the rest of the work.
    """

    def __init__(self, seconds: float = SECONDS_TOGETHER) -> None:
        self._limit = self._left = seconds
        self._spent: dict[regex.Pattern[str], float] = {}
        self._left_out: set[regex.Pattern[str]] = set()

    def found_in(self, pattern: regex.Pattern[str], text: str) -> bool:
        """Return whether the pattern matches somewhere in the text, within its time."""
        if pattern in self._left_out:
            return False
        began = time.thread_time()
        try:
            matches = pattern.search(text, timeout=min(SECONDS, max(self._left, MIN_SECONDS))) is not None
        except TimeoutError:
            matches = False
            if self._left <= 0:
                self._left_out.add(pattern)
        spent = time.thread_time() - began - SECONDS_A_SEARCH - SECONDS_A_CHARACTER * len(text)
        self._left = min(self._left - spent, self._limit)
        self._spent[pattern] = self._spent.get(pattern, 0.0) + spent
        if self._left < -self._limit:  # none was slow enough to be stopped: the one that took most goes
            slowest = max(self._spent.keys() - self._left_out, key=self._spent.__getitem__, default=pattern)
            self._left_out.add(slowest)
        return matches

    def any_found(self, patterns: Iterable[regex.Pattern[str]], text: str) -> bool:
        """Return whether one of the patterns matches somewhere in the text."""
        return any(self.found_in(pattern, text) for pattern in patterns)


def found_in(pattern: regex.Pattern[str], text: str) -> bool:
    """Return whether a single expression matches somewhere in a single text, within its time."""
    return PatternAllowance(SECONDS).found_in(pattern, text)
