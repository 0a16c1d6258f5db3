"""Two versions of a page by its site's rules. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.reading.lines import Rules
from recrawl.differences import Difference, difference


def compared(old: Sequence[str], new: Sequence[str], rules: Rules) -> tuple[Difference, bool]:
    """What changed from one to the other (marked lines), and whether it counts.

    Where nothing that counts has changed, what has is told all the same.
    """
    gain = difference(rules.counting(old), rules.counting(new))
    if gain.hunks and gain.characters >= rules.least:
        return gain, True
    return difference([line[1:] for line in old], [line[1:] for line in new]), False
