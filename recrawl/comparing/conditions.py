"""The conditions under which a change of a page is reported. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from crawler.text.numbers import machine_number, number_in
from crawler.text.patterns import PatternAllowance, compiled
from recrawl.comparing.differences import Difference

ANY, ADDED, REMOVED = "any", "added", "removed"
"""The changes that are reported: all, only those with new lines, only those that lose lines."""
NO_NUMBER, ABOVE, BELOW, BY_PERCENT = "", "above", "below", "percent"
"""The rules for a page's number: none, above a bound, below it, changed by at least so many percent."""
# A line of data is "path: value"; digits in the path (items.3.price) are no numbers of the page.
_PATH = re.compile(r"^[^\s:]*: (?=[^:]*$)")


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions that a change has to meet, all of them.

    `triggers` are expressions, one of which has to match a changed line. `minimum_percent` is the share of
    the text that has to change. `number_rule` and `number` judge the page's price, or else the first number
    in its text. With `is_data` a program wrote the lines, in which 1.659 is no thousand.
    """

    triggers: tuple[str, ...] = ()
    direction: str = ANY
    minimum_percent: float = 0.0
    number_rule: str = NO_NUMBER
    number: float = 0.0
    is_data: bool = False
    _allowance: PatternAllowance = field(default_factory=PatternAllowance, compare=False, repr=False)

    def met(self, gain: Difference, old: Sequence[str], new: Sequence[str], prices: Prices) -> bool:
        """Return whether a difference between the counting lines of two versions is to be reported."""
        return (
            self._in_direction(old, new)
            and self._triggered(gain, old, new)
            and self._large(gain, old, new)
            and self._number_met(old, new, prices)
        )

    @property
    def accumulates(self) -> bool:
        """True if changes that are too small for these conditions add up until they are met."""
        return self.minimum_percent > 0 or self.number_rule == BY_PERCENT

    def _in_direction(self, old: Sequence[str], new: Sequence[str]) -> bool:
        return self.direction == ANY or bool(self._directed(old, new))

    def _directed(self, old: Sequence[str], new: Sequence[str]) -> Counter[str]:
        """Return the lines that came, or those that went. A line that changes its place does neither."""
        # Counted and not in order: a list that is sorted anew has no new lines.
        new_counts, old_counts = Counter(new), Counter(old)
        return new_counts - old_counts if self.direction == ADDED else old_counts - new_counts

    def _triggered(self, gain: Difference, old: Sequence[str], new: Sequence[str]) -> bool:
        if not self.triggers:
            return True
        is_any = self.direction == ANY
        lines = gain.lines_added + gain.lines_removed if is_any else list(self._directed(old, new))
        patterns = [compiled(pattern) for pattern in self.triggers]
        return any(self._allowance.any_found(patterns, line) for line in lines)

    def _large(self, gain: Difference, old: Sequence[str], new: Sequence[str]) -> bool:
        if self.minimum_percent <= 0:
            return True
        # Twice the longer text: a line that is replaced counts in `characters` once as old and once as new.
        size = max(sum(map(len, old)), sum(map(len, new)), 1)
        return 100 * gain.characters / (2 * size) >= self.minimum_percent

    def _number_met(self, old: Sequence[str], new: Sequence[str], prices: Prices) -> bool:
        if not self.number_rule:
            return True
        number = prices.new if prices.new is not None else first_number(new, is_data=self.is_data)
        if number is None:
            return False
        if self.number_rule == ABOVE:
            return number > self.number
        if self.number_rule == BELOW:
            return number < self.number
        before = prices.old if prices.old is not None else first_number(old, is_data=self.is_data)
        # A number that was not there before has changed by any percent.
        if before is None:
            return True
        # With a bound of 0 percent equal numbers would meet it.
        return abs(number - before) * 100 >= self.number * abs(before) and number != before


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices that two versions of a page state, if they do."""

    old: float | None = None
    new: float | None = None


def first_number(lines: Sequence[str], *, is_data: bool = False) -> float | None:
    """Return the first number in the lines, None without one. A line of data is a value behind its path."""
    read = _number_of_value if is_data else number_in
    return next((number for line in lines if (number := read(line)) is not None), None)


def _number_of_value(line: str) -> float | None:
    return machine_number(_PATH.sub("", line))
