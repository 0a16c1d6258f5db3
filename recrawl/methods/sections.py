"""Pages that are counted together: those of a directory, or, where directories are small, of the one above.

Many sites give every article a directory of its own, and what is seen of one page would tell of no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from recrawl.structure import parent_directory

FEWEST = 8
"""A directory of fewer pages is part of the section above."""


def sections(names: Iterable[str]) -> dict[str, str]:
    """Of every directory the one that its section is named after. `names` has one for each page, cut by
    `structure.shallow`: every directory above them is looked at.

    Bottom up: a directory that holds fewer than FEWEST pages, with the small ones below, joins the one above.
    """
    pages = Counter(names)
    known = list(pages)
    above: dict[str, str] = {}
    for name in sorted(_with_parents(known), key=lambda name: (-name.count("/"), name)):
        if pages[name] < FEWEST and name.strip("/"):
            above[name] = parent_directory(name)
            pages[above[name]] += pages[name]
    return {name: _end(above, name) for name in known}


def _with_parents(names: Iterable[str]) -> set[str]:
    waiting = list(names)
    found = set(waiting)
    while waiting:
        above = parent_directory(waiting.pop())
        if above.strip("/") and above not in found:
            found.add(above)
            waiting.append(above)
    return found


def _end(above: dict[str, str], name: str) -> str:
    while name in above:
        name = above[name]
    return name
